/* offline_fill.c - rows of two folders of dump files: read, described and compared. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/source.h"
#include "host/graph/files/ge_file.h"
#include "host/graph/files/say.h"
#include "host/offline/offline_rows.h"
#include "io/base/error.h"
#include "io/base/team.h"
#include "io/base/text.h"
#include "io/file/mapping_guard.h"
#include "kernels/dtype.h"

#define REMARK_LIMIT ((size_t)1 << 14)

struct filling {
    struct tdc_offline_rows *rows;
    const struct tdc_options *options;
    atomic_size_t next;
    atomic_bool no_memory;
};

/* A side of a row, open. */
struct open_tensor {
    struct tdc_ge_file file;
    struct tdc_tensor tensor;
    struct tdc_ge_item item; /* of GE */
    bool ge, open;
};

static const char *plain_name(tdc_dtype dtype)
{
    const char *torch = tdc_dtype_entry(dtype)->torch;
    return torch != NULL ? torch + strlen("torch.") : tdc_dtype_entry(dtype)->name;
}

/* Types of GE as files state them; NULL: those that nobody reads. */
static const char *stored_name(const struct open_tensor *side)
{
    switch (side->item.type) {
    case TDC_GE_HIFLOAT8:
        return "hifloat8";
    case TDC_GE_UINT1:
        return "uint1";
    case TDC_GE_INT4:
    case TDC_GE_F8_E8M0:
        return NULL;
    default:
        return side->tensor.count == 0 ? NULL : plain_name(side->tensor.dtype);
    }
}

/* Of the array that a tensor becomes. */
static const char *array_name(const struct tdc_tensor *tensor)
{
    tdc_dtype dtype = tdc_source_dtype(tensor);
    if (tensor->coding == TDC_CODING_UINT1)
        return "uint8";
    if (dtype == TDC_BF16)
        return "float32";
    return plain_name(dtype == TDC_F8_E4M3 || dtype == TDC_F8_E5M2 ? TDC_F64 : dtype);
}

static tdc_status open_one(const struct tdc_offline_tensor *from, struct open_tensor *side,
                           struct tdc_error *error)
{
    const char *path = from->file->path;
    side->ge = from->file->type[0] != '\0';
    tdc_status status = side->ge ? tdc_ge_file_open(path, &side->file, error)
                                 : tdc_tensor_open(path, TDC_TENSOR_NPY, &side->tensor, error);
    if (status == TDC_OK && side->ge) {
        status = tdc_ge_file_tensor(&side->file, from->output ? TDC_GE_OUTPUT : TDC_GE_INPUT,
                                    from->place, false, &side->item, &side->tensor, error);
        if (status != TDC_OK)
            tdc_ge_file_close(&side->file);
    }
    side->open = status == TDC_OK;
    if (side->open && side->tensor.coding == TDC_CODING_HIF8)
        side->tensor.coding = TDC_CODING_HIF8_LOOSE; /* as CANN's tools read it */
    return status;
}

static void close_one(struct open_tensor *side)
{
    if (side->open && side->ge)
        tdc_ge_file_close(&side->file);
    else if (side->open)
        tdc_tensor_close(&side->tensor);
    side->open = false;
}

/* ---- shapes ------------------------------------------------------------------------------------
 */

static bool same_shape(const struct tdc_tensor *a, const struct tdc_tensor *b)
{
    return a->dimensions == b->dimensions &&
           memcmp(a->shape, b->shape, a->dimensions * sizeof *a->shape) == 0;
}

static void permute(struct tdc_tensor *tensor, const unsigned order[4])
{
    struct tdc_tensor old = *tensor;
    for (unsigned i = 0; i < 4; i++) {
        tensor->shape[i] = old.shape[order[i]];
        tensor->strides[i] = old.strides[order[i]];
        if (old.block != 0 && old.block_axis == order[i])
            tensor->block_axis = i;
    }
    tensor->dense = false;
}

/* Arrays of the original model may be NHWC or HWCN where GE's tensors read as NCHW. */
static void turn_to_format(const char *format, struct open_tensor *mine,
                           const struct tdc_tensor *golden)
{
    static const unsigned to_nhwc[] = {0, 2, 3, 1}, to_hwcn[] = {2, 3, 1, 0};
    struct tdc_tensor turned = mine->tensor;
    if (mine->tensor.dimensions != 4 || golden->dimensions != 4 || mine->item.format == TDC_GE_ND)
        return;
    if (strcmp(format, "NHWC") == 0)
        permute(&turned, to_nhwc);
    else if (strcmp(format, "HWCN") == 0)
        permute(&turned, to_hwcn);
    if (same_shape(&turned, golden))
        mine->tensor = turned;
}

