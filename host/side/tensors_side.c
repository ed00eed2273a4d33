/* tensors_side.c - a checkpoint, or files of tensors by name, as the records of a side. */
#include <stdlib.h>
#include <string.h>

#include "host/side/side.h"
#include "host/tensors/tensor_set.h"
#include "io/base/error.h"

static const char *const axes[TDC_SET_AXES] = {"tp", "pp", "ep"};

static void release(struct tdc_side *side)
{
    tdc_tensor_set_free(side->own);
    free(side->own);
}

static tdc_status open_record(const struct tdc_side *side, const struct tdc_side_record *record,
                              size_t piece, struct tdc_tensor *tensor, struct tdc_error *error)
{
    struct tdc_tensor_set *set = side->own;
    const struct tdc_set_record *stored = &set->records[record->source];
    if (stored->refusal != NULL)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s", stored->refusal);
    if (stored->chunks != NULL || stored->tensor != NULL) {
        *tensor = stored->chunks != NULL ? *stored->chunks[piece].tensor : *stored->tensor;
        return TDC_OK;
    }
    size_t length = strlen(set->folder) + strlen(stored->file) + 2;
    char *path = malloc(length);
    if (path == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", stored->file);
    memcpy(path, set->folder, strlen(set->folder));
    path[strlen(set->folder)] = '/';
    memcpy(path + strlen(set->folder) + 1, stored->file, strlen(stored->file) + 1);
    tdc_status status = tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, tensor, error);
    free(path);
    return status;
}

/* Where the record stands in the mesh that the checkpoint's folders tell. */
static bool add_places(struct tdc_side *side, const struct tdc_tensor_set *set,
                       const struct tdc_set_record *stored, struct tdc_side_record *record)
{
    if (stored->own_count != 0) {
        struct tdc_axis_place *own = tdc_arena_zeroed(&side->arena, stored->own_count, sizeof *own);
        for (size_t i = 0; own != NULL && i < stored->own_count; i++)
            own[i] = (struct tdc_axis_place){stored->own[i].axis, stored->own[i].index,
                                             stored->own[i].size};
        record->places = own;
        record->place_count = stored->own_count;
        return own != NULL;
    }
    if (!set->meshed)
        return true;
    struct tdc_axis_place *places = tdc_arena_zeroed(&side->arena, TDC_SET_AXES, sizeof *places);
    for (size_t i = 0; places != NULL && i < TDC_SET_AXES; i++)
        places[i] = (struct tdc_axis_place){axes[i], stored->coordinates[i], set->sizes[i]};
    record->places = places;
    record->place_count = TDC_SET_AXES;
    return places != NULL;
}

static bool add_pieces(struct tdc_side *side, const struct tdc_set_record *stored,
                       struct tdc_side_record *record)
{
    if (stored->chunks == NULL)
        return true;
    struct tdc_side_piece *pieces =
        tdc_arena_zeroed(&side->arena, stored->chunk_count, sizeof *pieces);
    for (size_t i = 0; pieces != NULL && i < stored->chunk_count; i++)
        pieces[i] = (struct tdc_side_piece){.first = stored->chunks[i].first,
                                            .shape = stored->chunks[i].tensor->shape};
    record->pieces = pieces;
    record->piece_count = stored->chunk_count;
    return pieces != NULL;
}

static tdc_status list_records(struct tdc_side *side, int step, struct tdc_error *error)
{
    const struct tdc_tensor_set *set = side->own;
    side->records = calloc(set->count + 1, sizeof *side->records);
    if (side->records == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu records", set->count);
    bool failed = false;
    for (size_t i = 0; i < set->count && !failed; i++) {
        const struct tdc_set_record *stored = &set->records[i];
        if (set->dumped && step >= 0 && stored->step != step)
            continue;
        struct tdc_side_record *record = &side->records[side->count++];
        *record = (struct tdc_side_record){
            .name = stored->name,
            .where = stored->where,
            .dtype = stored->dtype,
            .state = set->dumped ? TDC_STATE_DEBUG : TDC_STATE_PARAMETERS,
            .rank = stored->rank,
            .step = stored->step,
            .dims = stored->dims,
            .source = i,
        };
        const char *behind = strchr(stored->where, '/');
        if (set->several_steps && step >= 0 && behind != NULL)
            record->where = behind + 1; /* of one step the rank is enough */
        tdc_side_shape(side, stored->shape, record, &failed);
        failed |= !add_places(side, set, stored, record) || !add_pieces(side, stored, record);
    }
    return failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu records", set->count)
                  : TDC_OK;
}

tdc_status tdc_side_from_tensors(const struct tdc_side_request *request, struct tdc_side **side,
                                 struct tdc_error *error)
{
    *side = NULL;
    struct tdc_side *made = tdc_side_new(request->path);
    struct tdc_tensor_set *set = calloc(1, sizeof *set);
    if (made == NULL || set == NULL) {
        free(set);
        tdc_side_free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    made->own = set;
    made->release = release;
    made->open = open_record;
    made->has_data = true;
    tdc_status status = tdc_tensor_set_load(request->path, request->key, set, error);
    made->checkpoint = !set->dumped;
    made->several_steps = set->several_steps && request->step < 0;
    if (status == TDC_OK)
        status = list_records(made, request->step, error);
    if (status == TDC_OK)
        *side = made;
    else
        tdc_side_free(made);
    return status;
}
