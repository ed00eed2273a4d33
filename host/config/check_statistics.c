/* check_statistics.c - weights and data of each step and rank, by their four statistics. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/config_check.h"
#include "io/base/error.h"
#include "io/base/name_table.h"

static const char *const keys[4] = {"max", "min", "mean", "norm"};

/* A file of one step and rank: weights/step0/rank1/weight.json */
struct place {
    const char *member;
    long step, rank;
};

/* "step12" or "12", as int(text.replace(word, "")) takes it, without signs and blanks. */
static bool take_number(const char *text, size_t length, const char *word, long *number)
{
    size_t skipped = strlen(word);
    if (length > skipped && memcmp(text, word, skipped) == 0) {
        text += skipped;
        length -= skipped;
    }
    if (length == 0 || length > 9 || strspn(text, "0123456789") < length)
        return false;
    *number = 0;
    for (size_t i = 0; i < length; i++)
        *number = *number * 10 + (text[i] - '0');
    return true;
}

static int by_step_and_rank(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->member, y->member);
}

/* FOLDER/step/rank/.../FILE of a pack; only files of that name, or every .json where it is NULL. */
static tdc_status find_places(struct tdc_config_work *work, const struct tdc_unzip *zip,
                              const char *folder, const char *file, struct place **places,
                              size_t *count)
{
    *count = 0;
    *places = tdc_arena_zeroed(&work->arena, zip->count, sizeof **places);
    if (*places == NULL)
        return tdc_config_memory(work);
    size_t start = strlen(folder);
    for (size_t i = 0; i < zip->count; i++) {
        const char *name = zip->members[i].name;
        size_t length = strlen(name);
        const char *last = strrchr(name, '/');
        if (strncmp(name, folder, start) != 0 || last[1] == '\0' ||
            tdc_unzip_find(zip, name) != &zip->members[i])
            continue;
        if (file != NULL ? strcmp(last + 1, file) != 0
                         : length < 5 || strcmp(name + length - 5, ".json") != 0)
            continue;
        struct place place = {.member = name};
        const char *step = name + start, *slash = strchr(step, '/');
        const char *rank = slash != NULL ? slash + 1 : last;
        const char *end = strchr(rank, '/');
        if (slash == NULL || end == NULL)
            return tdc_fail(work->error, TDC_ERR_FORMAT,
                            "Can not compare %.*s because the extracted file has been corrupted!",
                            (int)start - 1, folder);
        if (!take_number(step, (size_t)(slash - step), "step", &place.step) ||
            !take_number(rank, (size_t)(end - rank), "rank", &place.rank))
            return tdc_fail(work->error, TDC_ERR_FORMAT, "%s: %s: no step and rank", zip->path,
                            name);
        if (file == NULL || end == last) /* data lies right below its rank */
            (*places)[(*count)++] = place;
    }
    qsort(*places, *count, sizeof **places, by_step_and_rank);
    return TDC_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double number_of(const struct tdc_json *value)
{
    return value != NULL && (value->kind == TDC_JSON_INTEGER || value->kind == TDC_JSON_FLOAT)
               ? value->number
               : (double)NAN;
}

static struct tdc_cell *add(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                            const struct place *place, const char *name, tdc_config_level level)
{
    struct tdc_cell *row = tdc_config_row(work, sheet, level);
    if (row == NULL)
        return NULL;
    row[0] = tdc_config_number((double)place->step);
    row[1] = tdc_config_number((double)place->rank);
    row[2] = tdc_config_text(name);
    return row;
}

static bool add_word(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                     const struct place *place, const char *name, const char *word)
{
    /* msprobe does not count them */
    tdc_config_level level =
        (work->options->flags & TDC_CONFIG_COMPLETE) != 0 ? TDC_CONFIG_WARNING : TDC_CONFIG_PASS;
    struct tdc_cell *row = add(work, sheet, place, name, level);
    if (row != NULL)
        row[3] = tdc_config_text(word);
    return row != NULL;
}

static bool add_absent(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                       const struct place *place, const char *name)
{
    struct tdc_cell *row = add(work, sheet, place, name, TDC_CONFIG_ERROR);
    if (row != NULL)
        row[3] = tdc_config_truth(false);
    return row != NULL;
}

/* |bench - cmp| / bench, blank for a bench of 0. */
static bool add_statistics(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                           const struct place *place, const char *name, bool equal,
                           const struct tdc_json *bench, const struct tdc_json *cmp)
{
    struct tdc_cell *row =
        add(work, sheet, place, name, equal ? TDC_CONFIG_PASS : TDC_CONFIG_ERROR);
    if (row == NULL)
        return false;
    row[3] = tdc_config_truth(equal);
    for (int k = 0; k < 4; k++) {
        double b = number_of(tdc_json_get(bench, keys[k]));
        double c = number_of(tdc_json_get(cmp, keys[k]));
        if (b != 0)
            row[4 + k] = tdc_config_number(fabs(b - c) / b);
    }
    return true;
}

/* ---- weights --------------------------------------------------------------------------------- */

static bool compare_weights(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                            const struct place *place, const struct tdc_json *bench,
                            const struct tdc_json *cmp)
{
    struct tdc_name_table names;
    tdc_names_init(&names);
    bool good = true;
    const struct tdc_json *guess = cmp->child;
    for (const struct tdc_json *one = bench->child; one != NULL && good; one = one->next) {
        bool fresh;
        good = tdc_names_put(&names, one->key, strlen(one->key), &fresh) != TDC_NAME_NONE;
        /* mostly in the same order */
        const struct tdc_json *other = guess != NULL && strcmp(guess->key, one->key) == 0
                                           ? guess
                                           : tdc_json_get(cmp, one->key);
        if (!good || other == NULL) {
            good = good && add_word(work, sheet, place, one->key, "only bench have");
            continue;
        }
        guess = other->next;
        bool equal = true;
        for (int k = 0; k < 4; k++)
            equal &= tdc_config_equal(tdc_json_get(one, keys[k]), tdc_json_get(other, keys[k]));
        good = add_statistics(work, sheet, place, one->key, equal, one, other);
    }
    for (const struct tdc_json *one = cmp->child; one != NULL && good; one = one->next)
        if (tdc_names_find(&names, one->key, strlen(one->key)) == TDC_NAME_NONE)
            good = add_word(work, sheet, place, one->key, "only cmp have");
    tdc_names_free(&names);
    return good;
}

static tdc_status lonely_weights(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                                 const struct tdc_unzip *zip, const struct place *place,
                                 const char *word)
{
    struct tdc_json *weights;
    tdc_status status = tdc_config_json(work, zip, place->member, &weights);
    for (const struct tdc_json *one = status == TDC_OK ? weights->child : NULL;
         one != NULL && status == TDC_OK; one = one->next)
        if (!add_word(work, sheet, place, one->key, word))
            status = TDC_ERR_MEMORY;
    return status;
}

tdc_status tdc_config_check_weights(struct tdc_config_work *work, struct tdc_config_sheet *sheet)
{
    struct place *places;
    size_t count;
    tdc_status status = find_places(work, &work->bench, "weights/", NULL, &places, &count);
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        struct tdc_json *bench, *cmp;
        if (tdc_unzip_find(&work->cmp, places[i].member) == NULL) {
            status = lonely_weights(work, sheet, &work->bench, &places[i], "only bench have");
            continue;
        }
        status = tdc_config_json(work, &work->bench, places[i].member, &bench);
        if (status == TDC_OK)
            status = tdc_config_json(work, &work->cmp, places[i].member, &cmp);
        if (status == TDC_OK && !compare_weights(work, sheet, &places[i], bench, cmp))
            status = tdc_config_memory(work);
    }
    /* msprobe does not look for files that only the second pack has */
    if (status == TDC_OK && (work->options->flags & TDC_CONFIG_COMPLETE) != 0)
        status = find_places(work, &work->cmp, "weights/", NULL, &places, &count);
    for (size_t i = 0;
         (work->options->flags & TDC_CONFIG_COMPLETE) != 0 && i < count && status == TDC_OK; i++)
        if (tdc_unzip_find(&work->bench, places[i].member) == NULL)
            status = lonely_weights(work, sheet, &work->cmp, &places[i], "only cmp have");
    return status;
}