struct shape {
    const uint64_t *sizes;
    unsigned dimensions;
};

static struct shape stored_shape(const struct open_tensor *side)
{
    return side->ge ? (struct shape){side->item.shape.dims, side->item.shape.dimensions}
                    : (struct shape){side->tensor.shape, side->tensor.dimensions};
}

/* By a rule, tensors that nothing is done to are compared as one row of numbers. */
static bool is_flat(const struct tdc_offline_row *row, const struct open_tensor *side)
{
    uint64_t format = side->item.format;
    bool plain = strcmp(row->format, "ND") == 0 || (row->format[0] == '\0' && format == TDC_GE_ND);
    return (plain && format != TDC_GE_FRACTAL_NZ && format != TDC_GE_NDC1HWC0) ||
           tdc_offline_is_scalar(side->item.shape.dims, side->item.shape.dimensions);
}

/* The shape a row tells: that of GE's file, or of what is compared. */
static struct shape shape_of(const struct tdc_offline_row *row, const struct open_tensor *side)
{
    if (row->stored || row->reason != NULL)
        return stored_shape(side);
    return is_flat(row, side) ? (struct shape){&side->tensor.count, 1}
                              : (struct shape){side->tensor.shape, side->tensor.dimensions};
}

static char *shape_text(struct shape shape, const char *between, char open, char close)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 12);
    tdc_text_addc(&text, open);
    tdc_text_add_sizes(&text, shape.sizes, shape.dimensions, between);
    tdc_text_addc(&text, close);
    char *copy = text.failed ? NULL : strdup(tdc_text_get(&text));
    tdc_text_free(&text);
    return copy;
}

/* ---- a row --------------------------------------------------------------------------------------
 */

static void add_remark(struct tdc_text *remark, const char *text)
{
    tdc_text_addf(remark, "%s%s", remark->length != 0 ? "," : "", text);
}

static void add_sizes(struct filling *filling, const struct tdc_offline_row *row,
                      const struct open_tensor sides[2], struct tdc_text *remark)
{
    struct shape shapes[2];
    for (int i = 0; i < 2; i++)
        shapes[i] = (struct shape){sides[i].tensor.shape, sides[i].tensor.dimensions};
    char *mine = shape_text(shapes[0], ", ", '(', ')');
    char *golden = shape_text(shapes[1], ", ", '(', ')');
    if (mine == NULL || golden == NULL)
        filling->no_memory = true;
    else
        tdc_text_addf(remark,
                      "[%s] Due to the different shapes on the left and right,the left dump data%s "
                      "can not be compared to the right dump data%s. Please check the batch of the "
                      "dump data or the shape may be changed due to optimization.",
                      row->op, mine, golden);
    free(mine);
    free(golden);
}

/* What is odd about metrics that could be computed. */
static void add_oddities(const struct tdc_offline_row *row, struct tdc_text *remark)
{
    const struct tdc_offline_result *result = row->result;
    if (result->scalar)
        add_remark(remark, "This tensor is scalar.");
    for (int side = 0; side < 2; side++)
        if (result->flat[side]) {
            add_remark(remark, "Cannot compare by Cosine Similarity. All the data is zero in ");
            tdc_text_addf(remark, "%s.", row->tensors[side].file->path);
        }
    for (int i = 0; i < TDC_OFFLINE_METRICS && result->truth; i++)
        if (i != TDC_OFFLINE_COSINE && i != TDC_OFFLINE_EUCLIDEAN) {
            add_remark(remark, "Algorithm ");
            tdc_text_addf(remark, "%s does not support Boolean types.", tdc_offline_metrics[i]);
        }
}

/* By the rules of both sides tensors of one format are compared without being rearranged. */
static void read_as_stored(const struct tdc_offline_row *row, struct open_tensor sides[2])
{
    struct tdc_tensor tensors[2];
    struct tdc_ge_item item;
    struct tdc_error error;
    for (int i = 0; i < 2; i++)
        if (tdc_ge_file_tensor(&sides[i].file,
                               row->tensors[i].output ? TDC_GE_OUTPUT : TDC_GE_INPUT,
                               row->tensors[i].place, true, &item, &tensors[i], &error) != TDC_OK)
            return;
    for (int i = 0; i < 2; i++)
        sides[i].tensor = tensors[i];
}

