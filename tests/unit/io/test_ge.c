#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/engine/source.h"
#include "io/tensor/ge/ge_dump.h"
#include "tests/support/tensor_probe.h"
#include "tests/unit/io/made_ge.h"

static struct made_bytes header, file;

static tdc_status parse(const char *name, struct tdc_tensor *tensor, struct tdc_error *error)
{
    return tdc_tensor_parse(file.bytes, file.size, TDC_TENSOR_BY_SUFFIX, name, tensor, error);
}

/* One tensor as the only output of its file. */
static void make_one(const struct made_ge_tensor *tensor, const void *data, bool packed)
{
    header.size = 0;
    made_tensor(&header, tensor, packed);
    made_file(&file, &header, data, (size_t)tensor->size);
}

static void inputs_lie_before_outputs(void **state)
{
    (void)state;
    static const float data[] = {1, 2, 3, 4, 5};
    const struct made_ge_tensor out = {true, 1, 2, 8, 1, 1, {2}, {2}};
    const struct made_ge_tensor first = {false, 1, 2, 4, 1, 1, {1}, {1}};
    const struct made_ge_tensor second = {false, 1, 2, 8, 2, 2, {1, 2}, {1, 2}};
    header.size = 0;
    made_number(&header, 2, 1234567890123u); /* what nothing here asks for */
    made_tensor(&header, &out, true);
    made_tensor(&header, &first, true);
    made_tensor(&header, &second, false);
    made_number(&header, 99, 7);
    made_file(&file, &header, data, sizeof data);
    static const struct {
        const char *name, *text;
    } wanted[] = {{"a,inputs,0", "float32 1/1 dense 0000803f"},
                  {"a,inputs,1", "float32 1,2/2,1 dense 0000004000004040"},
                  {"a,outputs,0", "float32 2/1 dense 000080400000a040"}};
    for (size_t i = 0; i < 3; i++) {
        struct tdc_tensor tensor;
        char text[256];
        assert_int_equal(parse(wanted[i].name, &tensor, NULL), TDC_OK);
        probe_describe(&tensor, text, sizeof text);
        assert_string_equal(text, wanted[i].text);
    }
    struct tdc_tensor tensor;
    struct tdc_error error;
    assert_int_equal(parse("a,inputs,2", &tensor, &error), TDC_ERR_NOT_FOUND);
    assert_int_equal(parse("a", &tensor, &error), TDC_ERR_UNSUPPORTED);
    uint64_t counts[TDC_GE_LISTS];
    assert_int_equal(tdc_ge_count(file.bytes, file.size, "a", counts, NULL), TDC_OK);
    assert_int_equal(counts[TDC_GE_INPUT], 2);
    assert_int_equal(counts[TDC_GE_OUTPUT], 1);
}

/* ---- formats --------------------------------------------------------------------------------- */

/* Where a format stores the element of the original index; written down from its definition, as
 * numbers of its axes. */
struct layout {
    const char *what;
    struct made_ge_tensor tensor;
    unsigned dimensions; /* that come out */
    uint64_t shape[5];
    uint64_t (*place)(const uint64_t *s, const uint64_t *i);
};

static uint64_t place_nz(const uint64_t *s, const uint64_t *i) /* s: C1 N1 N0 C0 */
{
    uint64_t c0 = s[3], n = s[1] * s[2];
    return (i[1] / c0 * n + i[0]) * c0 + i[1] % c0;
}

static uint64_t place_nz_of_many(const uint64_t *s, const uint64_t *i) /* s: h C1 N1 N0 C0 */
{
    return i[0] * s[1] * s[2] * s[3] * s[4] + place_nz(s + 1, i + 1);
}

static uint64_t place_nz_of_four(const uint64_t *s, const uint64_t *i) /* s: a b C1 N1 N0 C0 */
{
    return i[0] * s[2] * s[3] * s[4] * s[5] + place_nz(s + 2, i + 1);
}

static uint64_t place_nc1hwc0(const uint64_t *s, const uint64_t *i)
{
    return (((i[0] * s[1] + i[1] / s[4]) * s[2] + i[2]) * s[3] + i[3]) * s[4] + i[1] % s[4];
}

static uint64_t place_fractal_z(const uint64_t *s, const uint64_t *i) /* a window of 3 by 2 */
{
    return (((i[1] / s[3] * 3 + i[2]) * 2 + i[3]) * s[1] * s[2] + i[0]) * s[3] + i[1] % s[3];
}

