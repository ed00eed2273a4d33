#include "reference/primitives/window/taps.h"

#include <string.h>

#define MOST_COLUMNS 24 /* of a tile */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct tdc_taps without_taps(const struct tdc_windows *w)
{
    return (struct tdc_taps){.n = w->n, .places = 1, .plane = 1};
}

static void measure(struct tdc_taps *t)
{
    for (unsigned i = 0; i < t->n; i++) {
        t->places *= t->count[i];
        t->plane *= t->size[i];
    }
}

/* The coordinates of kernel element k. */
static void kernel_element(const struct tdc_windows *w, int64_t k, int64_t at[3])
{
    for (unsigned i = w->n; i-- > 0; k /= w->kernel[i])
        at[i] = k % w->kernel[i];
}

struct tdc_taps tdc_window_taps(tdc_evaluation *e, const struct tdc_windows *w)
{
    struct tdc_taps t = without_taps(w);
    t.taps = tdc_window_product(w, w->kernel);
    t.offset = tdc_take(e, t.taps, sizeof *t.offset);
    for (unsigned i = 0; i < w->n; i++) {
        t.count[i] = w->count[i];
        t.stride[i] = w->stride[i];
        t.size[i] = w->size[i];
    }
    measure(&t);
    for (int64_t k = 0; k < t.taps; k++) {
        int64_t at[3];
        kernel_element(w, k, at);
        for (unsigned i = 0; i < w->n; i++)
            t.offset[k][i] = at[i] * w->dilation[i] - w->before[i];
    }
    return t;
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* The kernel elements along one dimension by the residue of the image's elements they meet. */
struct residues {
    int64_t count;
    int64_t *of;    /* for each kernel element the number of its residue */
    int64_t *first; /* for each residue the first such element of the image */
};

static struct residues residues_of(tdc_evaluation *e, const struct tdc_windows *w, unsigned i)
{
    int64_t kernel = w->kernel[i], stride = w->stride[i];
    struct residues r = {0, tdc_take(e, kernel + 1, sizeof *r.of),
                         tdc_take(e, kernel + 1, sizeof *r.first)};
    for (int64_t k = 0; k < kernel; k++) {
        int64_t first = (k * w->dilation[i] - w->before[i]) % stride;
        first += first < 0 ? stride : 0;
        /* residues of successive elements come back after a period that divides the stride */
        if (k > 0 && first == r.first[0] && r.count == k)
            for (; k < kernel; k++)
                r.of[k] = k % r.count;
        else {
            r.first[r.count] = first;
            r.of[k] = r.count++;
        }
    }
    return r;
}

struct tdc_phase *tdc_window_phases(tdc_evaluation *e, const struct tdc_windows *w, int64_t *count)
{
    int64_t kernels = tdc_window_product(w, w->kernel), all = 1;
    struct residues along[3];
    for (unsigned i = 0; i < w->n; i++) {
        along[i] = residues_of(e, w, i);
        all *= along[i].count;
    }
    struct tdc_phase *phases = tdc_take(e, all + 1, sizeof *phases);
    for (int64_t p = 0; p < all; p++) {
        struct tdc_phase *phase = &phases[p];
        *phase = (struct tdc_phase){.taps = without_taps(w)};
        int64_t rest = p;
        for (unsigned i = w->n; i-- > 0; rest /= along[i].count) {
            int64_t first = along[i].first[rest % along[i].count], stride = w->stride[i];
            phase->first[i] = first;
            phase->taps.count[i] =
                first < w->size[i] ? (w->size[i] - first + stride - 1) / stride : 0;
            phase->taps.stride[i] = 1;
            phase->taps.size[i] = w->count[i];
        }
        measure(&phase->taps);
    }
    /* every kernel element to its phase: counted, given room, and put there */
    int64_t *home = tdc_take(e, kernels + 1, sizeof *home);
    for (int64_t k = 0; k < kernels; k++) {
        int64_t at[3];
        kernel_element(w, k, at);
        home[k] = 0;
        for (unsigned i = 0; i < w->n; i++)
            home[k] = home[k] * along[i].count + along[i].of[at[i]];
        phases[home[k]].taps.taps++;
    }
    for (int64_t p = 0; p < all; p++) {
        phases[p].kernel = tdc_take(e, phases[p].taps.taps, sizeof *phases[p].kernel);
        phases[p].taps.offset = tdc_take(e, phases[p].taps.taps, sizeof *phases[p].taps.offset);
        phases[p].taps.taps = 0;
    }
    for (int64_t k = 0; k < kernels; k++) {
        struct tdc_phase *phase = &phases[home[k]];
        int64_t at[3], t = phase->taps.taps++;
        kernel_element(w, k, at);
        phase->kernel[t] = k;
        for (unsigned i = 0; i < w->n; i++)
            phase->taps.offset[t][i] =
                (phase->first[i] + w->before[i] - at[i] * w->dilation[i]) / w->stride[i];
    }
    *count = 0;
    for (int64_t p = 0; p < all; p++)
        if (phases[p].taps.places > 0)
            phases[(*count)++] = phases[p];
    return phases;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Places side by side along the last dimension. */
struct run {
    int64_t column, length; /* in the strip */
    int64_t at[3];          /* of its first place, times the stride */
};

static int runs_of(const struct tdc_taps *t, int64_t place, int64_t places, struct run *runs)
{
    int count = 0;
    unsigned last = t->n - 1;
    for (int64_t done = 0; done < places;) {
        struct run *r = &runs[count++];
        int64_t rest = place + done, x = rest % t->count[last], left = t->count[last] - x;
        *r = (struct run){.column = done, .length = left < places - done ? left : places - done};
        for (unsigned i = t->n; i-- > 0; rest /= t->count[i])
            r->at[i] = rest % t->count[i] * t->stride[i];
        done += r->length;
    }
    return count;
}

/* The row of the image that the run meets at the tap, NULL when it is outside. */
static const double *row_of(const struct tdc_taps *t, const struct run *r, const int64_t *offset,
                            const double *plane)
{
    int64_t at = 0;
    for (unsigned i = 0; i + 1 < t->n; i++) {
        int64_t p = r->at[i] + offset[i];
        if (p < 0 || p >= t->size[i])
            return NULL;
        at = (at + p) * t->size[i + 1];
    }
    return plane + at;
}

static void pack_run(const struct tdc_taps *t, const struct run *r, const int64_t *offset,
                     const double *plane, double *to)
{
    unsigned last = t->n - 1;
    int64_t stride = t->stride[last], size = t->size[last], x = r->at[last] + offset[last];
    const double *row = row_of(t, r, offset, plane);
    int64_t first = 0, end = r->length;
    if (row == NULL)
        end = 0;
    else if (x < 0 || x + (r->length - 1) * stride >= size) {
        first = x < 0 ? (-x + stride - 1) / stride : 0;
        end = x >= size ? 0 : least((size - 1 - x) / stride + 1, end);
        first = least(first, end);
    }
    for (int64_t i = 0; i < first; i++)
        to[i] = 0;
    if (stride == 1 && first < end)
        memcpy(to + first, row + x + first, (size_t)(end - first) * sizeof *to);
    else
        for (int64_t i = first; i < end; i++)
            to[i] = row[x + i * stride];
    for (int64_t i = end; i < r->length; i++)
        to[i] = 0;
}

/* A strip whose runs lie inside the image at every tap is copied by whole strips, each run over the
 * end of the one before it: what is too much is written over, or lies in the last strip's slack. */
static bool all_inside(const struct tdc_taps *t, const struct run *runs, int count)
{
    bool inside = true;
    for (int64_t k = 0; k < t->taps && inside; k++)
        for (int i = 0; i < count && inside; i++)
            for (unsigned d = 0; d < t->n && inside; d++) {
                int64_t at = runs[i].at[d] + t->offset[k][d];
                int64_t span = d + 1 == t->n ? (runs[i].length - 1) * t->stride[d] : 0;
                inside = at >= 0 && at + span < t->size[d];
            }
    return inside;
}

/* Steps in the plane from coordinates 0. */
static int64_t steps_to(const struct tdc_taps *t, const int64_t *at)
{
    int64_t steps = 0;
    for (unsigned d = 0; d < t->n; d++)
        steps = steps * t->size[d] + at[d];
    return steps;
}

static inline void copy_strip(double *to, const double *from, int64_t width)
{
    for (int64_t i = 0; i < width; i += 4)
        memcpy(to + i, from + i, 4 * sizeof *to);
}

/* As far as whole strips can be read before the end of the image: how many depths were packed. */
static int64_t pack_inside(const struct tdc_taps *t, const struct run *runs, int count,
                           const double *image, int64_t channels, int64_t start, int64_t depth,
                           int64_t width, double *to)
{
    int64_t base[MOST_COLUMNS], wide = (width + 3) & ~(int64_t)3, farthest = 0, d = 0;
    for (int i = 0; i < count; i++)
        base[i] = steps_to(t, runs[i].at);
    for (int64_t k = 0; k < t->taps; k++) {
        int64_t steps = base[count - 1] + steps_to(t, t->offset[k]);
        farthest = steps > farthest ? steps : farthest;
    }
    /* the last channels' last places may not have a whole strip behind them */
    int64_t beyond = farthest + wide - t->plane;
    int64_t safe = beyond <= 0 ? channels : channels - (beyond + t->plane - 1) / t->plane;
    int64_t channel = start / t->taps, tap = start % t->taps;
    for (; d < depth && channel < safe; d++, to += width) {
        const double *from = image + channel * t->plane + steps_to(t, t->offset[tap]);
        for (int i = 0; i < count; i++)
            copy_strip(to + runs[i].column, from + base[i], wide);
        if (++tap == t->taps) {
            tap = 0;
            channel++;
        }
    }
    return d;
}

void tdc_pack_places(const struct tdc_tile *t, const struct tdc_taps *taps, const double *image,
                     int64_t channels, int64_t place, int64_t places, int64_t start, int64_t depth,
                     double *to)
{
    struct run runs[MOST_COLUMNS];
    int count = runs_of(taps, place, places, runs);
    int64_t width = tdc_strip_columns(t, places);
    int64_t channel = start / taps->taps, tap = start % taps->taps;
    int64_t d = 0;
    if (places == width && taps->stride[taps->n - 1] == 1 && all_inside(taps, runs, count)) {
        d = pack_inside(taps, runs, count, image, channels, start, depth, width, to);
        to += d * width;
        channel = (start + d) / taps->taps;
        tap = (start + d) % taps->taps;
    }
    const double *plane = image + channel * taps->plane;
    for (; d < depth; d++, to += width) {
        for (int i = 0; i < count; i++)
            pack_run(taps, &runs[i], taps->offset[tap], plane, to + runs[i].column);
        if (width > places)
            memset(to + places, 0, (size_t)(width - places) * sizeof *to);
        if (++tap == taps->taps) {
            tap = 0;
            plane += taps->plane;
        }
    }
}
