#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "io/tensor/tensor_list.h"
#include "tests/support/tensor_probe.h"
#include "tests/unit/io/made_zip.h"

/* A safetensors file of a header and 32 bytes 0, 1, 2, ... of data. */
static size_t made(const char *header, unsigned char *bytes)
{
    size_t length = strlen(header);
    made_put(bytes, length, 8);
    memcpy(bytes + 8, header, length);
    for (unsigned i = 0; i < 32; i++)
        bytes[8 + length + i] = (unsigned char)i;
    return 8 + length + 32;
}

#define TENSOR(name, dtype, shape, from, to)                                                       \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]" \
    "}"

static void safetensors_are_listed_in_order(void **state)
{
    (void)state;
    unsigned char bytes[1024];
    struct tdc_tensor_list list;
    struct tdc_error error = {0};
    size_t size = made(
        "{\"__metadata__\":{\"format\":\"pt\"}," TENSOR("b", "I16", "[2,3]", "4", "16") "," TENSOR(
            "a.w", "F4", "[3]", "0", "2") "," TENSOR("e", "F32", "[0,5]", "7", "7") "}",
        bytes);
    assert_int_equal(
        tdc_tensor_list_parse(bytes, size, TDC_LIST_SAFETENSORS, "f", NULL, &list, &error), TDC_OK);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0]->name, "b");
    const struct tdc_tensor *tensor = &list.items[0]->tensor;
    assert_int_equal(tensor->dtype, TDC_I16);
    assert_int_equal(tensor->count, 6);
    assert_int_equal(tensor->data[0], 4);
    assert_string_equal(list.items[1]->refusal, "dtype F4 is not supported");
    assert_int_equal(list.items[2]->tensor.count, 0);
    tdc_tensor_list_close(&list);
}

static void wrong_safetensors_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *reason;
    } cases[] = {
        {"[]", "no header"},
        {"{", "line 1"},
        {"{\"a\":3}", "not an object"},
        {"{" TENSOR("a", "F32", "[2]", "0", "4") "}", "do not fit"},
        {"{" TENSOR("a", "F32", "[9]", "0", "36") "}", "leave the file"},
        {"{" TENSOR("a", "F32", "[1]", "8", "4") "}", "leave the file"},
        {"{" TENSOR("a", "F32", "[-1]", "0", "4") "}", "no number from 0 on"},
        {"{" TENSOR("a", "F32", "[4611686018427387904,8]", "0", "0") "}", "too many elements"},
        {"{" TENSOR("a", "F64", "[4611686018427387904]", "0", "0") "}", "do not fit"},
        {"{" TENSOR("a", "U8", "[1]", "0", "1") "," TENSOR("a", "U8", "[1]", "0", "1") "}",
         "two tensors are called a"},
        {"{" TENSOR("a", "U8", "[1]", "0", "1") "}x", "line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[1024];
        struct tdc_tensor_list list;
        struct tdc_error error = {0};
        size_t size = made(cases[i].header, bytes);
        assert_int_not_equal(
            tdc_tensor_list_parse(bytes, size, TDC_LIST_SAFETENSORS, "f", NULL, &list, &error),
            TDC_OK);
        if (strstr(error.message, cases[i].reason) == NULL)
            fail_msg("%s: %s", cases[i].header, error.message);
        tdc_tensor_list_close(&list);
    }
}

/* A header that says it is longer than the file, or than any header may be. */
static void long_headers_are_refused(void **state)
{
    (void)state;
    unsigned char bytes[64] = "........{}";
    struct tdc_tensor_list list;
    struct tdc_error error = {0};
    made_put(bytes, 60, 8);
    assert_int_equal(
        tdc_tensor_list_parse(bytes, sizeof bytes, TDC_LIST_SAFETENSORS, "f", NULL, &list, &error),
        TDC_ERR_FORMAT);
    tdc_tensor_list_close(&list);
    made_put(bytes, UINT64_MAX, 8);
    assert_int_equal(
        tdc_tensor_list_parse(bytes, sizeof bytes, TDC_LIST_SAFETENSORS, "f", NULL, &list, &error),
        TDC_ERR_FORMAT);
    tdc_tensor_list_close(&list);
}

