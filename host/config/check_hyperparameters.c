/* check_hyperparameters.c - options of two trainings, matched by name, alias or likeness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/config_check.h"
#include "io/base/error.h"
#include "io/base/name_table.h"
#include "io/text/pytext.h"
#include "io/text/similarity.h"

/* Every parameter may be likened to every other. */
#define PARAMETER_LIMIT 4096u
#define ALIKE           0.8

struct parameter {
    const char *refined; /* last part of the name, with _ for - */
    struct tdc_json *value;
    bool used; /* matched */
};

struct parameters {
    struct parameter *all; /* one a refined name, in the order they first came */
    size_t count;
    struct tdc_name_table names;
    const struct tdc_json *object;
};

/* The first name of a line is the one that is looked for first. */
static const char *const aliases[][4] = {
    {"learning_rate", "lr", "learningrate", NULL},
    {"batch_size", "batch", "bs", "batch_size_per_gpu"},
    {"epochs", "num_epochs", "max_epochs", "epoch"},
    {"weight_decay", "wd", "weightdecay", NULL},
    {"dropout_rate", "dropout", "drop_rate", NULL},
    {"compute_dtype", "bf16", "fp32", NULL},
    {"residual_dtype", "fp32_residual_connection", NULL, NULL},
    {"softmax_compute_dtype", "attention_softmax_in_fp32", NULL, NULL},
};

static const char *refine(struct tdc_arena *arena, const struct tdc_json *member)
{
    const char *dot = strrchr(member->key, '.');
    const char *last = dot != NULL ? dot + 1 : member->key;
    char *name = tdc_arena_text(arena, last, strlen(last));
    for (char *at = name; at != NULL && *at != '\0'; at++)
        *at = *at == '-' ? '_' : *at;
    return name;
}

/* Of parameters with the same refined name the last one stays. */
static tdc_status collect(struct tdc_config_work *work, struct tdc_json *object,
                          struct parameters *parameters, const char *path)
{
    parameters->object = object;
    if (object->children > PARAMETER_LIMIT)
        return tdc_fail(work->error, TDC_ERR_REFUSED, "%s: more than %u hyperparameters", path,
                        PARAMETER_LIMIT);
    parameters->all = tdc_arena_zeroed(&work->arena, object->children, sizeof *parameters->all);
    if (parameters->all == NULL)
        return tdc_config_memory(work);
    for (struct tdc_json *member = object->child; member != NULL; member = member->next) {
        const char *refined = refine(&work->arena, member);
        bool fresh;
        uint32_t number = refined != NULL
                              ? tdc_names_put(&parameters->names, refined, strlen(refined), &fresh)
                              : TDC_NAME_NONE;
        if (number == TDC_NAME_NONE)
            return tdc_config_memory(work);
        parameters->count += fresh;
        parameters->all[number] = (struct parameter){.refined = refined, .value = member};
    }
    return TDC_OK;
}

static struct parameter *find_free(struct parameters *parameters, const char *name)
{
    uint32_t number = tdc_names_find(&parameters->names, name, strlen(name));
    if (number == TDC_NAME_NONE || parameters->all[number].used)
        return NULL;
    return &parameters->all[number];
}

static struct parameter *find_alias(struct tdc_config_work *work, struct parameters *available,
                                    const char *name)
{
    for (size_t line = 0; line < sizeof aliases / sizeof *aliases; line++) {
        bool here = false;
        for (size_t i = 0; i < 4 && aliases[line][i] != NULL; i++)
            here |= strcmp(aliases[line][i], name) == 0;
        for (size_t i = 0; here && i < 4 && aliases[line][i] != NULL; i++) {
            struct parameter *found = find_free(available, aliases[line][i]);
            if (found == NULL)
                continue;
            if (i > 0)
                tdc_config_say(work, "Matched '%s' to alias '%s' via canonical name '%s'", name,
                               aliases[line][i], aliases[line][0]);
            return found;
        }
        if (here)
            return NULL;
    }
    return NULL;
}

static struct parameter *find_alike(struct parameters *available, const char *name, double *ratio)
{
    struct parameter *best = NULL;
    size_t length = strlen(name);
    *ratio = ALIKE;
    for (size_t i = 0; i < available->count; i++) {
        struct parameter *one = &available->all[i];
        size_t other = strlen(one->refined);
        /* bytes bound characters: no more than the shorter text can be found in both */
        size_t shorter = other < length ? other : length;
        if (one->used || 2.0 * (double)shorter * 4 <= *ratio * (double)(length + other))
            continue;
        double found = tdc_similarity(name, length, one->refined, other, true);
        if (found > *ratio) {
            *ratio = found;
            best = one;
        }
    }
    return best;
}

/*
 * The partner of a parameter and, as a text, how it was found. msprobe gives a parameter to several
 * and then fails; here the first takes it.
 */
static struct parameter *find_partner(struct tdc_config_work *work, struct parameters *available,
                                      const char *name, const char **how)
{
    *how = "pure name";
    struct parameter *found = find_free(available, name);
    if (found != NULL)
        return found;
    *how = "mapping";
    found = find_alias(work, available, name);
    if (found != NULL)
        return found;
    double ratio;
    found = find_alike(available, name, &ratio);
    if (found == NULL)
        return NULL;
    char text[sizeof "similarity:" + TDC_FLOAT_TEXT] = "similarity:";
    tdc_float_repr(ratio, text + strlen(text));
    *how = tdc_arena_text(&work->arena, text, strlen(text));
    tdc_config_say(work, "Fuzzy matched parameter '%s' to '%s' (similarity: %.2f)", name,
                   found->refined, ratio);
    return *how != NULL ? found : NULL;
}

