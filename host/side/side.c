#include "host/side/side.h"

#include <stdlib.h>
#include <string.h>

/* Names, shapes and places of all records of a checkpoint or of a dump with all its ranks. */
#define SIDE_LIMIT ((size_t)16 << 30)

struct tdc_side *tdc_side_new(const char *path)
{
    struct tdc_side *side = calloc(1, sizeof *side);
    if (side == NULL)
        return NULL;
    tdc_arena_init(&side->arena, SIDE_LIMIT);
    side->path = tdc_arena_text(&side->arena, path, strlen(path));
    if (side->path == NULL) {
        tdc_side_free(side);
        return NULL;
    }
    return side;
}

void tdc_side_free(struct tdc_side *side)
{
    if (side == NULL)
        return;
    if (side->release != NULL)
        side->release(side);
    free(side->records);
    tdc_arena_free(&side->arena);
    free(side);
}

bool tdc_side_shape(struct tdc_side *side, const char *text, struct tdc_side_record *record,
                    bool *failed)
{
    uint64_t sizes[TDC_MAX_DIMENSIONS];
    unsigned count = 0;
    const char *at = text + 1;
    if (text[0] != '[')
        return false;
    while (*at != ']') {
        char *end;
        if (*at < '0' || *at > '9' || count == TDC_MAX_DIMENSIONS)
            return false;
        sizes[count++] = strtoull(at, &end, 10);
        at = end;
        if (at[0] == ',' && at[1] == ' ')
            at += 2;
        else if (at[0] != ']')
            return false;
    }
    uint64_t *kept = tdc_arena_zeroed(&side->arena, count + 1, sizeof *kept);
    if (kept == NULL) {
        *failed = true;
        return false;
    }
    memcpy(kept, sizes, count * sizeof *kept);
    record->shape = kept;
    record->dimensions = count;
    return at[1] == '\0';
}

tdc_status tdc_side_open(const struct tdc_side_request *request, struct tdc_side **side,
                         struct tdc_error *error)
{
    return tdc_path_holds_dump(request->path) ? tdc_side_from_dump(request, side, error)
                                              : tdc_side_from_tensors(request, side, error);
}
