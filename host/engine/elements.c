#include "host/engine/elements.h"

#include <math.h>
#include <string.h>

#include "io/file/mapping_guard.h"
#include "kernels/dtype.h"

/* Elements gathered at a time: both sides fit the L2 cache. */
#define GATHERED ((size_t)2048)

struct visit {
    const struct tdc_open_pair *pair;
    tdc_visit_block *visit;
    void *context;
    unsigned char n[GATHERED * 16], b[GATHERED * 16];
};

static void visit_all(void *argument)
{
    struct visit *work = argument;
    const struct tdc_open_pair *pair = work->pair;
    for (uint64_t first = 0; first < pair->n.count; first += GATHERED) {
        uint64_t left = pair->n.count - first;
        size_t count = left < GATHERED ? (size_t)left : GATHERED;
        if (!tdc_gather_elements(&pair->n, first, count, work->n) ||
            !tdc_gather_elements(&pair->b, first, count, work->b))
            return; /* no numbers: the kernels have told */
        work->visit(work->context, first, count, work->n, work->b);
    }
}

bool tdc_pair_visit(const struct tdc_open_pair *pair, tdc_visit_block *visit, void *context)
{
    struct visit work = {.pair = pair, .visit = visit, .context = context};
    return tdc_guarded_read(visit_all, &work);
}

static bool alike(double n, double b)
{
    return isnan(n) || isnan(b) ? isnan(n) && isnan(b) : n == b;
}

static bool is_finite(double real, double imaginary)
{
    return isfinite(real) && isfinite(imaginary);
}

/* 64-bit integers as they are: float64 would round each before the difference. */
struct whole {
    bool negative;
    uint64_t size;
};

static bool is_whole(tdc_dtype dtype)
{
    return dtype == TDC_I64 || dtype == TDC_U64;
}

static struct whole whole_of(tdc_dtype dtype, const unsigned char *bytes)
{
    uint64_t bits;
    memcpy(&bits, bytes, sizeof bits);
    bool negative = dtype == TDC_I64 && bits >> 63 != 0;
    return (struct whole){negative, negative ? ~bits + 1 : bits};
}

static struct tdc_faced face_whole(struct whole n, struct whole b)
{
    struct tdc_faced faced = {.size = (double)b.size};
    faced.equal = n.negative == b.negative && n.size == b.size;
    if (n.negative != b.negative)
        faced.difference = (double)n.size + (double)b.size;
    else
        faced.difference = (double)(n.size > b.size ? n.size - b.size : b.size - n.size);
    return faced;
}

struct tdc_faced tdc_face(tdc_dtype n_dtype, const unsigned char *n, tdc_dtype b_dtype,
                          const unsigned char *b)
{
    if (is_whole(n_dtype) && is_whole(b_dtype))
        return face_whole(whole_of(n_dtype, n), whole_of(b_dtype, b));
    double n_imaginary, b_imaginary;
    double n_real = tdc_element_value(n_dtype, n, &n_imaginary);
    double b_real = tdc_element_value(b_dtype, b, &b_imaginary);
    struct tdc_faced faced = {.equal = alike(n_real, b_real) && alike(n_imaginary, b_imaginary)};
    faced.size = hypot(b_real, b_imaginary);
    if (faced.equal)
        return faced;
    faced.apart = !is_finite(n_real, n_imaginary) || !is_finite(b_real, b_imaginary);
    faced.difference = faced.apart ? HUGE_VAL : hypot(n_real - b_real, n_imaginary - b_imaginary);
    return faced;
}