static void compare_open(struct filling *filling, struct tdc_offline_worker *worker,
                         struct tdc_offline_row *row, struct open_tensor sides[2],
                         struct tdc_text *remark)
{
    bool alike = sides[0].ge && sides[1].ge && sides[0].item.format == sides[1].item.format;
    if (!row->stored && alike)
        read_as_stored(row, sides);
    else if (!row->stored)
        turn_to_format(row->format, &sides[0], &sides[1].tensor);
    for (int side = 0; side < 2; side++) {
        row->dtypes[side] =
            row->stored ? stored_name(&sides[side]) : array_name(&sides[side].tensor);
        row->addresses[side] = sides[side].ge ? sides[side].item.address : 0;
    }
    bool fit = sides[0].tensor.count == sides[1].tensor.count;
    struct shape shape = fit ? shape_of(row, &sides[0]) : stored_shape(&sides[0]);
    row->shape = shape_text(shape, ",", '[', ']');
    if (row->shape == NULL) {
        filling->no_memory = true;
    } else if (!fit) {
        row->dtypes[0] = row->dtypes[1] = NULL;
        add_sizes(filling, row, sides, remark);
    } else if (sides[0].tensor.count == 0) {
        tdc_text_addf(remark, "The dump data size is 0 in '%s'.", row->tensors[0].file->path);
    } else {
        row->result = malloc(sizeof *row->result);
        bool scalar = tdc_offline_is_scalar(shape.sizes, shape.dimensions);
        tdc_status status = row->result != NULL
                                ? tdc_offline_measure(worker, &sides[0].tensor, &sides[1].tensor,
                                                      scalar, row->stored, row->result)
                                : TDC_ERR_MEMORY;
        filling->no_memory = filling->no_memory || status == TDC_ERR_MEMORY;
        if (status == TDC_OK) {
            add_oddities(row, remark);
            return;
        }
        free(row->result);
        row->result = NULL;
        add_remark(remark,
                   status == TDC_ERR_CHANGED ? "a file changed while it was read" : "not numbers");
    }
}

static void do_row(struct filling *filling, struct tdc_offline_worker *worker,
                   struct tdc_offline_row *row)
{
    struct open_tensor sides[2] = {0};
    struct tdc_text remark;
    struct tdc_error error = {0};
    tdc_text_init(&remark, REMARK_LIMIT);
    if (row->reason != NULL)
        tdc_text_adds(&remark, row->reason);
    tdc_status status = TDC_OK;
    for (int side = 0; side < 2 && status == TDC_OK && row->tensor != NULL; side++)
        if (row->tensors[side].file != NULL)
            status = open_one(&row->tensors[side], &sides[side], &error);
    if (status == TDC_ERR_MEMORY)
        filling->no_memory = true;
    else if (status != TDC_OK)
        add_remark(&remark, error.message);
    if (sides[0].open && row->reason != NULL) { /* described all the same */
        row->addresses[0] = sides[0].ge ? sides[0].item.address : 0;
        row->shape = shape_text(shape_of(row, &sides[0]), ",", '[', ']');
        if (row->shape == NULL)
            filling->no_memory = true;
    } else if (sides[0].open && sides[1].open) {
        compare_open(filling, worker, row, sides, &remark);
    }
    for (int side = 0; side < 2; side++)
        close_one(&sides[side]);
    row->remark = strdup(tdc_text_get(&remark));
    if (row->remark == NULL || remark.failed)
        filling->no_memory = true;
    tdc_text_free(&remark);
    if (filling->options->progress != NULL)
        filling->options->progress(filling->options->context, 1, 0);
}

/* ---- all rows -----------------------------------------------------------------------------------
 */

static void work(void *argument, int member)
{
    (void)member;
    struct filling *filling = argument;
    struct tdc_offline_worker *worker = tdc_offline_worker_new();
    if (worker == NULL)
        filling->no_memory = true;
    while (!filling->no_memory && !tdc_cancel_is_set(filling->options->cancel)) {
        size_t index = atomic_fetch_add(&filling->next, 1);
        if (index >= filling->rows->count)
            break;
        do_row(filling, worker, &filling->rows->rows[index]);
    }
    tdc_offline_worker_free(worker);
}

tdc_status tdc_offline_fill(struct tdc_offline_rows *rows, const struct tdc_options *options,
                            struct tdc_error *error)
{
    struct filling filling = {.rows = rows, .options = options};
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    int size = tdc_team_size(options->threads);
    if ((size_t)size > rows->count)
        size = rows->count > 1 ? (int)rows->count : 1;
    tdc_team_run(size, work, &filling);
    tdc_guard_end();
    if (tdc_cancel_is_set(options->cancel))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    return filling.no_memory ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory") : TDC_OK;
}

void tdc_offline_rows_free(struct tdc_offline_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->rows[i].shape);
        free(rows->rows[i].result);
        free(rows->rows[i].remark);
    }
}
