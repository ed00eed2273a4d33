/* Along rows: running sums and products, softmax. */
#include "reference/primitives/scan.h"

#include <math.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/vector/vector_math.h"
#include "reference/tape.h"

static int64_t row_length(const tdc_array *rows)
{
    return rows->shape[rows->rank - 1];
}

static int64_t row_count(const tdc_array *rows)
{
    return rows->count == 0 ? 0 : rows->count / row_length(rows);
}

/* Compensated: a plain running sum drifts by n ULP. */
struct running {
    double sum, lost;
};

static double run_on(const tdc_evaluation *e, struct running *r, double x)
{
    double next = tdc_partial(e, r->sum + x);
    if (isfinite(next) && !tdc_is_narrow(e))
        r->lost += fabs(r->sum) >= fabs(x) ? (r->sum - next) + x : (x - next) + r->sum;
    r->sum = next;
    return r->sum + r->lost;
}

static void bound_running_sums(tdc_evaluation *e, const tdc_array *x, tdc_array *y)
{
    int64_t n = row_length(x);
    double *errors = tdc_new_errors(e, y), magnitude = 0, carried = 0;
    for (int64_t i = 0; i < x->count; i++) {
        if (i % n == 0)
            magnitude = carried = 0;
        magnitude += fabs(x->real[i]);
        carried += tdc_error_at(x, i);
        errors[i] = carried + tdc_sum_weight((double)(i % n + 1)) * magnitude +
                    (i % n == 0 ? 0 : tdc_own_error(e, 0, y->real[i]));
    }
}

static void bound_running_products(tdc_evaluation *e, const tdc_array *x, tdc_array *y)
{
    int64_t n = row_length(x);
    double *errors = tdc_new_errors(e, y), carried = 0;
    for (int64_t i = 0; i < x->count; i++) {
        bool first = i % n == 0;
        double before = first ? 1 : y->real[i - 1];
        carried = (first ? 0
                         : tdc_error_times(x->real[i], carried) +
                               tdc_own_error(e, TDC_BASIC, y->real[i])) +
                  tdc_error_times(before, tdc_error_at(x, i));
        errors[i] = carried;
    }
}

static void pull_cumulative_sum(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = row_length(x);
    int64_t rows = row_count(x);
    TDC_SPREAD(x->count, r, rows, {
        struct running sum = {0, 0};
        for (int64_t i = n; i-- > 0;)
            g->real[r * n + i] = run_on(e, &sum, gradient->real[r * n + i]);
    });
    if (tdc_is_bounded(e)) {
        unsigned last = x->rank - 1;
        tdc_array *turned = tdc_cumulative_sum(e, tdc_flip(e, gradient, last));
        tdc_bound_as(g, tdc_flip(e, turned, last));
    }
    tdc_collect(e, x, g);
}

tdc_array *tdc_cumulative_sum(tdc_evaluation *e, tdc_array *rows)
{
    bool floating = tdc_dtype_is_floating(rows->dtype);
    tdc_array *y = tdc_new_like(e, floating ? TDC_F64 : TDC_I64, rows);
    int64_t n = row_length(rows), count = row_count(rows);
    TDC_SPREAD(rows->count, r, count, {
        struct running sum = {0, 0};
        uint64_t whole = 0;
        for (int64_t i = r * n; i < (r + 1) * n; i++) {
            if (floating)
                y->real[i] = run_on(e, &sum, rows->real[i]);
            else
                y->whole[i] = (int64_t)(whole += (uint64_t)rows->whole[i]);
        }
    });
    if (tdc_is_bounded(e) && floating)
        bound_running_sums(e, rows, y);
    tdc_note(e, y, pull_cumulative_sum, NULL, 1, &rows);
    return y;
}

/* Without dividing: from the right, tail = g_i + x_{i+1} * tail is d(sum)/d(prefix product i), and
 * the prefix before i multiplies it. */
static void pull_cumulative_product(tdc_evaluation *e, struct tdc_tape_node *node,
                                    tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = row_length(x);
    int64_t rows = row_count(x);
    TDC_SPREAD(x->count, r, rows, {
        double tail = 0;
        for (int64_t i = n; i-- > 0;) {
            int64_t at = r * n + i;
            double later = i + 1 < n ? tdc_partial(e, x->real[at + 1] * tail) : 0;
            tail = tdc_partial(e, gradient->real[at] + later);
            g->real[at] = tail * (i > 0 ? y->real[at - 1] : 1);
        }
    });
    tdc_collect(e, x, g);
}

tdc_array *tdc_cumulative_product(tdc_evaluation *e, tdc_array *rows)
{
    bool floating = tdc_dtype_is_floating(rows->dtype);
    tdc_array *y = tdc_new_like(e, floating ? TDC_F64 : TDC_I64, rows);
    int64_t n = row_length(rows), count = row_count(rows);
    TDC_SPREAD(rows->count, r, count, {
        double product = 1;
        uint64_t whole = 1;
        for (int64_t i = r * n; i < (r + 1) * n; i++) {
            if (floating)
                y->real[i] = product = tdc_partial(e, product * rows->real[i]);
            else
                y->whole[i] = (int64_t)(whole *= (uint64_t)rows->whole[i]);
        }
    });
    if (tdc_is_bounded(e) && floating)
        bound_running_products(e, rows, y);
    tdc_note(e, y, pull_cumulative_product, NULL, 1, &rows);
    return y;
}