static uint64_t place_nhwc(const uint64_t *s, const uint64_t *i)
{
    return ((i[0] * s[1] + i[2]) * s[2] + i[3]) * s[3] + i[1];
}

static uint64_t place_hwcn(const uint64_t *s, const uint64_t *i)
{
    return ((i[2] * s[1] + i[3]) * s[2] + i[1]) * s[3] + i[0];
}

static uint64_t place_ndc1hwc0(const uint64_t *s, const uint64_t *i)
{
    return ((((i[0] * s[1] + i[2]) * s[2] + i[1] / s[5]) * s[3] + i[3]) * s[4] + i[4]) * s[5] +
           i[1] % s[5];
}

static uint64_t place_2d(const uint64_t *s, const uint64_t *i)
{
    return i[0] * s[1] + i[1];
}

static const struct layout layouts[] = {
    {"NZ", {true, 9, 29, 0, 4, 2, {2, 2, 16, 16}, {24, 20}}, 2, {24, 20}, place_nz},
    {"NZ, one block", {true, 9, 29, 0, 4, 2, {1, 1, 16, 16}, {9, 16}}, 2, {9, 16}, place_nz},
    {"NZ, less than one", {true, 9, 29, 0, 4, 2, {1, 2, 16, 16}, {20, 5}}, 2, {20, 5}, place_nz},
    {"NZ of 3",
     {true, 9, 29, 0, 5, 3, {3, 2, 1, 16, 8}, {3, 10, 13}},
     3,
     {3, 10, 13},
     place_nz_of_many},
    {"NZ of 4",
     {true, 9, 29, 0, 6, 4, {1, 3, 2, 1, 4, 8}, {1, 3, 4, 13}},
     3,
     {3, 4, 13},
     place_nz_of_four},
    {"NC1HWC0",
     {true, 9, 3, 0, 5, 4, {2, 2, 6, 6, 16}, {2, 20, 6, 5}},
     4,
     {2, 20, 6, 5},
     place_nc1hwc0},
    {"FRACTAL_Z",
     {true, 9, 4, 0, 4, 4, {12, 2, 16, 16}, {20, 19, 3, 2}},
     4,
     {20, 19, 3, 2},
     place_fractal_z},
    {"NHWC", {true, 9, 1, 0, 4, 4, {2, 3, 5, 7}, {2, 7, 3, 5}}, 4, {2, 7, 3, 5}, place_nhwc},
    {"HWCN", {true, 9, 16, 0, 4, 4, {3, 5, 7, 2}, {2, 7, 3, 5}}, 4, {2, 7, 3, 5}, place_hwcn},
    {"NDC1HWC0",
     {true, 9, 32, 0, 6, 3, {1, 3, 2, 2, 4, 8}, {1, 11, 3}},
     5,
     {1, 11, 3, 2, 4},
     place_ndc1hwc0},
    {"NHWC of 2 axes is plain", {true, 9, 1, 0, 2, 4, {6, 7}, {1, 6, 7, 1}}, 2, {6, 7}, place_2d},
    {"no rule: as stored", {true, 9, 2, 0, 2, 4, {6, 7}, {1, 6, 7, 1}}, 2, {6, 7}, place_2d},
};

static void check_layout(const struct layout *layout)
{
    static uint32_t data[8192], gathered[8192];
    struct made_ge_tensor made = layout->tensor;
    made.size = 4;
    for (unsigned i = 0; i < made.dimensions; i++)
        made.size *= made.shape[i];
    for (uint32_t i = 0; i < 8192; i++)
        data[i] = i;
    make_one(&made, data, true);
    struct tdc_tensor tensor;
    struct tdc_error error = {0};
    if (parse("a,outputs,0", &tensor, &error) != TDC_OK)
        fail_msg("%s: %s", layout->what, error.message);
    assert_int_equal(tensor.dimensions, layout->dimensions);
    for (unsigned d = 0; d < tensor.dimensions; d++)
        assert_int_equal(tensor.shape[d], layout->shape[d]);
    assert_true(tdc_gather_elements(&tensor, 0, (size_t)tensor.count, gathered));
    for (uint64_t k = 0; k < tensor.count; k++) {
        uint64_t index[5], rest = k;
        for (unsigned d = tensor.dimensions; d-- > 0; rest /= tensor.shape[d])
            index[d] = rest % tensor.shape[d];
        if (gathered[k] != layout->place(made.shape, index))
            fail_msg("%s: element %u", layout->what, (unsigned)k);
    }
}

