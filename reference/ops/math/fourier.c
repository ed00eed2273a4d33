/* Fourier transforms, and those of short stretches of a signal. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/complex_parts.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/matrix/fourier.h"
#include "reference/primitives/move.h"

/* What divides the result: n forward for "forward", n backward for "backward", sqrt(n) for both. */
static double divisor(tdc_evaluation *e, int64_t n, int sign)
{
    const tdc_call_value *v = tdc_argument(e, "norm");
    const char *norm = v->kind == TDC_VALUE_TEXT ? v->text : "backward";
    if (strcmp(norm, "ortho") == 0)
        return sqrt((double)n);
    if (strcmp(norm, "forward") == 0)
        return sign < 0 ? (double)n : 1;
    if (strcmp(norm, "backward") != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "norm '%.20s'", norm);
    return sign > 0 ? (double)n : 1;
}

static tdc_array *as_complex(tdc_array *x)
{
    x->complex = true;
    return x;
}

/* x[.., n, 2] cut or filled with zeros to `wanted` along a dimension. */
static tdc_array *with_length(tdc_evaluation *e, tdc_array *x, unsigned dim, int64_t wanted)
{
    int64_t n = x->shape[dim];
    if (wanted < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a transform needs at least one element");
    if (n > wanted)
        return as_complex(tdc_slice(e, x, dim, 0, wanted, 1));
    if (n == wanted)
        return x;
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[dim] = wanted - n;
    tdc_array *both[2] = {x, tdc_zeros(e, TDC_F64, x->rank, shape)};
    return as_complex(tdc_concatenate(e, both, 2, dim));
}

/* Along any dimension of the complex x, scaled by the norm. */
static tdc_array *transform_dim(tdc_evaluation *e, tdc_array *x, unsigned dim, int sign)
{
    double by = divisor(e, x->shape[dim], sign);
    unsigned last = x->rank - 2;
    tdc_array *y = tdc_transform(e, dim == last ? x : as_complex(tdc_swap(e, x, dim, last)), sign);
    if (dim != last)
        y = tdc_swap(e, y, dim, last);
    return as_complex(by == 1 ? y : tdc_scale(e, y, 1 / by));
}

/* From the first half of a spectrum, n / 2 + 1 elements, to n: the others are conjugates. The
 * imaginary parts of the first and, when n is even, of the last have no meaning and are dropped. */
static tdc_array *mirrored(tdc_evaluation *e, tdc_array *x, unsigned dim, int64_t n)
{
    int64_t half = n / 2 + 1;
    x = with_length(e, x, dim, half);
    struct tdc_parts z = tdc_split(e, x);
    tdc_array *inner = tdc_new_like(e, TDC_F64, z.im); /* 1 where the imaginary part counts */
    int64_t stride = 1;
    for (unsigned d = dim + 1; d < z.im->rank; d++)
        stride *= z.im->shape[d];
    for (int64_t i = 0; i < inner->count; i++) {
        int64_t k = i / stride % half;
        inner->real[i] = k != 0 && 2 * k != n;
    }
    z.im = tdc_mul(e, z.im, inner);
    int64_t more = n - half;
    if (more > 0) {
        tdc_array *re = tdc_flip(e, tdc_slice(e, z.re, dim, 1, more, 1), dim);
        tdc_array *im = tdc_flip(e, tdc_slice(e, z.im, dim, 1, more, 1), dim);
        z.re = tdc_concatenate(e, (tdc_array *const[]){z.re, re}, 2, dim);
        z.im = tdc_concatenate(e, (tdc_array *const[]){z.im, tdc_scale(e, im, -1)}, 2, dim);
    }
    return tdc_join(e, z);
}

enum kind {
    PLAIN = 0,
    HALF = 1,    /* of real numbers: half of the spectrum */
    REAL = 2,    /* from half of a spectrum to real numbers */
    INVERSE = 4, /* the other sign */
    SEVERAL = 8, /* along several dimensions */
    PAIR = 16    /* two by default */
};

/* The dimensions of the real or complex tensor and the lengths wanted along them, -1 for its own.
 */
static size_t read_dims(tdc_evaluation *e, unsigned rank, unsigned *dims, int64_t *lengths)
{
    int64_t list[TDC_REFERENCE_RANK];
    size_t count = 0, lengths_given = 0;
    bool several = (e->definition->variant & SEVERAL) != 0;
    if (tdc_given(e, several ? "s" : "n"))
        lengths_given = tdc_ints_argument(e, several ? "s" : "n", lengths, TDC_REFERENCE_RANK);
    bool pair = (e->definition->variant & PAIR) != 0;
    if (tdc_given(e, "dim"))
        count = tdc_ints_argument(e, "dim", list, TDC_REFERENCE_RANK);
    else
        count = pair ? 2 : lengths_given != 0 ? lengths_given : rank;
    if (count == 0 || count > rank || lengths_given > count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "lengths and dimensions do not fit");
    for (size_t i = 0; i < count; i++) {
        dims[i] =
            tdc_given(e, "dim") ? tdc_dimension(e, list[i], rank) : (unsigned)(rank - count + i);
        if (i >= lengths_given)
            lengths[i] = -1;
    }
    return count;
}

static void fourier(tdc_evaluation *e)
{
    int variant = e->definition->variant, sign = (variant & INVERSE) != 0 ? 1 : -1;
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dims[TDC_REFERENCE_RANK];
    int64_t lengths[TDC_REFERENCE_RANK];
    if (!x->complex)
        x = tdc_join(e, (struct tdc_parts){tdc_to_real(e, x), NULL});
    size_t count = read_dims(e, x->rank - 1, dims, lengths);
    unsigned last = dims[count - 1];
    for (size_t i = 0; i + 1 < count || ((variant & REAL) == 0 && i < count); i++)
        if (lengths[i] >= 0)
            x = with_length(e, x, dims[i], lengths[i]);
    int64_t real_length = lengths[count - 1] >= 0 ? lengths[count - 1] : 2 * (x->shape[last] - 1);
    for (size_t i = 0; i < count; i++)
        if ((variant & (REAL | HALF)) == 0 || dims[i] != last)
            x = transform_dim(e, x, dims[i], sign);
    if ((variant & HALF) != 0) {
        /* the real dimension comes first in theory; transforms along others commute with it */
        x = transform_dim(e, x, last, sign);
        x = as_complex(tdc_slice(e, x, last, 0, x->shape[last] / 2 + 1, 1));
    }
    if ((variant & REAL) != 0) {
        x = transform_dim(e, mirrored(e, x, last, real_length), last, sign);
        tdc_give(e, tdc_split(e, x).re);
        return;
    }
    tdc_give(e, x);
}

/* The zero frequency to the middle, or back. */
static void shift(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    bool wanted[TDC_REFERENCE_RANK], back = e->definition->variant != 0;
    tdc_dims_argument(e, "dim", x->rank - x->complex, wanted);
    for (unsigned d = 0; d < x->rank - x->complex; d++) {
        int64_t n = x->shape[d], first = back ? n / 2 : n - n / 2;
        if (!wanted[d] || first == 0 || first == n)
            continue;
        tdc_array *both[2] = {tdc_slice(e, x, d, first, n - first, 1),
                              tdc_slice(e, x, d, 0, first, 1)};
        bool was = x->complex;
        x = tdc_concatenate(e, both, 2, d);
        x->complex = was;
    }
    tdc_give(e, x);
}

/* ---- short stretches of a signal ------------------------------------------------------------- */

struct frames {
    int64_t size, hop;
    tdc_array *window; /* [size] */
};

static struct frames read_frames(tdc_evaluation *e)
{
    struct frames f = {.size = tdc_int_argument(e, "n_fft")};
    f.hop = tdc_given(e, "hop_length") ? tdc_int_argument(e, "hop_length") : f.size / 4;
    int64_t width = tdc_given(e, "win_length") ? tdc_int_argument(e, "win_length") : f.size;
    if (f.size < 1 || f.hop < 1 || width < 1 || width > f.size)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "n_fft, hop_length or win_length does not fit");
    if (tdc_given(e, "window")) {
        f.window = tdc_real_array_argument(e, "window");
        if (f.window->rank != 1 || f.window->shape[0] != width)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "the window has not win_length elements");
    } else {
        f.window = tdc_new(e, TDC_F64, 1, &width);
        for (int64_t i = 0; i < width; i++)
            f.window->real[i] = 1;
    }
    if (width < f.size) {
        int64_t left = (f.size - width) / 2, right = f.size - width - left;
        tdc_array *pieces[3] = {tdc_zeros(e, TDC_F64, 1, &left), f.window,
                                tdc_zeros(e, TDC_F64, 1, &right)};
        f.window = tdc_concatenate(e, pieces, 3, 0);
    }
    return f;
}

