#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/engine/engine.h"
#include "tests/support/random_below.h"
#include "tests/support/tensor_folder.h"
#include "tests/unit/io/made_pt.h"

#define STORED 4096

/* Any shape of up to six dimensions with any strides that stay in the storage. */
static void random_view(struct tdc_tensor *tensor, const unsigned char *storage)
{
    static const tdc_dtype dtypes[] = {TDC_U8, TDC_F16, TDC_F32, TDC_F64, TDC_C128};
    memset(tensor, 0, sizeof *tensor);
    tensor->dtype = dtypes[random_below(5)];
    tensor->swapped = tensor->dtype != TDC_U8 && random_below(3) == 0;
    tensor->dimensions = (unsigned)random_below(7);
    tensor->count = 1;
    tensor->data = storage;
    uint64_t room = STORED / tdc_dtype_size(tensor->dtype);
    bool contiguous = random_below(3) == 0;
    for (unsigned d = tensor->dimensions; d-- > 0;) {
        tensor->shape[d] = 1 + random_below(4);
        uint64_t most = room / (tensor->shape[d] * 6);
        tensor->strides[d] = (int64_t)random_below(most < 4 ? most + 1 : 4);
        if (contiguous && random_below(4) != 0 && tensor->count * tensor->shape[d] < room / 6)
            tensor->strides[d] = (int64_t)tensor->count;
        tensor->count *= tensor->shape[d];
    }
    if (tensor->dimensions == 0 || random_below(2) == 0)
        return;
    tensor->block_axis = (unsigned)random_below(tensor->dimensions);
    tensor->block = 1 + random_below(3);
    tensor->block_way = (int64_t)random_below(4);
}

static void check_view(const struct tdc_tensor *tensor)
{
    size_t size = tdc_dtype_size(tensor->dtype);
    static unsigned char gathered[4096 * 16];
    uint64_t first = random_below(tensor->count), count = 1 + random_below(tensor->count - first);
    assert_true(tdc_gather_elements(tensor, first, count, gathered));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t rest = first + i;
        int64_t at = 0;
        for (unsigned d = tensor->dimensions; d-- > 0; rest /= tensor->shape[d]) {
            uint64_t place = rest % tensor->shape[d];
            bool blocked = tensor->block != 0 && tensor->block_axis == d;
            if (blocked)
                at += (int64_t)(place / tensor->block) * tensor->block_way;
            at += (int64_t)(blocked ? place % tensor->block : place) * tensor->strides[d];
        }
        const unsigned char *source = tensor->data + at * (int64_t)size;
        size_t unit = tensor->dtype == TDC_C128 ? size / 2 : size;
        for (size_t k = 0; k < size; k++) {
            size_t from = tensor->swapped ? k / unit * unit + unit - 1 - k % unit : k;
            assert_int_equal(gathered[i * size + k], source[from]);
        }
    }
}

static void views_are_walked_in_order(void **state)
{
    (void)state;
    static unsigned char storage[STORED];
    for (size_t i = 0; i < STORED; i++)
        storage[i] = (unsigned char)random_below(256);
    for (int i = 0; i < 20000; i++) {
        struct tdc_tensor tensor;
        random_view(&tensor, storage);
        check_view(&tensor);
    }
}

/* ---- views that repeat ----------------------------------------------------------------------- */

/* A pair of .pt files of one stored element that this pickle sees many times. */
static enum tdc_outcome_code open_repeated(const struct tensor_folder *folder, const char *pickle,
                                           size_t size, struct tdc_outcome *outcome)
{
    static const float stored = 1;
    static struct made_zip zip;
    memset(&zip, 0, sizeof zip);
    const struct made_member members[] = {{"a/data.pkl", pickle, size}, {"a/data/0", &stored, 4}};
    make_zip(&zip, members, 2, false);
    file_write(folder_file(&folder->data, "one.pt"), zip.bytes, zip.size);
    struct tdc_job job = {.n_folder = folder->data.path,
                          .n_file = "one.pt",
                          .b_folder = folder->data.path,
                          .b_file = "one.pt"};
    struct tdc_worker worker;
    struct tdc_open_pair pair;
    assert_int_equal(tdc_worker_init(&worker, &tdc_backend_cpu, NULL), TDC_OK);
    if (tdc_pair_open(&worker, &job, TDC_RELATIVE_F64, TDC_IO_AUTO, &pair, outcome))
        tdc_pair_close(&pair);
    tdc_worker_free(&worker);
    return outcome->code;
}

static void a_small_file_costs_no_minutes(void **state)
{
    (void)state;
    struct tensor_folder folder;
    struct tdc_outcome outcome;
    tensor_folder_make(&folder);
    /* 2^28 elements of stride 0, and one more */
    static const char most[] = TENSOR(STORAGE(FLOATS, "K\1"), "K\0(J\0\0\0\x10t(K\0t");
    static const char more[] = TENSOR(STORAGE(FLOATS, "K\1"), "K\0(J\1\0\0\x10t(K\0t");
    assert_int_equal(open_repeated(&folder, most, sizeof most - 1, &outcome), TDC_OUTCOME_COMPARED);
    assert_int_equal(outcome.count, 1 << 28);
    assert_int_equal(open_repeated(&folder, more, sizeof more - 1, &outcome),
                     TDC_OUTCOME_UNREADABLE);
    assert_int_equal(outcome.error.status, TDC_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(outcome.error.message, "one.pt: a view of 268435457 elements in a file"));
    tensor_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_walked_in_order),
        cmocka_unit_test(a_small_file_costs_no_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