/* Numbers and truths are compared, and shown, as texts. */
static const struct tdc_json *as_text(struct tdc_config_work *work, const struct tdc_json *value)
{
    if (value->kind == TDC_JSON_STRING || value->kind == TDC_JSON_NULL ||
        value->kind == TDC_JSON_LIST || value->kind == TDC_JSON_OBJECT)
        return value;
    struct tdc_text text;
    tdc_text_init(&text, 1 << 20);
    tdc_pytext_str(&text, value);
    struct tdc_json *copy = tdc_arena_zeroed(&work->arena, 1, sizeof *copy);
    if (copy != NULL)
        *copy = (struct tdc_json){
            .kind = TDC_JSON_STRING,
            .text = tdc_arena_text(&work->arena, tdc_text_get(&text), text.length),
            .length = text.length};
    tdc_text_free(&text);
    return copy != NULL && copy->text != NULL ? copy : value;
}

struct difference {
    const char *bench, *cmp; /* names */
    const struct tdc_json *bench_value, *cmp_value;
    const char *how;
    tdc_config_level level;
};

static bool add(struct tdc_config_work *work, struct tdc_config_sheet *sheet, const char *file,
                const struct difference *difference)
{
    struct tdc_cell *row = tdc_config_row(work, sheet, difference->level);
    if (row == NULL)
        return false;
    row[0] = tdc_config_text(file);
    row[1] = tdc_config_text(difference->bench);
    row[2] = tdc_config_text(difference->cmp);
    row[3] = tdc_config_value(work, difference->bench_value);
    row[4] = tdc_config_value(work, difference->cmp_value);
    row[5] = tdc_config_text(difference->how);
    row[6] = tdc_config_text(difference->level == TDC_CONFIG_ERROR ? "error" : "warning");
    return true;
}

static bool compare_parameters(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                               const char *file, struct parameters *bench, struct parameters *cmp)
{
    bool good = true;
    for (size_t i = 0; i < bench->count && good; i++) {
        const struct parameter *one = &bench->all[i];
        const char *how;
        struct parameter *other = find_partner(work, cmp, one->refined, &how);
        struct difference found = {.bench = one->value->key,
                                   .cmp = "Only in benchmark",
                                   .bench_value = as_text(work, one->value),
                                   .how = "",
                                   .level = TDC_CONFIG_WARNING};
        if (other != NULL) {
            other->used = true;
            found.cmp = other->value->key;
            found.cmp_value = as_text(work, other->value);
            found.how = how;
            found.level = TDC_CONFIG_ERROR;
        }
        if (other == NULL || !tdc_config_equal(found.bench_value, found.cmp_value))
            good = add(work, sheet, file, &found);
    }
    return good;
}

static bool add_rest(struct tdc_config_work *work, struct tdc_config_sheet *sheet, const char *file,
                     const struct parameters *cmp)
{
    bool good = true;
    for (const struct tdc_json *member = cmp->object->child; member != NULL && good;
         member = member->next) {
        bool used = false;
        for (size_t i = 0; i < cmp->count && !used; i++)
            used = cmp->all[i].value == member && cmp->all[i].used;
        struct difference found = {.bench = "Only in comparison",
                                   .cmp = member->key,
                                   .cmp_value = member,
                                   .how = "",
                                   .level = TDC_CONFIG_WARNING};
        if (!used)
            good = add(work, sheet, file, &found);
    }
    return good;
}

static int by_names(const void *a, const void *b)
{
    const struct tdc_cell *x = a, *y = b;
    int order = strcmp(x[1].text, y[1].text);
    return order != 0 ? order : strcmp(x[2].text, y[2].text);
}

static tdc_status compare_file(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                               const char *file)
{
    char member[128];
    snprintf(member, sizeof member, "hyperparameters/%s", file);
    if (tdc_unzip_find(&work->bench, member) == NULL || tdc_unzip_find(&work->cmp, member) == NULL)
        return TDC_OK;
    struct tdc_json *one, *two;
    tdc_status status = tdc_config_json(work, &work->bench, member, &one);
    if (status == TDC_OK)
        status = tdc_config_json(work, &work->cmp, member, &two);
    if (status != TDC_OK)
        return status;
    struct parameters bench = {0}, cmp = {0};
    tdc_names_init(&bench.names);
    tdc_names_init(&cmp.names);
    size_t before = sheet->rows;
    status = collect(work, one, &bench, work->bench.path);
    if (status == TDC_OK)
        status = collect(work, two, &cmp, work->cmp.path);
    if (status == TDC_OK && (!compare_parameters(work, sheet, file, &bench, &cmp) ||
                             !add_rest(work, sheet, file, &cmp)))
        status = TDC_ERR_MEMORY;
    if (status == TDC_OK && bench.count < one->children)
        tdc_config_say(work,
                       "%zu parameters of the bench share the last part of their names with "
                       "another and were not compared",
                       one->children - bench.count);
    if (status == TDC_OK && sheet->rows > before)
        qsort(&sheet->cells[before * sheet->column_count], sheet->rows - before,
              sheet->column_count * sizeof *sheet->cells, by_names);
    tdc_names_free(&bench.names);
    tdc_names_free(&cmp.names);
    return status;
}

tdc_status tdc_config_check_hyperparameters(struct tdc_config_work *work,
                                            struct tdc_config_sheet *sheet)
{
    tdc_status status = compare_file(work, sheet, "hyperparameters_static.json");
    return status == TDC_OK ? compare_file(work, sheet, "hyperparameters_dynamic.json") : status;
}
