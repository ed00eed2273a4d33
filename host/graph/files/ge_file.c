#include "host/graph/files/ge_file.h"

#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* What a guarded read is asked for, and gives. */
struct reading {
    const struct tdc_ge_file *file;
    uint64_t *counts;
    enum tdc_ge_list list;
    uint64_t index;
    bool stored;
    struct tdc_ge_item *item;
    struct tdc_tensor *tensor;
    tdc_status status;
    struct tdc_error *error;
};

static const unsigned char *bytes_of(const struct tdc_ge_file *file)
{
    return (const unsigned char *)file->map.data;
}

static void count_items(void *argument)
{
    struct reading *reading = argument;
    const struct tdc_ge_file *file = reading->file;
    reading->status =
        tdc_ge_count(bytes_of(file), file->map.size, file->path, reading->counts, reading->error);
}

static void find_item(void *argument)
{
    struct reading *reading = argument;
    const struct tdc_ge_file *file = reading->file;
    struct tdc_tensor *tensor = reading->tensor;
    *tensor = (struct tdc_tensor){.descriptor = -1};
    reading->status = tdc_ge_item(bytes_of(file), file->map.size, file->path, reading->list,
                                  reading->index, reading->item, reading->error);
    if (reading->status != TDC_OK)
        return;
    if (reading->list <= TDC_GE_OUTPUT) {
        reading->status = tdc_ge_tensor(bytes_of(file), file->path, reading->item, reading->stored,
                                        tensor, reading->error);
        return;
    }
    tensor->dtype = TDC_U8; /* bytes, in one row */
    tensor->dense = true;
    tensor->dimensions = 1;
    tensor->strides[0] = 1;
    tensor->shape[0] = tensor->count = reading->item->size;
    tensor->data = bytes_of(file) + reading->item->offset;
}

static tdc_status guarded(void (*read)(void *), struct reading *reading)
{
    if (!tdc_guarded_read(read, reading))
        return tdc_fail(reading->error, TDC_ERR_CHANGED, "%s: changed while it was read",
                        reading->file->path);
    return reading->status;
}

tdc_status tdc_ge_file_open(const char *path, struct tdc_ge_file *file, struct tdc_error *error)
{
    *file = (struct tdc_ge_file){.path = path};
    tdc_status status = tdc_file_map_open(path, &file->map, error);
    if (status != TDC_OK)
        return status;
    if (!tdc_guard_begin()) {
        tdc_file_map_close(&file->map);
        return tdc_fail(error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", path);
    }
    struct reading reading = {.file = file, .counts = file->counts, .error = error};
    status = guarded(count_items, &reading);
    if (status != TDC_OK)
        tdc_ge_file_close(file);
    return status;
}

void tdc_ge_file_close(struct tdc_ge_file *file)
{
    tdc_guard_end();
    tdc_file_map_close(&file->map);
}

tdc_status tdc_ge_file_tensor(const struct tdc_ge_file *file, enum tdc_ge_list list, uint64_t index,
                              bool stored, struct tdc_ge_item *item, struct tdc_tensor *tensor,
                              struct tdc_error *error)
{
    struct reading reading = {.file = file,
                              .list = list,
                              .index = index,
                              .stored = stored,
                              .item = item,
                              .tensor = tensor,
                              .error = error};
    return guarded(find_item, &reading);
}

tdc_status tdc_ge_file_counts(const char *path, uint64_t counts[2], struct tdc_error *error)
{
    struct tdc_ge_file file;
    tdc_status status = tdc_ge_file_open(path, &file, error);
    counts[0] = counts[1] = 0;
    if (status != TDC_OK)
        return status;
    counts[0] = file.counts[TDC_GE_INPUT];
    counts[1] = file.counts[TDC_GE_OUTPUT];
    tdc_ge_file_close(&file);
    return TDC_OK;
}
