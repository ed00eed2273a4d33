/* share_load.c - the parts that lie in a folder: which there are, and what is known from them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/share/share.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/storage/patient_read.h"
#include "io/storage/storage_calls.h"
#include "io/file/retry.h"

/* ---- names ----------------------------------------------------------------------------------- */

char *tdc_part_path(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

void tdc_part_names_free(struct tdc_part_names *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct tdc_part_names){0};
}

static bool add_name(struct tdc_part_names *list, const char *name)
{
    char **names = realloc(list->names, (list->count + 1) * sizeof *names);
    char *copy = strdup(name);
    if (names != NULL)
        list->names = names;
    if (names == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    list->names[list->count++] = copy;
    return true;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

tdc_status tdc_part_names_list(const char *folder, struct tdc_part_names *list,
                               struct tdc_error *error)
{
    *list = (struct tdc_part_names){0};
    struct tdc_listing listing;
    int number = tdc_storage_list(folder, &listing);
    if (number != 0)
        return number == ENOENT ? TDC_OK
                                : tdc_fail_errno(error, TDC_ERR_READ, number, "%s", folder);
    bool kept = true;
    for (size_t i = 0; kept && i < listing.count; i++)
        if (tdc_ends_in(listing.names[i], TDC_PART_ENDING) ||
            tdc_ends_in(listing.names[i], TDC_JOURNAL_ENDING))
            kept = add_name(list, listing.names[i]);
    tdc_listing_free(&listing);
    if (!kept) {
        tdc_part_names_free(list);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    if (list->count != 0)
        qsort(list->names, list->count, sizeof *list->names, by_name);
    return TDC_OK;
}

/* ---- one part -------------------------------------------------------------------------------- */

tdc_status tdc_part_load(const char *path, unsigned char **bytes, size_t *size,
                         struct tdc_error *error)
{
    struct tdc_file file;
    *bytes = NULL;
    *size = 0;
    tdc_status status = tdc_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    *bytes = malloc(file.size + 1);
    if (*bytes == NULL) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory for it", path);
    } else {
        int failure = tdc_storage_read(file.descriptor, *bytes, file.size, 0, size);
        if (failure != 0)
            status = tdc_fail_errno(error, TDC_ERR_READ, failure, "%s", path);
    }
    tdc_file_close(file.descriptor);
    if (status != TDC_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

/* Why a part is none of this run; NULL: it is. `what` gets the name of an input. */
static const char *difference(const struct tdc_part_head *ours, const struct tdc_part_head *theirs,
                              const char **what)
{
    *what = "";
    if (strcmp(ours->settings, theirs->settings) != 0 || strcmp(ours->folder, theirs->folder) != 0)
        return "is of another command line";
    if (strcmp(ours->version, theirs->version) != 0)
        return "was written by another version of tdcmp";
    if (ours->input_count != theirs->input_count)
        return "is of another set of inputs";
    for (size_t i = 0; i < ours->input_count; i++) {
        const struct tdc_part_input *a = &ours->inputs[i], *b = &theirs->inputs[i];
        *what = a->path;
        if (strcmp(a->path, b->path) != 0)
            return "is of other inputs than";
        if (a->mark.size != b->mark.size || a->mark.changed != b->mark.changed)
            return "was written before this input changed:";
    }
    return NULL;
}

static void say(const struct tdc_share *share, tdc_message_level level, const char *text)
{
    if (share->options.message != NULL)
        share->options.message(share->options.context, level, text);
}

/* Of a part that cannot be used: who depends on it is told, who can do without goes on. */
static tdc_status refuse(const struct tdc_share *share, const char *path, const char *why,
                         const char *what, struct tdc_error *error)
{
    const char *space = what[0] != '\0' ? " " : "";
    if (share->options.kind == TDC_SHARE_PART || share->options.kind == TDC_SHARE_MERGE)
        return tdc_fail(error, TDC_ERR_REFUSED, "%s %s%s%s; --restart forgets what was done", path,
                        why, space, what);
    struct tdc_error line = {0};
    tdc_fail(&line, TDC_ERR_REFUSED, "%s %s%s%s: it is not used", path, why, space, what);
    say(share, TDC_MESSAGE_WARNING, line.message);
    return TDC_OK;
}

static tdc_status load_one(struct tdc_share *share, const char *path, struct tdc_error *error)
{
    unsigned char *bytes;
    size_t size;
    struct tdc_error why = {0};
    tdc_status status = tdc_part_load(path, &bytes, &size, &why);
    if (status == TDC_ERR_NOT_FOUND)
        return TDC_OK; /* a journal that another run has just removed */
    if (status != TDC_OK)
        return refuse(share, path, "cannot be read:", why.message, error);
    struct tdc_part part;
    status = tdc_part_read_head(bytes, size, &part, &why);
    bool own = strcmp(path, share->path) == 0;
    if (status != TDC_OK) {
        free(bytes);
        /* killed while it began: nothing is lost */
        return own || size < TDC_PART_MAGIC_SIZE ? TDC_OK
                                                 : refuse(share, path, "is", why.message, error);
    }
    const char *what, *other = difference(&share->head, &part.head, &what);
    if (other != NULL) {
        free(bytes);
        status = refuse(share, path, other, what, error);
    } else {
        if (own) {
            share->own_whole = part.whole;
            share->own_complete = part.complete;
        }
        if (!tdc_known_add(&share->known, bytes, part.whole, part.first))
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory for it", path);
    }
    tdc_part_free(&part);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* NAME_DIGEST_...: of this command. */
static bool is_ours(const struct tdc_share *share, const char *name)
{
    size_t length = strlen(share->options.name);
    return strncmp(name, share->options.name, length) == 0 && name[length] == '_' &&
           strncmp(name + length + 1, share->digest, strlen(share->digest)) == 0;
}

static bool is_part(const char *name)
{
    return tdc_ends_in(name, TDC_PART_ENDING);
}

/* Whether a part of this process, or of all when nobody else takes part, is to be forgotten. */
static bool is_forgotten(const struct tdc_share *share, const char *path, bool ours)
{
    if (!share->options.restart)
        return false;
    if (share->options.kind == TDC_SHARE_PART)
        return strcmp(path, share->path) == 0;
    return ours && share->options.index == 0;
}

static tdc_status load_named(struct tdc_share *share, const char *name, size_t *others,
                             struct tdc_error *error)
{
    bool ours = is_ours(share, name);
    char *path = tdc_part_path(share->options.folder, name);
    tdc_status status = TDC_OK;
    if (path == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    else if (is_forgotten(share, path, ours))
        unlink(path);
    else if (share->options.restart)
        ; /* others look after theirs */
    else if (!ours && share->options.kind == TDC_SHARE_PART && is_part(name))
        status = refuse(share, path, "is of another command line", "", error);
    else if (ours)
        status = load_one(share, path, error);
    *others += !ours && is_part(name);
    free(path);
    return status;
}

tdc_status tdc_share_load(struct tdc_share *share, struct tdc_error *error)
{
    struct tdc_part_names list;
    size_t others = 0;
    struct tdc_error unseen = {0};
    tdc_status status = tdc_part_names_list(share->options.folder, &list, &unseen);
    /* a folder that cannot be looked into has nothing to take up: who writes there will say why */
    bool needed = share->options.kind == TDC_SHARE_PART || share->options.kind == TDC_SHARE_MERGE;
    if (status != TDC_OK && !needed && status != TDC_ERR_MEMORY)
        return TDC_OK;
    if (status != TDC_OK && error != NULL)
        *error = unseen;
    for (size_t i = 0; i < list.count && status == TDC_OK; i++)
        status = load_named(share, list.names[i], &others, error);
    tdc_part_names_free(&list);
    if (status == TDC_OK && others != 0 && share->options.kind == TDC_SHARE_WHOLE) {
        struct tdc_error line = {0};
        tdc_fail(&line, TDC_ERR_REFUSED, "%s: %zu parts of another command line are not used",
                 share->options.folder, others);
        say(share, TDC_MESSAGE_INFO, line.message);
    }
    return status;
}

void tdc_share_remove_journals(const struct tdc_share *share)
{
    struct tdc_part_names list;
    if (tdc_part_names_list(share->options.folder, &list, NULL) != TDC_OK)
        return;
    for (size_t i = 0; i < list.count; i++) {
        if (!is_ours(share, list.names[i]) || is_part(list.names[i]))
            continue;
        char *path = tdc_part_path(share->options.folder, list.names[i]);
        int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
        if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
            unlink(path);
        if (fd >= 0)
            close(fd);
        free(path);
    }
    tdc_part_names_free(&list);
}