static const char array[] = "\x93NUMPY\1\0\x38\0{'descr': '<i2', 'fortran_order': False, 'shape': "
                            "(2,)}\n\1\0\2\0";

static void arrays_of_an_archive_have_its_names(void **state)
{
    (void)state;
    static struct made_zip zip;
    const struct made_member members[] = {
        {"x.npy", array, sizeof array - 1}, {"readme", "no", 2}, {"bad.npy", "none", 4}};
    struct tdc_tensor_list list;
    struct tdc_error error = {0};
    make_zip(&zip, members, 3, false);
    assert_int_equal(
        tdc_tensor_list_parse(zip.bytes, zip.size, TDC_LIST_NPZ, "f", NULL, &list, &error), TDC_OK);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[0]->name, "x");
    assert_int_equal(list.items[0]->tensor.count, 2);
    assert_int_equal(probe_sum_element(&list.items[0]->tensor, 1), 2);
    assert_non_null(list.items[1]->refusal);
    tdc_tensor_list_close(&list);
}

/* Members that share bytes would be counted twice by who adds up sizes. */
static void overlapping_members_are_refused(void **state)
{
    (void)state;
    static struct made_zip zip;
    const struct made_member members[] = {{"x.npy", array, sizeof array - 1},
                                          {"y.npy", array, sizeof array - 1}};
    struct tdc_tensor_list list;
    struct tdc_error error = {0};
    make_zip(&zip, members, 2, false);
    made_put(zip.bytes + zip.entry[1] + 42, zip.local[0], 4);
    memcpy(zip.bytes + zip.entry[1] + 46, "x.npy", 5);
    assert_int_equal(
        tdc_tensor_list_parse(zip.bytes, zip.size, TDC_LIST_NPZ, "f", NULL, &list, &error),
        TDC_ERR_FORMAT);
    assert_non_null(strstr(error.message, "overlapping"));
    tdc_tensor_list_close(&list);
}

/* protocol 2: {'m': {'w': [tensor, 3]}} in torch's words. */
static const char nested[] =
    "\x80\2}X\1\0\0\0m}X\1\0\0\0w](ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\n"
    "ShortStorage\nX\1\0\0\0"
    "0X\3\0\0\0cpuK\2tQK\0K\2\x85K\1\x85\x89}tRK\3ess.";

static void names_are_keys_and_places(void **state)
{
    (void)state;
    static struct made_zip zip;
    const struct made_member members[] = {{"a/data.pkl", nested, sizeof nested - 1},
                                          {"a/data/0", "\1\0\2\0", 4}};
    static const struct {
        const char *key, *name;
    } cases[] = {{NULL, "m.w.0"}, {"m", "w.0"}, {"m.w", "0"}};
    make_zip(&zip, members, 2, false);
    for (size_t i = 0; i < 3; i++) {
        struct tdc_tensor_list list;
        struct tdc_error error = {0};
        tdc_status status = tdc_tensor_list_parse(zip.bytes, zip.size, TDC_LIST_STATE, "f",
                                                  cases[i].key, &list, &error);
        if (status != TDC_OK)
            fail_msg("%s", error.message);
        assert_int_equal(list.count, 1);
        assert_string_equal(list.items[0]->name, cases[i].name);
        assert_int_equal(probe_sum_element(&list.items[0]->tensor, 1), 2);
        tdc_tensor_list_close(&list);
    }
    struct tdc_tensor_list list;
    struct tdc_error error = {0};
    assert_int_equal(
        tdc_tensor_list_parse(zip.bytes, zip.size, TDC_LIST_STATE, "f", "m.x", &list, &error),
        TDC_ERR_NOT_FOUND);
    tdc_tensor_list_close(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_are_listed_in_order),
        cmocka_unit_test(wrong_safetensors_are_refused),
        cmocka_unit_test(long_headers_are_refused),
        cmocka_unit_test(arrays_of_an_archive_have_its_names),
        cmocka_unit_test(overlapping_members_are_refused),
        cmocka_unit_test(names_are_keys_and_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