static void formats_read_in_the_original_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        check_layout(&layouts[i]);
}

/* ---- types ----------------------------------------------------------------------------------- */

static void expect_values(uint64_t type, const void *data, size_t size, unsigned count,
                          const double *values)
{
    const struct made_ge_tensor made = {true, type, 2, size, 1, 1, {count}, {count}};
    struct tdc_tensor tensor;
    unsigned char elements[64 * 16];
    make_one(&made, data, true);
    assert_int_equal(parse("a,outputs,0", &tensor, NULL), TDC_OK);
    assert_int_equal(tensor.count, count);
    assert_true(tdc_gather_elements(&tensor, 0, count, elements));
    tdc_dtype dtype = tdc_source_dtype(&tensor);
    for (unsigned i = 0; i < count; i++) {
        double imaginary;
        double value = tdc_element_value(dtype, elements + i * tdc_dtype_size(dtype), &imaginary);
        if (isnan(values[i]))
            assert_true(isnan(value));
        else
            assert_true(value == values[i]);
    }
}

static void packed_types_and_short_floats(void **state)
{
    (void)state;
    static const unsigned char nibbles[] = {0x81, 0x7f, 0x05}, bits[] = {0xa0, 0x80};
    expect_values(28, nibbles, 3, 5, (const double[]){1, -8, -1, 7, 5});
    expect_values(29, bits, 2, 9, (const double[]){1, 0, 1, 0, 0, 0, 0, 0, 1});
    static const unsigned char e4m3[] = {0x38, 0xb8, 0x7f, 0x01};
    expect_values(35, e4m3, 4, 4, (const double[]){1, -1, (double)NAN, 0x1p-9});
    static const unsigned char e5m2[] = {0x3c, 0xfc, 0x7d};
    expect_values(34, e5m2, 3, 3, (const double[]){1, -(double)INFINITY, (double)NAN});
    static const unsigned char e8m0[] = {127, 128, 255};
    expect_values(36, e8m0, 3, 3, (const double[]){1, 2, (double)NAN});
    /* zero, 1, the largest of four bits of exponent, infinities, NaN, the least, 2^-1 * 1.5 */
    static const unsigned char hif8[] = {0x00, 0x08, 0x6e, 0x6f, 0xef,
                                         0x80, 0x01, 0x1c, 0x10, 0x2f};
    expect_values(33, hif8, 10, 10,
                  (const double[]){0, 1, 0x1p15, (double)INFINITY, -(double)INFINITY, (double)NAN,
                                   0x1p-22, 0.75, 2, 0x1p3 * 1.875});
}

static void nothing_known_of_the_type_is_bytes(void **state)
{
    (void)state;
    const struct made_ge_tensor made = {true, 0, 2, 6, 2, 2, {2, 2}, {2, 2}};
    struct tdc_tensor tensor;
    make_one(&made, "abcdef", true);
    assert_int_equal(parse("a,outputs,0", &tensor, NULL), TDC_OK);
    assert_int_equal(tensor.dtype, TDC_I8);
    assert_int_equal(tensor.dimensions, 1);
    assert_int_equal(tensor.shape[0], 6);
}

/* ---- bad files ------------------------------------------------------------------------------- */

static void expect_status(const struct made_ge_tensor *made, tdc_status status, const char *text)
{
    static const unsigned char data[4096];
    struct tdc_tensor tensor;
    struct tdc_error error = {0};
    make_one(made, data, true);
    assert_int_equal(parse("a,outputs,0", &tensor, &error), status);
    if (strstr(error.message, text) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, text);
}

