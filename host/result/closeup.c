/* closeup.c - the worst elements of a pair of tensors, and how its errors are spread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/dump/dump.h"
#include "host/engine/elements.h"
#include "host/judge/element_text.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "kernels/dtype.h"

#define BIN_APART ((size_t)TDC_CLOSEUP_BINS - 1)

static const struct {
    double below;
    const char *text;
} bins[TDC_CLOSEUP_BINS] = {
    {1e-8, "< 1e-08"},  {1e-7, "< 1e-07"},  {1e-6, "< 1e-06"},        {1e-5, "< 1e-05"},
    {1e-4, "< 0.0001"}, {1e-3, "< 0.001"},  {1e-2, "< 0.01"},         {1e-1, "< 0.1"},
    {1, "< 1"},         {HUGE_VAL, ">= 1"}, {HUGE_VAL, "not finite"},
};

const char *tdc_closeup_bin(size_t bin)
{
    return bin < TDC_CLOSEUP_BINS ? bins[bin].text : "";
}

/* An element on the list, before it has texts. */
struct kept {
    uint64_t at;
    double difference, relative;
    struct tdc_element n, b;
};

struct looking {
    const struct tdc_pair_plan *plan;
    struct tdc_closeup *closeup;
    struct kept kept[TDC_CLOSEUP_ELEMENTS]; /* the largest first; of equal ones the first */
    size_t count;
};

static size_t bin_of(const struct tdc_faced *faced, double relative)
{
    size_t bin = 0;
    if (faced->apart)
        return BIN_APART;
    while (bin + 1 < BIN_APART && !(relative < bins[bin].below))
        bin++;
    return bin;
}

static void keep(struct looking *looking, const struct kept *found)
{
    size_t at = looking->count;
    while (at > 0 && looking->kept[at - 1].difference < found->difference)
        at--;
    if (at == TDC_CLOSEUP_ELEMENTS)
        return;
    size_t moved =
        looking->count < TDC_CLOSEUP_ELEMENTS ? looking->count - at : TDC_CLOSEUP_ELEMENTS - 1 - at;
    memmove(&looking->kept[at + 1], &looking->kept[at], moved * sizeof *found);
    looking->kept[at] = *found;
    looking->count += looking->count < TDC_CLOSEUP_ELEMENTS;
}

static void look_at(void *context, uint64_t first, size_t count, const unsigned char *n,
                    const unsigned char *b)
{
    struct looking *looking = context;
    tdc_dtype n_dtype = looking->plan->n_dtype, b_dtype = looking->plan->b_dtype;
    size_t n_size = tdc_dtype_size(n_dtype), b_size = tdc_dtype_size(b_dtype);
    for (size_t i = 0; i < count; i++) {
        struct tdc_faced faced = tdc_face(n_dtype, n + i * n_size, b_dtype, b + i * b_size);
        looking->closeup->elements++;
        looking->closeup->equal += faced.equal;
        if (faced.equal)
            continue;
        double relative = faced.size > 0 ? faced.difference / faced.size : HUGE_VAL;
        looking->closeup->bins[bin_of(&faced, relative)]++;
        struct kept found = {first + i, faced.difference, relative, {{0}}, {{0}}};
        memcpy(found.n.bytes, n + i * n_size, n_size);
        memcpy(found.b.bytes, b + i * b_size, b_size);
        keep(looking, &found);
    }
}

static void put_value(tdc_dtype dtype, const struct tdc_element *element, struct tdc_text *text,
                      char *room, size_t size)
{
    double number;
    tdc_text_clear(text);
    if (tdc_element_number(dtype, element, &number, text))
        tdc_text_addf(text, "%.9g", number);
    snprintf(room, size, "%s", tdc_text_get(text));
}

static tdc_status name_kept(const struct looking *looking, const char *shape,
                            struct tdc_closeup *closeup, struct tdc_error *error)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 16);
    for (size_t i = 0; i < looking->count && !text.failed; i++) {
        const struct kept *kept = &looking->kept[i];
        struct tdc_closeup_element *element = &closeup->element[i];
        element->difference = kept->difference;
        element->relative = kept->relative;
        put_value(looking->plan->n_dtype, &kept->n, &text, element->test, sizeof element->test);
        put_value(looking->plan->b_dtype, &kept->b, &text, element->ref, sizeof element->ref);
        tdc_text_clear(&text);
        tdc_index_text(&text, shape, kept->at);
        snprintf(element->position, sizeof element->position, "%s", tdc_text_get(&text));
    }
    closeup->worst = looking->count;
    bool failed = text.failed;
    tdc_text_free(&text);
    return failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory") : TDC_OK;
}

static tdc_status explain(const struct tdc_outcome *outcome, const struct tdc_job *job,
                          struct tdc_error *error)
{
    switch (outcome->code) {
    case TDC_OUTCOME_EMPTY:
        return TDC_OK;
    case TDC_OUTCOME_SHAPES_DIFFER:
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s: the shapes of the two tensors differ",
                        job->n_file);
    case TDC_OUTCOME_NOT_NUMBERS:
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: its elements are no numbers", job->n_file);
    case TDC_OUTCOME_UNREADABLE:
    case TDC_OUTCOME_COMPARED:
        break;
    }
    if (error != NULL)
        *error = outcome->error;
    return outcome->error.status != TDC_OK ? outcome->error.status : TDC_ERR_READ;
}

static tdc_status look(struct tdc_worker *worker, const struct tdc_job *job, const char *shape,
                       struct tdc_closeup *closeup, struct tdc_error *error)
{
    struct tdc_open_pair pair;
    struct tdc_outcome outcome = {0};
    if (!tdc_pair_open(worker, job, TDC_RELATIVE_F64, TDC_IO_MMAP, &pair, &outcome))
        return explain(&outcome, job, error);
    struct looking looking = {.plan = &pair.plan, .closeup = closeup};
    bool whole = tdc_pair_visit(&pair, look_at, &looking);
    tdc_status status =
        whole ? name_kept(&looking, shape, closeup, error)
              : tdc_fail(error, TDC_ERR_CHANGED, "%s: it shrank while it was read", job->n_file);
    tdc_pair_close(&pair);
    return status;
}

static tdc_status need_file(const struct tdc_dump *dump, size_t record, const char *side,
                            struct tdc_error *error)
{
    if (record >= dump->record_count)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s has no such record", side);
    if (dump->records[record].scalar || !tdc_record_has_file(&dump->records[record]) ||
        dump->data_folder == NULL)
        return tdc_fail(error, TDC_ERR_NOTHING, "%s has no tensor file of it", side);
    return TDC_OK;
}

tdc_status tdc_closeup_make(const tdc_dump *test, size_t test_record, const tdc_dump *ref,
                            size_t ref_record, struct tdc_closeup *closeup, size_t size,
                            struct tdc_error *error)
{
    tdc_status status = need_file(test, test_record, "test", error);
    if (status == TDC_OK)
        status = need_file(ref, ref_record, "ref", error);
    if (status != TDC_OK)
        return status;
    struct tdc_closeup whole = {0};
    struct tdc_worker worker;
    const struct tdc_job job = {
        .n_folder = test->data_folder,
        .n_file = test->records[test_record].data_name,
        .b_folder = ref->data_folder,
        .b_file = ref->records[ref_record].data_name,
    };
    status = tdc_worker_init(&worker, &tdc_backend_cpu, error);
    if (status == TDC_OK)
        status = look(&worker, &job, test->records[test_record].shape, &whole, error);
    tdc_worker_free(&worker);
    if (status == TDC_OK)
        tdc_sized_give(closeup, size, &whole, sizeof whole);
    return status;
}
