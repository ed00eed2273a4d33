/*
 * tensor_statistics.c - what a dump says of a tensor.
 *
 * The tensor goes through the engine as a pair with itself: its kernels, threads and layouts are
 * all there is. One that is dense and small goes through the same kernel at once: a collector asks
 * for thousands of them, and what the engine sets up for a run takes longer than they do. What sums
 * over finite elements do not tell is read again, element by element: complex numbers, the signs of
 * infinities, squares beyond float64.
 */
#include <math.h>
#include <zlib.h>

#include "host/api/options.h"
#include "host/memory/buffer.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/file/mapping_guard.h"
#include "io/tensor/tensor_layout.h"
#include "kernels/dtype.h"

#define GATHERED ((size_t)4096)

/* Bytes up to which a dense tensor is reduced at once. */
#define AT_ONCE ((uint64_t)4 << 20)

static uint64_t magnitude_of(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* The axes from the longest stride to the shortest, neighbours that are one run as one axis: the
 * same elements in the order in which they lie. A transposed tensor becomes a dense one, of others
 * whole runs are gathered. */
static void order_by_strides(struct tdc_tensor *tensor)
{
    unsigned used = 0;
    for (unsigned axis = 0; axis < tensor->dimensions; axis++) {
        uint64_t length = tensor->shape[axis];
        int64_t stride = tensor->strides[axis];
        if (length == 1)
            continue;
        unsigned at = used++;
        for (; at != 0 && magnitude_of(tensor->strides[at - 1]) < magnitude_of(stride); at--) {
            tensor->shape[at] = tensor->shape[at - 1];
            tensor->strides[at] = tensor->strides[at - 1];
        }
        tensor->shape[at] = length;
        tensor->strides[at] = stride;
    }
    unsigned joined = 0;
    for (unsigned axis = 0; axis < used; axis++) {
        int64_t run;
        if (joined != 0 &&
            !__builtin_mul_overflow(tensor->strides[axis], tensor->shape[axis], &run) &&
            run == tensor->strides[joined - 1])
            tensor->shape[joined - 1] *= tensor->shape[axis];
        else
            tensor->shape[joined++] = tensor->shape[axis];
        tensor->strides[joined - 1] = tensor->strides[axis];
    }
    tensor->dimensions = joined;
    tdc_layout_dense(tensor);
}

typedef void visit_elements(void *context, const struct tdc_tensor *tensor,
                            const unsigned char *elements, size_t count);

/* All elements in C order, some at a time. */
static void visit(const struct tdc_tensor *tensor, visit_elements *function, void *context)
{
    unsigned char room[GATHERED * 16];
    for (uint64_t first = 0; first < tensor->count; first += GATHERED) {
        uint64_t left = tensor->count - first;
        size_t count = left < GATHERED ? (size_t)left : GATHERED;
        const unsigned char *elements = tdc_buffer_elements(tensor, first, count, room);
        function(context, tensor, elements, count);
    }
}

static void add_crc(void *context, const struct tdc_tensor *tensor, const unsigned char *elements,
                    size_t count)
{
    uint32_t *crc = context;
    *crc = (uint32_t)crc32_z(*crc, elements, count * tdc_dtype_size(tensor->dtype));
}

/* ---- moduli and infinities ------------------------------------------------------------------- */

struct moduli {
    struct tdc_buffer_statistics *out;
    double sum, scale, squares; /* the norm is scale * sqrt(squares) */
};

static void add_moduli(void *context, const struct tdc_tensor *tensor,
                       const unsigned char *elements, size_t count)
{
    struct moduli *moduli = context;
    struct tdc_buffer_statistics *out = moduli->out;
    size_t size = tdc_dtype_size(tensor->dtype);
    for (size_t i = 0; i < count; i++) {
        double imaginary, real = tdc_element_value(tensor->dtype, elements + i * size, &imaginary);
        double modulus = imaginary == 0 ? real : hypot(real, imaginary);
        if (tdc_dtype_is_complex(tensor->dtype))
            modulus = fabs(modulus);
        out->nan += isnan(modulus) ? 1 : 0;
        out->inf += isinf(modulus) ? 1 : 0;
        out->max = modulus > out->max || isnan(modulus) ? modulus : out->max;
        out->min = modulus < out->min || isnan(modulus) ? modulus : out->min;
        moduli->sum += modulus;
        double magnitude = fabs(modulus);
        if (magnitude > moduli->scale && isfinite(magnitude)) {
            double ratio = moduli->scale / magnitude;
            moduli->squares = moduli->squares * ratio * ratio + 1;
            moduli->scale = magnitude;
        } else if (magnitude != 0) {
            double ratio = isfinite(magnitude) ? magnitude / moduli->scale : magnitude;
            moduli->squares += ratio * ratio;
        }
    }
}

static void read_again(const struct tdc_tensor *tensor, struct tdc_buffer_statistics *out)
{
    struct moduli moduli = {.out = out};
    *out = (struct tdc_buffer_statistics){
        .elements = tensor->count, .max = -(double)INFINITY, .min = (double)INFINITY};
    visit(tensor, add_moduli, &moduli);
    out->mean = moduli.sum / (double)tensor->count;
    out->norm = moduli.squares == 0 ? 0 : moduli.scale * sqrt(moduli.squares);
    if (out->inf != 0)
        out->norm = (double)INFINITY;
    if (out->nan != 0)
        out->max = out->min = out->mean = out->norm = (double)NAN;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void from_outcome(const struct tdc_outcome *outcome, struct tdc_buffer_statistics *out)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    out->nan = sums->n_nan;
    if (sums->n_nan != 0) {
        out->inf = sums->n_inf;
        return;
    }
    out->max = sums->n_max;
    out->min = sums->n_min;
    out->mean = sums->n / (double)sums->count;
    out->norm = outcome->norms.n;
}

/* Whether squares have left the range of float64, or come near its lower end. */
static bool squares_left(const struct tdc_pair_sums *sums)
{
    bool zero = sums->n_max == 0 && sums->n_min == 0;
    return !zero && !(sums->nn > 1e-280 && sums->nn < (double)INFINITY);
}

struct at_once {
    const struct tdc_tensor *tensor;
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums;
};

static void reduce_chunks(void *argument)
{
    struct at_once *reduction = argument;
    const struct tdc_tensor *tensor = reduction->tensor;
    tdc_pair_clear(&reduction->sums);
    for (uint64_t first = 0; first < tensor->count; first += TDC_PAIR_CHUNK) {
        uint64_t left = tensor->count - first;
        size_t count = left < TDC_PAIR_CHUNK ? (size_t)left : TDC_PAIR_CHUNK;
        const unsigned char *elements = tensor->data + first * tdc_dtype_size(tensor->dtype);
        struct tdc_pair_sums chunk;
        tdc_pair_run(&reduction->plan, elements, elements, count, &chunk);
        tdc_pair_merge(&reduction->sums, &chunk);
    }
}

/* What the engine would find, to the bit. False: it is left to the engine. */
static bool reduce_at_once(const struct tdc_tensor *tensor, struct tdc_outcome *outcome)
{
    struct at_once reduction = {.tensor = tensor};
    if (!tensor->dense || tensor->count > AT_ONCE / tdc_dtype_size(tensor->dtype) ||
        !tdc_pair_plan_make(tensor->dtype, tensor->dtype, TDC_RELATIVE_F64,
                            tdc_cpu_variant_chosen(), &reduction.plan))
        return false;
    reduction.plan.extremes = true;
    if (!tdc_guard_begin())
        return false;
    bool whole = tdc_guarded_read(reduce_chunks, &reduction);
    tdc_guard_end();
    if (!whole || !tdc_pair_squares_hold(&reduction.plan, &reduction.sums))
        return false;
    outcome->sums = reduction.sums;
    tdc_pair_plain_norms(&reduction.sums, &outcome->norms);
    return true;
}

static tdc_status find(const struct tdc_tensor *tensor, const struct tdc_options *options,
                       struct tdc_buffer_statistics *out, struct tdc_error *error)
{
    if (tdc_dtype_is_complex(tensor->dtype)) {
        read_again(tensor, out);
        return TDC_OK;
    }
    struct tdc_outcome outcome = {0};
    struct tdc_job job = {
        .n_file = "tensor", .b_file = "tensor", .n_tensor = tensor, .b_tensor = tensor};
    tdc_status status = TDC_OK;
    if (!reduce_at_once(tensor, &outcome))
        status = tdc_memory_reduce(&job, TDC_RELATIVE_F64, options, &outcome, error);
    const struct tdc_pair_sums *sums = &outcome.sums;
    if (status == TDC_OK && sums->n_nan == 0 && (sums->n_inf != 0 || squares_left(sums)))
        read_again(tensor, out);
    else if (status == TDC_OK)
        from_outcome(&outcome, out);
    return status;
}

tdc_status tdc_buffer_statistics(const struct tdc_buffer *tensor, unsigned flags,
                                 const struct tdc_options *options,
                                 struct tdc_buffer_statistics *statistics, size_t size,
                                 struct tdc_error *error)
{
    double none = (double)NAN;
    struct tdc_buffer_statistics whole = {.max = none, .min = none, .mean = none, .norm = none};
    struct tdc_options read;
    struct tdc_tensor taken;
    tdc_sized_give(statistics, size, &whole, sizeof whole);
    if ((flags & ~(unsigned)TDC_BUFFER_CRC) != 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "unknown flags: %u", flags);
    tdc_status status = tdc_options_read(options, &read, error);
    if (status == TDC_OK)
        status = tdc_buffer_take(tensor, "tensor", &taken, error);
    if (status != TDC_OK)
        return status;
    whole.elements = taken.count;
    if ((flags & TDC_BUFFER_CRC) != 0) /* of the elements in C order */
        visit(&taken, add_crc, &whole.crc);
    order_by_strides(&taken);
    if (taken.count != 0)
        status = find(&taken, &read, &whole, error);
    if (status == TDC_OK)
        tdc_sized_give(statistics, size, &whole, sizeof whole);
    return status;
}
