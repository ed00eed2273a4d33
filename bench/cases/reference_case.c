#include "bench/cases/reference_case.h"

#include "io/base/error.h"

#define MEMORY ((size_t)16 << 30) /* of address space; only what is touched counts */

struct prepared {
    struct tdc_reference_call call;
    struct tdc_reference_tensor *gradient;
    struct tdc_arena arena; /* of the results */
};

static double mixed(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    return (double)((i ^ i >> 27) >> 11) * 0x1p-53;
}

static void fill(struct tdc_reference_tensor *t, const struct tdc_case_argument *a)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->count; i++) {
        double v = mixed((uint64_t)i);
        if (a->fill == TDC_CASE_PLACES)
            t->whole[i] = (int64_t)(v * (double)a->number);
        else
            t->real[i] = a->fill == TDC_CASE_POSITIVE ? 1 + v : 2 * v - 1;
    }
}

static tdc_status compute(struct prepared *p, struct tdc_reference_results *results)
{
    tdc_arena_reset(&p->arena);
    return p->gradient == NULL
               ? tdc_reference_forward(&p->call, &p->arena, results)
               : tdc_reference_backward(&p->call, &p->gradient, 1, &p->arena, results);
}

static tdc_status run_once(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct prepared *p = context;
    struct tdc_reference_results results;
    double start = tdc_seconds();
    tdc_status status = compute(p, &results);
    laps[0] = tdc_seconds() - start;
    return status == TDC_OK ? TDC_OK : tdc_fail(error, status, "%s", results.reason);
}

static tdc_status make_arguments(const struct tdc_reference_case *wanted, struct tdc_arena *arena,
                                 struct tdc_reference_value *values, struct prepared *p,
                                 struct tdc_error *error)
{
    for (size_t i = 0; i < TDC_CASE_ARGUMENTS; i++) {
        const struct tdc_case_argument *a = &wanted->arguments[i];
        if (a->fill == TDC_CASE_END)
            break;
        p->call.argument_count = i + 1;
        if (a->fill == TDC_CASE_INT) {
            values[i] = (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = a->number};
            continue;
        }
        struct tdc_reference_tensor *t = tdc_reference_tensor_new(
            arena, a->fill == TDC_CASE_PLACES ? TDC_I64 : TDC_F64, a->rank, a->shape);
        if (t == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %s", wanted->api);
        fill(t, a);
        t->wants_gradient = wanted->backward && a->fill != TDC_CASE_PLACES;
        values[i] = (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
    }
    p->call.arguments = values;
    return TDC_OK;
}

/* A gradient of ones for the first output. */
static tdc_status make_gradient(struct prepared *p, struct tdc_arena *arena,
                                struct tdc_error *error)
{
    struct tdc_reference_results results;
    tdc_status status = compute(p, &results);
    if (status != TDC_OK)
        return tdc_fail(error, status, "%s", results.reason);
    const struct tdc_reference_tensor *y = results.values[0].tensor;
    struct tdc_reference_tensor *g = tdc_reference_tensor_new(arena, TDC_F64, y->rank, y->shape);
    if (g == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a gradient");
    for (int64_t i = 0; i < g->count; i++)
        g->real[i] = 1;
    p->gradient = g;
    return TDC_OK;
}

tdc_status tdc_reference_time(const struct tdc_reference_case *wanted, unsigned repeat,
                              double budget, const struct tdc_cancel *cancel, double *seconds,
                              struct tdc_error *error)
{
    struct tdc_reference_value values[TDC_CASE_ARGUMENTS];
    struct prepared p = {.call = {.definition = tdc_reference_find(wanted->api)}};
    struct tdc_arena arena;
    tdc_arena_init(&arena, MEMORY);
    tdc_arena_init(&p.arena, MEMORY);
    tdc_status status = make_arguments(wanted, &arena, values, &p, error);
    if (status == TDC_OK && wanted->backward)
        status = make_gradient(&p, &arena, error);
    struct tdc_work work = {.run = run_once, .context = &p};
    if (status == TDC_OK)
        status = tdc_measure(&work, 1, repeat, budget, cancel, error);
    *seconds = work.best[0];
    tdc_arena_free(&p.arena);
    tdc_arena_free(&arena);
    return status;
}
