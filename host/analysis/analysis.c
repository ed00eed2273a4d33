#include "host/analysis/analysis.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/analysis/communication/comm_graph.h"
#include "host/find/folders.h"
#include "host/find/places.h"
#include "io/base/error.h"
#include "io/file/byte_writer.h"
#include "io/file/out_file.h"
#include "io/storage/looking.h"

void tdc_analysis_say(const struct tdc_options *options, tdc_message_level level,
                      const char *format, ...)
{
    if (options->message == NULL)
        return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options->message(options->context, level, text);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct tdc_rank_dump *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Takes the places of one step; `chosen` is the first that has a dump. */
static tdc_status take_ranks(const struct tdc_places *places, const struct tdc_place *chosen,
                             const struct tdc_options *options, struct tdc_rank_dumps *ranks,
                             struct tdc_error *error)
{
    ranks->ranks = calloc(places->count + 1, sizeof *ranks->ranks);
    if (ranks->ranks == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu ranks", places->count);
    for (size_t i = 0; i < places->count; i++) {
        const struct tdc_place *place = &places->places[i];
        if (strcmp(place->step, chosen->step) != 0 || strcmp(place->family, chosen->family) != 0)
            return tdc_fail(error, TDC_ERR_ARGUMENT,
                            "%s and %s are dumps of different steps: name one step folder",
                            chosen->path, place->path);
        char *json = place->file ? strdup(place->path) : tdc_path_join(place->path, "dump.json");
        if (json == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
        bool usable = !place->empty && tdc_is_file(json);
        if (!usable)
            tdc_analysis_say(options, TDC_MESSAGE_WARNING, "%s: no dump.json in it, left out",
                             place->path);
        char *slash = strrchr(json, '/');
        if (slash != NULL)
            *slash = '\0';
        else
            snprintf(json, 2, ".");
        if (!usable) {
            free(json);
            continue;
        }
        long number = place->process || place->rank_number < 0 ? 0 : place->rank_number;
        ranks->ranks[ranks->count++] = (struct tdc_rank_dump){number, json};
    }
    qsort(ranks->ranks, ranks->count, sizeof *ranks->ranks, by_number);
    return TDC_OK;
}

/* Two folders of one number, `rank` beside `rank0`: the first is used. */
static void drop_repeated(struct tdc_rank_dumps *ranks, const struct tdc_options *options)
{
    size_t count = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        struct tdc_rank_dump *rank = &ranks->ranks[i];
        if (count == 0 || ranks->ranks[count - 1].number != rank->number) {
            ranks->ranks[count++] = *rank;
            continue;
        }
        tdc_analysis_say(options, TDC_MESSAGE_WARNING, "%s: a second rank %ld, left out",
                         rank->folder, rank->number);
        free(rank->folder);
    }
    ranks->count = count;
}

tdc_status tdc_rank_dumps_find(const char *path, const struct tdc_options *options,
                               struct tdc_rank_dumps *ranks, struct tdc_error *error)
{
    *ranks = (struct tdc_rank_dumps){0};
    struct tdc_places places = {0};
    const struct tdc_search search = {.step = -1};
    tdc_status status = tdc_places_find(path, &search, &places, error);
    const struct tdc_place *chosen = NULL;
    for (size_t i = 0; i < places.count && chosen == NULL; i++)
        if (!places.places[i].empty)
            chosen = &places.places[i];
    if (status == TDC_OK && chosen == NULL)
        status = tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no dump in it", path);
    if (status == TDC_OK)
        status = take_ranks(&places, chosen, options, ranks, error);
    if (status == TDC_OK)
        drop_repeated(ranks, options);
    if (status == TDC_OK && ranks->count == 0)
        status = tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no dump.json in any rank", path);
    tdc_places_free(&places);
    return status;
}

void tdc_rank_dumps_free(struct tdc_rank_dumps *ranks)
{
    for (size_t i = 0; i < ranks->count; i++)
        free(ranks->ranks[i].folder);
    free(ranks->ranks);
    *ranks = (struct tdc_rank_dumps){0};
}

/* ---- results --------------------------------------------------------------------------------- */

char *tdc_analysis_path(const char *folder, const char *prefix)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char name[128];
    snprintf(name, sizeof name, "%s%lld%09ld.json", prefix, (long long)now.tv_sec, now.tv_nsec);
    return tdc_path_join(folder, name);
}

static tdc_status save(const char *folder, const char *path, const struct tdc_text *text,
                       bool replace, struct tdc_error *error)
{
    if (path == NULL || text->failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a result");
    tdc_status status = tdc_make_folders(folder, error);
    if (status != TDC_OK)
        return status;
    struct tdc_out_file file = TDC_OUT_FILE_NONE;
    status = tdc_out_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    int number = tdc_write_fully(file.fd, tdc_text_get(text), text->length);
    if (number == 0)
        return replace ? tdc_out_file_commit(&file, error) : tdc_out_file_commit_new(&file, error);
    tdc_out_file_discard(&file);
    return tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s", path);
}

tdc_status tdc_analysis_write(const char *folder, const char *path, const struct tdc_text *text,
                              struct tdc_error *error)
{
    return save(folder, path, text, false, error);
}

tdc_status tdc_analysis_replace(const char *folder, const char *path, const struct tdc_text *text,
                                struct tdc_error *error)
{
    return save(folder, path, text, true, error);
}

void tdc_analysis_say_links(const struct tdc_comm_result *result, const struct tdc_options *options)
{
    if (result->absent_partners != 0)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "%zu links of communication calls lead to ranks that were not dumped "
                         "(first: rank %ld of %s); they are passed over",
                         result->absent_partners, result->absent_rank, result->absent_call);
    if (result->unlinked != 0)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "%zu communication calls have no partner on another rank (first: rank "
                         "%ld, %s); each is taken as if it stood alone",
                         result->unlinked, result->unlinked_rank, result->unlinked_call);
    if (result->circles != 0)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "%zu communication calls wait for each other in a circle (first: rank "
                         "%ld, %s); the lowest rank's is taken to come first",
                         result->circles, result->circle_rank, result->circle_call);
}
