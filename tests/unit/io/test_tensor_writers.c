/* What is written around elements, read back by the readers of dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "io/tensor/npy_writer.h"
#include "io/tensor/pickle/pt_writer.h"
#include "io/tensor/tensor_file.h"
#include "kernels/dtype.h"

#define MOST_BYTES ((size_t)1 << 20)

static unsigned char elements[512];

static void fill_elements(void)
{
    for (size_t i = 0; i < sizeof elements; i++)
        elements[i] = (unsigned char)(i * 37 % 251);
}

static size_t bytes_of(tdc_dtype dtype, unsigned rank, const uint64_t *shape)
{
    size_t bytes = tdc_dtype_size(dtype);
    for (unsigned d = 0; d < rank; d++)
        bytes *= (size_t)shape[d];
    assert_true(bytes <= sizeof elements);
    return bytes;
}

/* False when the writer refuses. */
static bool written(struct tdc_text *file, bool pt, tdc_dtype dtype, unsigned rank,
                    const uint64_t *shape)
{
    tdc_text_init(file, MOST_BYTES);
    struct tdc_pt_writer writer;
    bool begun = pt ? tdc_pt_head(&writer, file, "Torch.exp.0.forward.input.0", dtype, rank, shape)
                    : tdc_npy_head(file, dtype, rank, shape);
    if (!begun)
        return false;
    assert_int_equal(file->length % 64, 0);
    size_t size = bytes_of(dtype, rank, shape);
    tdc_text_add(file, (const char *)elements, size);
    if (!pt)
        return true;
    struct tdc_text tail;
    tdc_text_init(&tail, MOST_BYTES);
    assert_true(tdc_pt_tail(&writer, &tail, (uint32_t)crc32(0, elements, (uInt)size)));
    tdc_text_add(file, tail.data, tail.length);
    tdc_text_free(&tail);
    return true;
}

static void check(bool pt, tdc_dtype dtype, unsigned rank, const uint64_t *shape)
{
    struct tdc_text file;
    assert_true(written(&file, pt, dtype, rank, shape));
    struct tdc_tensor read;
    struct tdc_error error = {0};
    if (tdc_tensor_parse(file.data, file.length, pt ? TDC_TENSOR_PT : TDC_TENSOR_NPY, "made", &read,
                         &error) != TDC_OK)
        fail_msg("%s of rank %u: %s", tdc_dtype_name(dtype), rank, error.message);
    assert_int_equal(read.dtype, dtype);
    assert_int_equal(read.dimensions, rank);
    assert_true(read.dense || read.count == 0);
    for (unsigned d = 0; d < rank; d++)
        assert_int_equal(read.shape[d], shape[d]);
    assert_memory_equal(read.data, elements, bytes_of(dtype, rank, shape));
    tdc_text_free(&file);
}

static void every_dtype_and_rank(void **state)
{
    (void)state;
    fill_elements();
    static const uint64_t shape[] = {3, 2, 1, 2, 2, 1};
    for (unsigned dtype = TDC_BOOL; dtype < TDC_DTYPE_COUNT; dtype++) {
        const struct tdc_dtype_entry *entry = tdc_dtype_entry((tdc_dtype)dtype);
        for (unsigned rank = 0; rank <= 6; rank++) {
            if (entry->storage != NULL)
                check(true, (tdc_dtype)dtype, rank, shape);
            if (entry->numpy != NULL)
                check(false, (tdc_dtype)dtype, rank, shape);
        }
    }
}

/* Numbers of one, two, four, five and eight bytes in the pickle. */
static void large_sizes_of_nothing(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {
        255, 256, 65536, 0x7fffffff, 0x80000000, 0x8000000000, (uint64_t)1 << 47};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t shape[] = {0, sizes[i]};
        check(true, TDC_F32, 2, shape);
        check(false, TDC_F32, 2, shape);
    }
}

static void what_a_format_lacks_is_refused(void **state)
{
    (void)state;
    struct tdc_text file;
    uint64_t shape[] = {2, (uint64_t)1 << 32, (uint64_t)1 << 32};
    assert_false(written(&file, true, TDC_U16, 1, shape));
    tdc_text_free(&file);
    assert_false(written(&file, false, TDC_BF16, 1, shape));
    tdc_text_free(&file);
    assert_false(written(&file, true, TDC_F32, 2, shape)); /* too large for 32 bits */
    tdc_text_free(&file);
    assert_false(written(&file, true, TDC_F32, 3, shape)); /* for 64 */
    tdc_text_free(&file);
}

static void a_full_text_is_told(void **state)
{
    (void)state;
    uint64_t shape[] = {2};
    struct tdc_pt_writer writer;
    for (size_t limit = 0; limit < 200; limit += 40) {
        struct tdc_text text;
        tdc_text_init(&text, limit);
        assert_false(tdc_pt_head(&writer, &text, "x", TDC_F32, 1, shape));
        tdc_text_free(&text);
        tdc_text_init(&text, limit);
        assert_int_equal(tdc_npy_head(&text, TDC_F32, 1, shape), limit >= 128);
        tdc_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_and_rank),
        cmocka_unit_test(large_sizes_of_nothing),
        cmocka_unit_test(what_a_format_lacks_is_refused),
        cmocka_unit_test(a_full_text_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