static void bad_items_are_told(void **state)
{
    (void)state;
    expect_status(&(struct made_ge_tensor){true, 13, 2, 4, 1, 1, {4}, {4}}, TDC_ERR_UNSUPPORTED,
                  "data type 13 cannot be read");
    expect_status(&(struct made_ge_tensor){true, 4711, 2, 4, 1, 1, {4}, {4}}, TDC_ERR_UNSUPPORTED,
                  "data type 4711");
    expect_status(&(struct made_ge_tensor){true, 1, 2, 24, 2, 2, {4, 3}, {4, 3}}, TDC_ERR_FORMAT,
                  "a shape of 48 bytes, of which there are 24");
    expect_status(
        &(struct made_ge_tensor){true, 1, 2, 24, 2, 2, {(uint64_t)1 << 32, (uint64_t)1 << 32}, {0}},
        TDC_ERR_FORMAT, "the shape is too large");
    expect_status(&(struct made_ge_tensor){true, 4, 29, 512, 4, 2, {1, 2, 16, 16}, {33, 5}},
                  TDC_ERR_FORMAT, "do not fit");
    expect_status(&(struct made_ge_tensor){true, 4, 4, 256, 4, 4, {1, 1, 16, 16}, {1, 1, 0, 3}},
                  TDC_ERR_FORMAT, "do not fit");
}

/* Every way to cut a file, and every byte of its header changed: an answer and no crash. */
static void no_cut_and_no_byte_leads_astray(void **state)
{
    (void)state;
    static const unsigned char data[512];
    const struct made_ge_tensor made = {true, 4, 29, 512, 4, 2, {1, 2, 16, 16}, {20, 5}};
    struct tdc_error error;
    make_one(&made, data, true);
    size_t whole = file.size, head = whole - 512;
    for (size_t size = 0; size < whole; size++) {
        tdc_status status =
            probe_parse_named(file.bytes, size, TDC_TENSOR_GE, "a,outputs,0", &error);
        assert_true(status != TDC_OK);
    }
    for (size_t i = 0; i < head; i++) {
        unsigned char kept = file.bytes[i];
        for (unsigned value = 0; value < 256; value++) {
            file.bytes[i] = (unsigned char)value;
            probe_parse_named(file.bytes, whole, TDC_TENSOR_GE, "a,outputs,0", &error);
        }
        file.bytes[i] = kept;
    }
}

static void a_length_beyond_the_file_is_told(void **state)
{
    (void)state;
    const struct made_ge_tensor made = {true, 4, 2, 4, 1, 1, {4}, {4}};
    struct tdc_error error;
    uint64_t counts[TDC_GE_LISTS];
    make_one(&made, "abcd", true);
    file.bytes[7] = 0x80;
    assert_int_equal(tdc_ge_count(file.bytes, file.size, "a", counts, &error), TDC_ERR_FORMAT);
    assert_non_null(strstr(error.message, "a: bad GE dump: a header of 92233720"));
    make_one(&made, "abcd", true);
    assert_int_equal(tdc_ge_count(file.bytes, file.size - 1, "a", counts, &error), TDC_ERR_FORMAT);
    assert_string_equal(error.message, "a: bad GE dump: the data of its tensors ends early");
    assert_int_equal(tdc_ge_count(file.bytes, 0, "a", counts, &error), TDC_ERR_FORMAT);
    /* none at all is no mistake */
    assert_int_equal(tdc_ge_count(file.bytes, 8, "a", counts, &error), TDC_OK);
    assert_int_equal(counts[TDC_GE_OUTPUT], 0);
}

static void names_end_in_list_and_number(void **state)
{
    (void)state;
    size_t length;
    enum tdc_ge_list list;
    uint64_t index;
    assert_true(tdc_ge_name("d/Add.Add.1.2.3,inputs,12", &length, &list, &index));
    assert_int_equal(length, strlen("d/Add.Add.1.2.3"));
    assert_int_equal(list, TDC_GE_INPUT);
    assert_int_equal(index, 12);
    assert_true(tdc_ge_name("x,outputs,0", &length, &list, &index));
    assert_int_equal(list, TDC_GE_OUTPUT);
    assert_false(tdc_ge_name("x,outputs,", &length, &list, &index));
    assert_false(tdc_ge_name("x,buffers,0", &length, &list, &index));
    assert_false(tdc_ge_name("x,outputs,1234567890", &length, &list, &index));
    assert_false(tdc_ge_name("outputs,1", &length, &list, &index));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_lie_before_outputs),
        cmocka_unit_test(formats_read_in_the_original_order),
        cmocka_unit_test(packed_types_and_short_floats),
        cmocka_unit_test(nothing_known_of_the_type_is_bytes),
        cmocka_unit_test(bad_items_are_told),
        cmocka_unit_test(no_cut_and_no_byte_leads_astray),
        cmocka_unit_test(a_length_beyond_the_file_is_told),
        cmocka_unit_test(names_end_in_list_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