/* ---- data ------------------------------------------------------------------------------------ */

static bool is_statistics(const struct tdc_json *value)
{
    bool all = value->children == 4;
    for (int k = 0; k < 4 && all; k++)
        all = tdc_json_get(value, keys[k]) != NULL;
    return all;
}

static const char *join(struct tdc_arena *arena, const char *tag, const char *key)
{
    size_t before = strlen(tag), length = strlen(key);
    char *joined = tdc_arena_take(arena, before + length + 2);
    if (joined == NULL || before == 0)
        return joined != NULL ? memcpy(joined, key, length + 1) : NULL;
    memcpy(joined, tag, before);
    joined[before] = '.';
    memcpy(joined + before + 1, key, length + 1);
    return joined;
}

/* Nesting is bounded by the reader. */
static bool compare_data(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                         const struct place *place, const struct tdc_json *bench,
                         const struct tdc_json *cmp, const char *tag)
{
    bool good = true;
    for (const struct tdc_json *one = bench->child; one != NULL && good; one = one->next) {
        const char *name = join(&work->arena, tag, one->key);
        const struct tdc_json *other = tdc_json_get(cmp, one->key);
        if (name == NULL)
            return false;
        if (other == NULL)
            good = add_absent(work, sheet, place, name);
        else if (one->kind != TDC_JSON_OBJECT)
            continue;
        else if (is_statistics(one))
            good =
                add_statistics(work, sheet, place, name, tdc_config_equal(one, other), one, other);
        else
            good = compare_data(work, sheet, place, one, other, name);
    }
    if (cmp->kind != TDC_JSON_OBJECT)
        return good;
    for (const struct tdc_json *one = cmp->child; one != NULL && good; one = one->next) {
        const char *name = join(&work->arena, tag, one->key);
        if (tdc_json_get(bench, one->key) == NULL)
            good = name != NULL && add_absent(work, sheet, place, name);
    }
    return good;
}

tdc_status tdc_config_check_dataset(struct tdc_config_work *work, struct tdc_config_sheet *sheet)
{
    struct place *places;
    size_t count;
    tdc_status status =
        find_places(work, &work->bench, "dataset/", "dataset.json", &places, &count);
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        struct tdc_json *bench, *cmp;
        if (tdc_unzip_find(&work->cmp, places[i].member) == NULL) {
            tdc_config_say(work, "%s is missing in the second pack", places[i].member);
            continue;
        }
        status = tdc_config_json(work, &work->bench, places[i].member, &bench);
        if (status == TDC_OK)
            status = tdc_config_json(work, &work->cmp, places[i].member, &cmp);
        if (status == TDC_OK && !compare_data(work, sheet, &places[i], bench, cmp, ""))
            status = tdc_config_memory(work);
    }
    return status;
}
