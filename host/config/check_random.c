/* check_random.c - calls of random generators: how often, and from where. */
#include <stdlib.h>
#include <string.h>

#include "host/config/config_check.h"
#include "io/base/error.h"
#include "io/text/similarity.h"

#define ALIKE 0.8

struct file {
    const char *member;
    long rank;
};

struct files {
    struct file *all;
    size_t count;
};

static int by_rank(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* random/rank0.json, ... of a pack */
static tdc_status find_files(struct tdc_config_work *work, const struct tdc_unzip *zip,
                             struct files *files)
{
    static const char folder[] = "random/rank";
    files->all = tdc_arena_zeroed(&work->arena, zip->count, sizeof *files->all);
    if (files->all == NULL)
        return tdc_config_memory(work);
    for (size_t i = 0; i < zip->count; i++) {
        const char *name = zip->members[i].name;
        size_t length = strlen(name);
        if (strncmp(name, folder, sizeof folder - 1) != 0 || length < 5 ||
            strcmp(name + length - 5, ".json") != 0 || strchr(name + 7, '/') != NULL ||
            tdc_unzip_find(zip, name) != &zip->members[i])
            continue;
        const char *digits = name + sizeof folder - 1;
        size_t count = strspn(digits, "0123456789");
        if (count == 0 || count > 9 || digits[count] != '.')
            return tdc_fail(work->error, TDC_ERR_FORMAT, "extract rank id from %s failed",
                            name + 7);
        files->all[files->count++] = (struct file){name, strtol(digits, NULL, 10)};
    }
    qsort(files->all, files->count, sizeof *files->all, by_rank);
    return TDC_OK;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

struct piece {
    const char *text;
    size_t length;
};

/* "File {path}, line {n}, in {function}, {code}", parted by blanks. */
struct frame {
    struct piece path, function, code;
};

static struct frame parse_frame(const struct tdc_json *text)
{
    struct frame frame = {{"", 0}, {"", 0}, {"", 0}};
    struct piece words[6];
    const char *at = text->text, *end = text->text + text->length;
    for (int i = 0; i < 6; i++) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        if (blank == NULL)
            return frame;
        words[i] = (struct piece){at, (size_t)(blank - at)};
        at = blank + 1;
    }
    frame.path = words[1];
    frame.function = words[5];
    frame.path.length -= frame.path.length != 0; /* the comma */
    frame.function.length -= frame.function.length != 0;
    frame.code = (struct piece){at, (size_t)(end - at)};
    return frame;
}

static bool same(struct piece a, struct piece b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static struct piece file_name(struct piece path)
{
    const char *slash = memrchr(path.text, '/', path.length);
    if (slash == NULL)
        return path;
    return (struct piece){slash + 1, path.length - (size_t)(slash + 1 - path.text)};
}

static bool frames_match(const struct tdc_json *a, const struct tdc_json *b)
{
    if (a->kind != TDC_JSON_STRING || b->kind != TDC_JSON_STRING)
        return tdc_config_equal(a, b);
    struct frame x = parse_frame(a), y = parse_frame(b);
    double path =
        x.path.length != 0 && y.path.length != 0 && same(file_name(x.path), file_name(y.path)) ? 1
                                                                                               : 0;
    double function = same(x.function, y.function) ? 1 : 0;
    double code = same(x.code, y.code) ? 1
                                       : tdc_similarity(x.code.text, x.code.length, y.code.text,
                                                        y.code.length, false);
    return (path + function + code) / 3.0 >= ALIKE;
}

static bool stacks_match(const struct tdc_json *a, const struct tdc_json *b)
{
    if (a == NULL || b == NULL || a->kind != TDC_JSON_LIST || b->kind != TDC_JSON_LIST)
        return tdc_config_equal(a, b);
    if (a->children != b->children)
        return false;
    const struct tdc_json *x = a->child, *y = b->child;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!frames_match(x, y))
            return false;
    return true;
}

static struct tdc_cell stack_cell(struct tdc_config_work *work, const struct tdc_json *stack)
{
    if (stack == NULL || stack->kind != TDC_JSON_LIST)
        return tdc_config_value(work, stack);
    size_t length = 0;
    for (const struct tdc_json *frame = stack->child; frame != NULL; frame = frame->next)
        length += frame->kind == TDC_JSON_STRING ? frame->length + 1 : 1;
    char *text = tdc_arena_take(&work->arena, length + 1), *to = text;
    if (text == NULL)
        return tdc_config_text("(too long)");
    for (const struct tdc_json *frame = stack->child; frame != NULL; frame = frame->next) {
        if (frame->kind == TDC_JSON_STRING)
            to = mempcpy(to, frame->text, frame->length);
        if (frame->next != NULL)
            *to++ = '\n';
    }
    *to = '\0';
    return tdc_config_text(text);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const struct tdc_json *first_of(const struct tdc_json *entries)
{
    return entries != NULL && entries->kind == TDC_JSON_LIST ? entries->child : NULL;
}

static bool add(struct tdc_config_work *work, struct tdc_config_sheet *sheet, const char *operation,
                long rank, const struct tdc_json *bench, const struct tdc_json *cmp)
{
    const struct tdc_json *bench_count = tdc_json_get(bench, "count");
    const struct tdc_json *cmp_count = tdc_json_get(cmp, "count");
    bool equal = bench != NULL && cmp != NULL && tdc_config_equal(bench_count, cmp_count);
    struct tdc_cell *row = tdc_config_row(work, sheet, equal ? TDC_CONFIG_PASS : TDC_CONFIG_ERROR);
    if (row == NULL)
        return false;
    row[0] = tdc_config_text(operation);
    row[1] = tdc_config_number((double)rank);
    row[2] = bench != NULL ? stack_cell(work, tdc_json_get(bench, "stack"))
                           : tdc_config_text("no match stack");
    row[3] = cmp != NULL ? stack_cell(work, tdc_json_get(cmp, "stack"))
                         : tdc_config_text("no match stack");
    row[4] = bench != NULL ? tdc_config_value(work, bench_count) : tdc_config_number(0);
    row[5] = cmp != NULL ? tdc_config_value(work, cmp_count) : tdc_config_number(0);
    row[6] = tdc_config_truth(equal);
    return true;
}

static bool compare_operation(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                              const char *operation, long rank, const struct tdc_json *bench,
                              const struct tdc_json *cmp)
{
    bool good = true;
    for (const struct tdc_json *one = first_of(bench); one != NULL && good; one = one->next) {
        const struct tdc_json *other = first_of(cmp);
        const struct tdc_json *stack = tdc_json_get(one, "stack");
        while (other != NULL && !stacks_match(tdc_json_get(other, "stack"), stack))
            other = other->next;
        good = add(work, sheet, operation, rank, one, other);
    }
    for (const struct tdc_json *other = first_of(cmp); other != NULL && good; other = other->next) {
        const struct tdc_json *one = first_of(bench);
        const struct tdc_json *stack = tdc_json_get(other, "stack");
        while (one != NULL && !stacks_match(tdc_json_get(one, "stack"), stack))
            one = one->next;
        if (one == NULL)
            good = add(work, sheet, operation, rank, NULL, other);
    }
    return good;
}

/* One of the files may be absent. */
static tdc_status compare_rank(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                               const struct file *bench_file, const struct file *cmp_file)
{
    struct tdc_json *bench = NULL, *cmp = NULL;
    tdc_status status = TDC_OK;
    if (bench_file != NULL)
        status = tdc_config_json(work, &work->bench, bench_file->member, &bench);
    if (status == TDC_OK && cmp_file != NULL)
        status = tdc_config_json(work, &work->cmp, cmp_file->member, &cmp);
    if (status != TDC_OK)
        return status;
    long rank = bench_file != NULL ? bench_file->rank : cmp_file != NULL ? cmp_file->rank : 0;
    bool good = true;
    for (const struct tdc_json *one = bench != NULL ? bench->child : NULL; one != NULL && good;
         one = one->next)
        good = compare_operation(work, sheet, one->key, rank, one, tdc_json_get(cmp, one->key));
    for (const struct tdc_json *one = cmp != NULL ? cmp->child : NULL; one != NULL && good;
         one = one->next)
        if (tdc_json_get(bench, one->key) == NULL)
            good = compare_operation(work, sheet, one->key, rank, NULL, one);
    return good ? TDC_OK : tdc_config_memory(work);
}

tdc_status tdc_config_check_random(struct tdc_config_work *work, struct tdc_config_sheet *sheet)
{
    struct files bench = {0}, cmp = {0};
    tdc_status status = find_files(work, &work->bench, &bench);
    if (status == TDC_OK)
        status = find_files(work, &work->cmp, &cmp);
    for (size_t b = 0, c = 0; status == TDC_OK && (b < bench.count || c < cmp.count);) {
        bool take_bench =
            b < bench.count && (c == cmp.count || bench.all[b].rank <= cmp.all[c].rank);
        bool take_cmp = c < cmp.count && (b == bench.count || cmp.all[c].rank <= bench.all[b].rank);
        status = compare_rank(work, sheet, take_bench ? &bench.all[b] : NULL,
                              take_cmp ? &cmp.all[c] : NULL);
        b += take_bench;
        c += take_cmp;
    }
    return status;
}