double tdc_exponentials(const tdc_evaluation *e, double *y, const double *x, int64_t n, double *top)
{
    double m = -(double)INFINITY;
    for (int64_t i = 0; i < n; i++)
        m = x[i] > m || isnan(x[i]) ? x[i] : m;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] - m;
    tdc_steps(e, y, n);
    tdc_vexp(y, y, (size_t)n);
    tdc_steps(e, y, n);
    *top = m;
    return tdc_step(e, tdc_row_sum(e, y, n));
}

/* Both are off by what their exponents are, at the element and on average over the row, and by the
 * exponentials' and the sum's own error; the logarithm in absolute terms. */
static void bound_softmax(tdc_evaluation *e, const tdc_array *x, tdc_array *y, bool logarithm)
{
    int64_t n = row_length(x), count = row_count(x);
    double *errors = tdc_new_errors(e, y), weight = TDC_ELEMENTARY + e->bounds.inner;
    double sum_weight = tdc_sum_weight((double)n) + e->bounds.inner;
    TDC_SPREAD(x->count, r, count, {
        double top = -(double)INFINITY, mean = 0;
        for (int64_t i = r * n; i < (r + 1) * n; i++)
            top = x->real[i] > top ? x->real[i] : top;
        for (int64_t i = r * n; i < (r + 1) * n; i++) {
            double p = logarithm ? exp(y->real[i]) : y->real[i];
            double loss = weight * (1 + fabs(x->real[i] - top)) + tdc_error_at(x, i);
            mean += tdc_error_times(p, loss);
        }
        for (int64_t i = r * n; i < (r + 1) * n; i++) {
            double v = y->real[i], away = fabs(x->real[i] - top), shared = mean + sum_weight;
            if (logarithm)
                errors[i] = tdc_error_at(x, i) + shared +
                            TDC_BASIC * (fabs(x->real[i]) + fabs(top)) +
                            (TDC_BASIC + e->bounds.inner) * away + weight * fabs(v + away) +
                            tdc_own_error(e, TDC_BASIC, v);
            else
                errors[i] = tdc_error_times(v, weight * (1 + away) + tdc_error_at(x, i) + shared) +
                            tdc_own_error(e, TDC_BASIC, v);
        }
    });
}

static void pull_softmax(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    tdc_array *steps = NULL;
    if (tdc_is_narrow(e) || tdc_is_bounded(e)) {
        tdc_array *share = tdc_sum_dim(e, tdc_mul(e, y, gradient), y->rank - 1, true);
        steps = tdc_mul(e, y, tdc_sub(e, gradient, share));
    }
    if (tdc_is_narrow(e)) {
        tdc_collect(e, x, steps);
        return;
    }
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = row_length(x), rows = row_count(x);
    TDC_SPREAD(x->count, r, rows, {
        const double *p = y->real + r * n, *q = gradient->real + r * n;
        double *out = g->real + r * n;
        double sum = tdc_pairwise_dot(p, q, n);
        for (int64_t i = 0; i < n; i++)
            out[i] = p[i] * (q[i] - sum);
    });
    if (steps != NULL)
        tdc_bound_as(g, steps);
    tdc_collect(e, x, g);
}

tdc_array *tdc_softmax_rows(tdc_evaluation *e, tdc_array *rows)
{
    tdc_array *y = tdc_new_like(e, TDC_F64, rows);
    int64_t n = row_length(rows), count = row_count(rows);
    TDC_SPREAD(rows->count, r, count, {
        double top, *out = y->real + r * n;
        double sum = tdc_exponentials(e, out, rows->real + r * n, n, &top);
        for (int64_t i = 0; i < n; i++)
            out[i] /= sum;
    });
    if (tdc_is_bounded(e))
        bound_softmax(e, rows, y, false);
    tdc_note(e, y, pull_softmax, NULL, 1, &rows);
    return y;
}

static void pull_log_softmax(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    tdc_array *steps = NULL;
    if (tdc_is_narrow(e) || tdc_is_bounded(e)) {
        tdc_array *sum = tdc_sum_dim(e, gradient, gradient->rank - 1, true);
        tdc_array *probability = tdc_apply(e, TDC_EXP, tdc_constant(e, y));
        steps = tdc_sub(e, gradient, tdc_mul(e, probability, sum));
    }
    if (tdc_is_narrow(e)) {
        tdc_collect(e, x, steps);
        return;
    }
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = row_length(x), rows = row_count(x);
    TDC_SPREAD(x->count, r, rows, {
        const double *q = gradient->real + r * n;
        double *out = g->real + r * n, sum = tdc_pairwise_sum(q, n, 1);
        tdc_vexp(out, y->real + r * n, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            out[i] = q[i] - out[i] * sum;
    });
    if (steps != NULL)
        tdc_bound_as(g, steps);
    tdc_collect(e, x, g);
}

tdc_array *tdc_log_softmax_rows(tdc_evaluation *e, tdc_array *rows)
{
    tdc_array *y = tdc_new_like(e, TDC_F64, rows);
    int64_t n = row_length(rows), count = row_count(rows);
    TDC_SPREAD(rows->count, r, count, {
        const double *x = rows->real + r * n;
        double top, *out = y->real + r * n;
        double sum = tdc_exponentials(e, out, x, n, &top);
        tdc_vlog(&sum, &sum, 1);
        sum = tdc_step(e, sum);
        for (int64_t i = 0; i < n; i++)
            out[i] = x[i] - top;
        tdc_steps(e, out, n);
        for (int64_t i = 0; i < n; i++)
            out[i] -= sum;
    });
    if (tdc_is_bounded(e))
        bound_softmax(e, rows, y, true);
    tdc_note(e, y, pull_log_softmax, NULL, 1, &rows);
    return y;
}
