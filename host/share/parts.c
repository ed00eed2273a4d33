/* parts.c - the parts of one command in a folder, before it is known which command that is. */
#include <stdio.h>
#include <stdlib.h>

#include "host/share/share.h"
#include "io/base/error.h"

/* Processes that one merge may have had. */
#define MOST_PROCESSES 65536

struct tdc_parts {
    struct tdc_part part; /* the first one's head */
    bool *found, *whole;  /* by process */
};

void tdc_parts_free(tdc_parts *parts)
{
    if (parts == NULL)
        return;
    tdc_part_free(&parts->part);
    free(parts->found);
    free(parts->whole);
    free(parts);
}

size_t tdc_parts_words(const tdc_parts *parts)
{
    return parts->part.head.word_count;
}

const char *tdc_parts_word(const tdc_parts *parts, size_t index)
{
    return parts->part.head.words[index];
}

const char *tdc_parts_folder(const tdc_parts *parts)
{
    return parts->part.head.folder;
}

/* The first part says how many there are to be. */
static tdc_status take_first(struct tdc_parts *parts, struct tdc_part *part, const char *path,
                             struct tdc_error *error)
{
    if (part->head.count > MOST_PROCESSES || part->head.word_count < 2)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: not a part that can be merged", path);
    parts->part = *part;
    parts->found = calloc(part->head.count, sizeof *parts->found);
    parts->whole = calloc(part->head.count, sizeof *parts->whole);
    *part = (struct tdc_part){0};
    return parts->found != NULL && parts->whole != NULL
               ? TDC_OK
               : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
}

static bool same_command(const struct tdc_part_head *left, const struct tdc_part_head *right)
{
    return strcmp(left->settings, right->settings) == 0 &&
           strcmp(left->folder, right->folder) == 0 && strcmp(left->version, right->version) == 0;
}

static tdc_status take_part(struct tdc_parts *parts, struct tdc_part *part, const char *path,
                            struct tdc_error *error)
{
    struct tdc_part_head head = part->head;
    bool complete = part->complete;
    tdc_status status = TDC_OK;
    if (parts->found == NULL)
        status = take_first(parts, part, path, error);
    else if (!same_command(&parts->part.head, &head))
        status =
            tdc_fail(error, TDC_ERR_REFUSED,
                     "%s is a part of another command line or version than the others here", path);
    else if (parts->part.head.count != head.count)
        status = tdc_fail(error, TDC_ERR_REFUSED, "%s is a part of %u, others here are of %u", path,
                          head.count, parts->part.head.count);
    if (status == TDC_OK) {
        parts->found[head.index] = true;
        parts->whole[head.index] = complete;
    }
    return status;
}

static tdc_status look_at(struct tdc_parts *parts, const char *path, struct tdc_error *error)
{
    unsigned char *bytes;
    size_t size;
    struct tdc_part part;
    tdc_status status = tdc_part_load(path, &bytes, &size, error);
    if (status != TDC_OK)
        return status;
    struct tdc_error why = {0};
    status = tdc_part_read_head(bytes, size, &part, &why);
    if (status == TDC_OK)
        status = take_part(parts, &part, path, error);
    else if (size == 0)
        status = TDC_OK; /* killed when it had begun: its number is among those that are missing */
    else
        status = tdc_fail(error, TDC_ERR_REFUSED, "%s is %s", path, why.message);
    tdc_part_free(&part);
    free(bytes);
    return status;
}

/* Which processes must run (again) first. */
static tdc_status check_complete(const struct tdc_parts *parts, const char *folder,
                                 struct tdc_error *error)
{
    uint32_t count = parts->part.head.count, lacking = 0;
    struct tdc_text text;
    tdc_text_init(&text, 4096);
    for (uint32_t i = 0; i < count; i++) {
        if (parts->whole[i])
            continue;
        if (++lacking <= 20)
            tdc_text_addf(&text, "%s%u/%u%s", lacking > 1 ? ", " : "", i, count,
                          parts->found[i] ? " (begun)" : "");
    }
    if (lacking > 20)
        tdc_text_addf(&text, " and %u more", lacking - 20);
    tdc_status status = TDC_OK;
    if (lacking != 0)
        status = tdc_fail(error, TDC_ERR_REFUSED, "%s: not complete: missing --shard %s", folder,
                          tdc_text_get(&text));
    tdc_text_free(&text);
    return status;
}

tdc_status tdc_parts_find(const char *folder, tdc_parts **parts, struct tdc_error *error)
{
    struct tdc_part_names list;
    *parts = NULL;
    struct tdc_parts *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = tdc_part_names_list(folder, &list, error);
    for (size_t i = 0; i < list.count && status == TDC_OK; i++) {
        if (!tdc_ends_in(list.names[i], TDC_PART_ENDING))
            continue;
        char *path = tdc_part_path(folder, list.names[i]);
        status = path != NULL ? look_at(made, path, error)
                              : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        free(path);
    }
    tdc_part_names_free(&list);
    if (status == TDC_OK && made->found == NULL)
        status =
            tdc_fail(error, TDC_ERR_NOT_FOUND,
                     "%s: no parts in it (of tdcmp compare --shard or precheck --shard)", folder);
    if (status == TDC_OK)
        status = check_complete(made, folder, error);
    if (status != TDC_OK) {
        tdc_parts_free(made);
        return status;
    }
    *parts = made;
    return TDC_OK;
}