/* Where element i of the padded signal comes from, -1 for a zero. */
static int64_t padded_place(tdc_evaluation *e, int64_t i, int64_t pad, int64_t n, const char *mode)
{
    int64_t at = i - pad;
    if (at >= 0 && at < n)
        return at;
    if (strcmp(mode, "constant") == 0)
        return -1;
    if (strcmp(mode, "replicate") == 0)
        return at < 0 ? 0 : n - 1;
    if (strcmp(mode, "circular") == 0)
        return (at % n + n) % n;
    if (strcmp(mode, "reflect") != 0 || pad >= n)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "pad_mode '%.20s' of that signal", mode);
    return at < 0 ? -at : 2 * (n - 1) - at;
}

static bool one_sided(tdc_evaluation *e, bool real)
{
    return tdc_given(e, "onesided") ? tdc_bool_argument(e, "onesided") : real;
}

static void stft(tdc_evaluation *e)
{
    struct frames f = read_frames(e);
    tdc_array *x = tdc_array_argument(e, "input");
    struct tdc_parts z = tdc_split(e, x);
    bool batched = z.re->rank == 2, half = one_sided(e, z.im == NULL);
    if (z.re->rank != 1 && !batched)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a signal or a batch of signals expected");
    int64_t n = z.re->shape[z.re->rank - 1], batch = batched ? z.re->shape[0] : 1;
    int64_t pad = tdc_bool_argument(e, "center") ? f.size / 2 : 0;
    const char *mode = pad > 0 ? tdc_text_argument(e, "pad_mode") : "constant";
    if (n + 2 * pad < f.size)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the signal is shorter than a frame");
    int64_t count = (n + 2 * pad - f.size) / f.hop + 1;
    tdc_array *room = tdc_new(e, TDC_I64, 3, (const int64_t[]){batch, count, f.size});
    for (int64_t i = 0; i < room->count; i++) {
        int64_t at = i / f.size % count * f.hop + i % f.size;
        at = padded_place(e, at, pad, n, mode);
        room->whole[i] = at < 0 ? -1 : i / (f.size * count) * n + at;
    }
    struct tdc_parts framed = {tdc_mapped(e, z.re, room->whole, 3, room->shape, 0), NULL};
    framed.re = tdc_mul(e, framed.re, f.window);
    if (z.im != NULL)
        framed.im = tdc_mul(e, tdc_mapped(e, z.im, room->whole, 3, room->shape, 0), f.window);
    tdc_array *y = tdc_transform(e, tdc_join(e, framed), -1);
    if (half)
        y = tdc_slice(e, y, 2, 0, f.size / 2 + 1, 1);
    if (tdc_bool_argument(e, "normalized"))
        y = tdc_scale(e, y, 1 / sqrt((double)f.size));
    y = tdc_swap(e, y, 1, 2); /* frequencies, then frames */
    y = batched ? y : tdc_squeeze(e, y, 0);
    const tdc_call_value *form = tdc_argument(e, "return_complex");
    y->complex = form->kind == TDC_VALUE_NULL || tdc_bool_argument(e, "return_complex");
    tdc_give(e, y);
}

