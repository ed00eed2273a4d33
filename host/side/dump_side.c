/* dump_side.c - the tensors of a dump with all its steps and ranks as the records of a side. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/job_path.h"
#include "host/find/folders.h"
#include "host/find/places.h"
#include "host/side/side.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

/* One json file of the dump. */
struct dump_file {
    tdc_dump *dump;
    const char *where;
    int64_t rank, step;
};

struct dump_files {
    struct dump_file *files;
    size_t count;
};

static void release(struct tdc_side *side)
{
    struct dump_files *all = side->own;
    for (size_t i = 0; i < all->count; i++)
        tdc_dump_free(all->files[i].dump);
    free(all->files);
    free(all);
}

static bool same_shape(const struct tdc_side_record *record, const struct tdc_tensor *tensor)
{
    return record->dimensions == tensor->dimensions &&
           memcmp(record->shape, tensor->shape, tensor->dimensions * sizeof *tensor->shape) == 0;
}

static tdc_status open_record(const struct tdc_side *side, const struct tdc_side_record *record,
                              size_t piece, struct tdc_tensor *tensor, struct tdc_error *error)
{
    (void)piece;
    const struct dump_files *all = side->own;
    const struct dump_file *file = &all->files[record->source];
    struct tdc_text path;
    tdc_text_init(&path, (size_t)1 << 16);
    const char *full =
        tdc_job_path(&path, file->dump->data_folder, record->dumped->data_name, error);
    tdc_status status =
        full == NULL ? error->status : tdc_tensor_open(full, TDC_TENSOR_BY_SUFFIX, tensor, error);
    if (status == TDC_OK && !same_shape(record, tensor)) {
        tdc_tensor_close(tensor);
        status = tdc_fail(error, TDC_ERR_FORMAT, "%s: its shape is not the one of the dump, %s",
                          record->dumped->data_name, record->dumped->shape);
    }
    tdc_text_free(&path);
    return status;
}

/* ---- finding --------------------------------------------------------------------------------- */

static tdc_status load_file(struct tdc_side *side, const char *path, const struct tdc_place *place,
                            struct tdc_error *error)
{
    struct dump_files *all = side->own;
    struct dump_file *file = &all->files[all->count];
    *file = (struct dump_file){
        .rank = place->rank_number >= 0 ? place->rank_number : 0,
        .step = place->step_number >= 0 ? place->step_number : 0,
    };
    tdc_status status = tdc_dump_load(path, &file->dump, error);
    if (status == TDC_OK)
        all->count++;
    return status;
}

static tdc_status load_place(struct tdc_side *side, const struct tdc_place *place,
                             struct tdc_error *error)
{
    static const char *const names[] = {"dump.json", "debug.json"};
    if (place->file)
        return load_file(side, place->path, place, error);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < 2 && status == TDC_OK; i++) {
        char *path = tdc_path_join(place->path, names[i]);
        if (path == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        if (tdc_is_file(path))
            status = load_file(side, path, place, error);
        free(path);
    }
    return status;
}

/* Processes have numbers that mean nothing: their place among the folders is their rank. */
static void number_processes(struct tdc_places *places)
{
    long next = 0, step = -2;
    for (size_t i = 0; i < places->count; i++) {
        struct tdc_place *place = &places->places[i];
        if (place->step_number != step)
            next = 0;
        step = place->step_number;
        if (place->process)
            place->rank_number = next++;
    }
}

static int by_step_and_rank(const void *left, const void *right)
{
    const struct tdc_place *a = left, *b = right;
    if (a->step_number != b->step_number)
        return a->step_number < b->step_number ? -1 : 1;
    return (a->rank_number > b->rank_number) - (a->rank_number < b->rank_number);
}

static tdc_status load_places(struct tdc_side *side, struct tdc_places *places,
                              struct tdc_error *error)
{
    struct dump_files *all = side->own;
    all->files = calloc(2 * places->count + 1, sizeof *all->files);
    if (all->files == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    number_processes(places);
    qsort(places->places, places->count, sizeof *places->places, by_step_and_rank);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < places->count && status == TDC_OK; i++)
        if (!places->places[i].empty)
            status = load_place(side, &places->places[i], error);
    return status;
}

/* ---- records --------------------------------------------------------------------------------- */

static bool name_file(struct tdc_side *side, struct dump_file *file)
{
    char text[64];
    if (side->several_steps)
        snprintf(text, sizeof text, "step%lld/rank%lld", (long long)file->step,
                 (long long)file->rank);
    else
        snprintf(text, sizeof text, "rank%lld", (long long)file->rank);
    file->where = tdc_arena_text(&side->arena, text, strlen(text));
    return file->where != NULL;
}

/* The tensors of a dump; scalars and null items are no logical tensors. */
static bool add_records(struct tdc_side *side, size_t index)
{
    const struct dump_files *all = side->own;
    const struct dump_file *file = &all->files[index];
    bool failed = false;
    for (size_t i = 0; i < file->dump->record_count && !failed; i++) {
        const struct tdc_record *dumped = &file->dump->records[i];
        struct tdc_side_record *record = &side->records[side->count];
        *record = (struct tdc_side_record){
            .name = dumped->name,
            .where = file->where,
            .dtype = dumped->dtype,
            .state = dumped->state,
            .rank = file->rank,
            .step = file->step,
            .dtensor = dumped->dtensor,
            .dumped = dumped,
            .source = index,
        };
        if (!dumped->scalar && tdc_side_shape(side, dumped->shape, record, &failed)) {
            side->count++;
            side->has_data |= tdc_record_has_file(dumped);
        }
    }
    return !failed;
}

static tdc_status list_records(struct tdc_side *side, struct tdc_error *error)
{
    struct dump_files *all = side->own;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        count += all->files[i].dump->record_count;
        side->several_steps |= all->files[i].step != all->files[0].step;
    }
    side->records = calloc(count + 1, sizeof *side->records);
    bool ok = side->records != NULL;
    for (size_t i = 0; i < all->count && ok; i++)
        ok = name_file(side, &all->files[i]) && add_records(side, i);
    return ok ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu records", count);
}

tdc_status tdc_side_from_dump(const struct tdc_side_request *request, struct tdc_side **side,
                              struct tdc_error *error)
{
    *side = NULL;
    struct tdc_search search = {.step = request->step, .debug = true};
    struct tdc_places places = {0};
    struct tdc_side *made = tdc_side_new(request->path);
    struct dump_files *all = calloc(1, sizeof *all);
    if (made == NULL || all == NULL) {
        free(all);
        tdc_side_free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    made->own = all;
    made->release = release;
    made->open = open_record;
    tdc_status status = tdc_places_find(request->path, &search, &places, error);
    made->empty = tdc_places_name_empty(&places, &search, request->options);
    if (status == TDC_OK)
        status = load_places(made, &places, error);
    if (status == TDC_OK)
        status = list_records(made, error);
    tdc_places_free(&places);
    if (status == TDC_OK)
        *side = made;
    else
        tdc_side_free(made);
    return status;
}