/* Frames [batch, count, size] added where they were taken; `from` elements of the start left out.
 */
static tdc_array *overlapped(tdc_evaluation *e, tdc_array *x, int64_t hop, int64_t from,
                             int64_t length)
{
    int64_t size = x->shape[2], count = x->shape[1];
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++) {
        int64_t at = i / size % count * hop + i % size - from;
        map[i] = at >= 0 && at < length ? i / (size * count) * length + at : -1;
    }
    return tdc_scatter_add(e, x, map, 2, (const int64_t[]){x->shape[0], length});
}

static void istft(tdc_evaluation *e)
{
    struct frames f = read_frames(e);
    tdc_array *x = tdc_array_argument(e, "input");
    if (!x->complex || (x->rank != 3 && x->rank != 4) || tdc_bool_argument(e, "return_complex"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "not the spectra of a real signal");
    bool batched = x->rank == 4;
    x = batched ? x : tdc_unsqueeze(e, x, 0);
    int64_t count = x->shape[2], pad = tdc_bool_argument(e, "center") ? f.size / 2 : 0;
    int64_t whole = f.size + f.hop * (count - 1);
    int64_t length = tdc_given(e, "length") ? tdc_int_argument(e, "length") : whole - 2 * pad;
    x = as_complex(tdc_swap(e, x, 1, 2));
    x = tdc_given(e, "onesided") && !tdc_bool_argument(e, "onesided") ? x
                                                                      : mirrored(e, x, 2, f.size);
    double by = tdc_bool_argument(e, "normalized") ? sqrt((double)f.size) : (double)f.size;
    tdc_array *y = tdc_split(e, as_complex(tdc_scale(e, tdc_transform(e, x, 1), 1 / by))).re;
    y = overlapped(e, tdc_mul(e, y, f.window), f.hop, pad, length);
    tdc_array *squares =
        tdc_expand(e, tdc_mul(e, f.window, f.window), 3, (const int64_t[]){1, count, f.size});
    tdc_array *weight = overlapped(e, squares, f.hop, pad, length);
    tdc_array *covered = tdc_relate(e, TDC_GT, tdc_constant(e, weight), tdc_number(e, 1e-11));
    y = tdc_div(e, y, tdc_select(e, covered, weight, tdc_number(e, 1)));
    tdc_give(e, batched ? y : tdc_squeeze(e, y, 0));
}

#define ONE "input, n=None, dim=-1, norm=None"
#define TWO "input, s=None, dim=None, norm=None"
#define STFT                                                                                       \
    "input, n_fft, hop_length=None, win_length=None, window=None, center=True, "                   \
    "pad_mode='reflect', normalized=False, onesided=None, return_complex=None, "                   \
    "align_to_window=None"
#define ROW(name, signature, variant)                                                              \
    {                                                                                              \
        name, TDC_IN_TORCH | TDC_IN_MINT, signature, fourier, variant, TDC_TAKES_COMPLEX           \
    }
static const struct tdc_operator rows[] = {
    ROW("fft.fft", ONE, PLAIN),
    ROW("fft.ifft", ONE, INVERSE),
    ROW("fft.rfft", ONE, HALF),
    ROW("fft.irfft", ONE, REAL | INVERSE),
    ROW("fft.hfft", ONE, REAL),
    ROW("fft.ihfft", ONE, HALF | INVERSE),
    ROW("fft.fftn", TWO, SEVERAL),
    ROW("fft.ifftn", TWO, SEVERAL | INVERSE),
    ROW("fft.rfftn", TWO, SEVERAL | HALF),
    ROW("fft.irfftn", TWO, SEVERAL | REAL | INVERSE),
    ROW("fft.fft2", TWO, SEVERAL | PAIR),
    ROW("fft.ifft2", TWO, SEVERAL | PAIR | INVERSE),
    ROW("fft.rfft2", TWO, SEVERAL | PAIR | HALF),
    ROW("fft.irfft2", TWO, SEVERAL | PAIR | REAL | INVERSE),
    {"fft.fftshift", TDC_IN_TORCH | TDC_IN_MINT, "input, dim=None", shift, 0, TDC_TAKES_COMPLEX},
    {"fft.ifftshift", TDC_IN_TORCH | TDC_IN_MINT, "input, dim=None", shift, 1, TDC_TAKES_COMPLEX},
    {"stft", TDC_IN_TORCH | TDC_IN_TENSOR, STFT, stft, 0, TDC_TAKES_COMPLEX},
    {"istft", TDC_IN_TORCH | TDC_IN_TENSOR,
     "input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, "
     "onesided=None, length=None, return_complex=False",
     istft, 0, TDC_TAKES_COMPLEX},
};
const struct tdc_operator_family tdc_fourier_family = TDC_FAMILY("Fourier transforms", rows);
