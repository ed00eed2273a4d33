#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/tensor_probe.h"

/* Values are what numpy's tobytes() says. */
struct expected {
    const char *file;
    const char *text;
};

#define ROWS_4_6                                                                                   \
    "a6db43bf404a45bf30256f3f75ca95bf2e71254042f9663f59b9cd3f464f1dbfa4d2603fbef9a2bfb0cb813f"     \
    "0d5b5cbe55952b3f9997be3e28f9f23eee7042bfabb8fbbd3c5e593f0811763f1f62973fba33fbbf19b7cfbf"     \
    "98c0fc3e13d08ebf"
#define ROWS_4_6_SWAPPED                                                                           \
    "bf43dba6bf454a403f6f2530bf95ca754025712e3f66f9423fcdb959bf1d4f463f60d2a4bfa2f9be3f81cbb0"     \
    "be5c5b0d3f2b95553ebe97993ef2f928bf4270eebdfbb8ab3f595e3c3f7611083f97621fbffb33babfcfb719"     \
    "3efcc098bf8ed013"

static const struct expected readable[] = {
    {"fortran.npy", "float32 4,6/1,4 " ROWS_4_6},
    {"big_endian.npy", "float32 4,6/6,1 dense swapped " ROWS_4_6_SWAPPED},
    {"text_one.npy", "text 2/1 dense 6100000062000000"},
    {"text_three.npy", "text 2/1 dense 310000000000000000000000320000002e00000035000000"},
    {"zero_d.npy", "float32  dense 5f21da3d"},
    {"empty.npy", "float32 0/1 dense "},
    {"bool.npy", "bool 4,6/6,1 dense 000001000101010001000100010101000001010100000100"},
    {"int64.npy", "int64 2/1 dense 01000000000000000200000000000000"},
    {"numpy2_gi8.npy", "int64 2,3/3,1 dense swapped 0000000000000000000000000000000100000000000000"
                       "02000000000000000300000000000000040000000000000005"},
    {"numpy2_gc8.npy", "complex64 2,3/3,1 dense swapped 00000000000000003f8000000000000040000000"
                       "000000004040000000000000408000000000000040a0000000000000"},
    {"numpy2_lf16.npy",
     "longdouble 2,3/3,1 dense 000000000000000000000000000000000000000000000080ff3f00000000000000"
     "00000000000080004000000000000000000000000000c000400000000000000000000000000080014000000000000"
     "0"
     "00000000000000a00140000000000000"},
    {"numpy2_nS2.npy", "text 2,3/3,1 dense 300031003200330034003500"},
    {"numpy2_gU3.npy",
     "text 2,3/3,1 dense swapped 0000003000000000000000000000003100000000000000"
     "0000000032000000000000000000000033000000000000000000000034000000000000000000"
     "0000350000000000000000"},
    {"numpy2_v2.npy", "float32 2,3/3,1 dense 000000000000803f0000004000004040000080400000a040"},
    {"numpy2_v3.npy", "float32 2,3/3,1 dense 000000000000803f0000004000004040000080400000a040"},
};

static void real_files_give_numpys_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        char path[512], text[2048];
        struct tdc_tensor tensor;
        struct tdc_error error = {0};
        snprintf(path, sizeof path, TDC_TEST_DATA "/tensors/%s", readable[i].file);
        if (tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error) != TDC_OK)
            fail_msg("%s", error.message);
        probe_describe(&tensor, text, sizeof text);
        assert_string_equal(text, readable[i].text);
        assert_int_equal(tensor.map_size != 0, 1);
        tdc_tensor_close(&tensor);
        assert_null(tensor.map);
    }
}

static void text_width_and_kind_are_told(void **state)
{
    (void)state;
    struct tdc_tensor tensor;
    assert_int_equal(tdc_tensor_open(TDC_TEST_DATA "/tensors/text_three.npy", TDC_TENSOR_BY_SUFFIX,
                                     &tensor, NULL),
                     TDC_OK);
    assert_int_equal(tensor.text_width, 12);
    assert_true(tensor.text_wide);
    tdc_tensor_close(&tensor);
    assert_int_equal(
        tdc_tensor_open(TDC_TEST_DATA "/tensors/numpy2_nS2.npy", TDC_TENSOR_NPY, &tensor, NULL),
        TDC_OK);
    assert_int_equal(tensor.text_width, 2);
    assert_false(tensor.text_wide || tensor.opaque);
    tdc_tensor_close(&tensor);
    static const char *const raw[] = {TDC_TEST_DATA "/tensors/void.npy",
                                      TDC_TEST_DATA "/tensors/numpy2_bf16.npy"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(tdc_tensor_open(raw[i], TDC_TENSOR_NPY, &tensor, NULL), TDC_OK);
        assert_true(tensor.dtype == TDC_TEXT && tensor.opaque);
        tdc_tensor_close(&tensor);
    }
}

static void unsupported_files_say_why(void **state)
{
    (void)state;
    static const struct expected refused[] = {
        {"numpy2_object.npy", "objects"},
        {"numpy2_struct.npy", "structured"},
        {"numpy2_date.npy", "M8[D]"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char path[512];
        struct tdc_tensor tensor;
        struct tdc_error error = {0};
        snprintf(path, sizeof path, TDC_TEST_DATA "/tensors/%s", refused[i].file);
        assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error),
                         TDC_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.message, refused[i].text));
        assert_non_null(strstr(error.message, refused[i].file));
        assert_null(tensor.data);
    }
}

/* A version 1.0 file with this header text and 48 bytes of data, parsed. */
static tdc_status parse_header(const char *header, struct tdc_tensor *tensor,
                               struct tdc_error *error)
{
    static unsigned char bytes[4096];
    size_t length = strlen(header);
    memcpy(bytes, "\x93NUMPY\1\0", 8);
    bytes[8] = (unsigned char)(length & 0xff);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, header, length);
    for (size_t i = 0; i < 48; i++)
        bytes[10 + length + i] = (unsigned char)i;
    return tdc_tensor_parse(bytes, 10 + length + 48, TDC_TENSOR_NPY, "made", tensor, error);
}

struct header_case {
    const char *header;
    tdc_status status;
    const char *text; /* part of the message, or the start of the description */
};

static void run_cases(const struct header_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tdc_tensor tensor;
        struct tdc_error error = {0};
        tdc_status status = parse_header(cases[i].header, &tensor, &error);
        if (status != cases[i].status)
            fail_msg("%s: status %d, %s", cases[i].header, (int)status, error.message);
        char text[1024];
        if (status == TDC_OK)
            probe_describe(&tensor, text, sizeof text);
        else
            snprintf(text, sizeof text, "%s", error.message);
        if (strstr(text, cases[i].text) == NULL)
            fail_msg("%s: '%s' has no '%s'", cases[i].header, text, cases[i].text);
    }
}

static void headers_may_be_written_in_many_ways(void **state)
{
    (void)state;
    static const struct header_case cases[] = {
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", TDC_OK, "int16 2/1 dense"},
        {"{'shape':(2,3),'fortran_order':True,'descr':'<i2'}", TDC_OK, "int16 2,3/1,2 "},
        {"  {\"shape\": ( 2 , 3 , ) ,\n\"descr\":\t'=i2', 'fortran_order':False} \n", TDC_OK,
         "int16 2,3/3,1 dense"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': ()}", TDC_OK, "float32  dense 00010203"},
        {"{'descr': '>u8', 'fortran_order': False, 'shape': (3L, 2L)}", TDC_OK,
         "uint64 3,2/2,1 dense swapped"},
        {"{'descr': '>i1', 'fortran_order': False, 'shape': (1,)}", TDC_OK, "int8 1/1 dense 00"},
        {"{'descr': 'bfloat16', 'fortran_order': False, 'shape': (2,)}", TDC_OK,
         "bfloat16 2/1 dense 00010203"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (1, 3, 1)}", TDC_OK,
         "float64 1,3,1/1,1,3 dense"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 7)}", TDC_OK,
         "float64 0,7/7,1 dense"},
        {"{'descr': '<U0', 'fortran_order': False, 'shape': (0,)}", TDC_OK, "text 0/1 dense"},
    };
    run_cases(cases, sizeof cases / sizeof cases[0]);
}

#define D "{'descr': '<f4', 'fortran_order': False, 'shape': "

static void lying_headers_are_refused(void **state)
{
    (void)state;
    static const struct header_case cases[] = {
        {D "(13,)}", TDC_ERR_FORMAT, "ends after 48 of 52"},
        {D "(4294967296, 4294967296)}", TDC_ERR_FORMAT, "too large"},
        {D "(0, 4294967296, 4294967296)}", TDC_ERR_FORMAT, "too large"},
        {D "(4611686018427387904,)}", TDC_ERR_FORMAT, "too large"},
        {D "(9223372036854775808,)}", TDC_ERR_FORMAT, "sizes"},
        {D "(99999999999999999999999,)}", TDC_ERR_FORMAT, "sizes"},
        {D "(-1,)}", TDC_ERR_FORMAT, "sizes"},
        {D "(1.0,)}", TDC_ERR_FORMAT, "sizes"},
        {D "(01,)}", TDC_ERR_FORMAT, "sizes"},
        {D "(2)}", TDC_ERR_FORMAT, "tuple"},
        {D "[2]}", TDC_ERR_FORMAT, "tuple"},
        {D "(2 3)}", TDC_ERR_FORMAT, "tuple"},
        {D "(,)}", TDC_ERR_FORMAT, "tuple"},
        {D "(2,)", TDC_ERR_FORMAT, "keys"},
        {D "(2,", TDC_ERR_FORMAT, "sizes"},
        {D "(2,)} x", TDC_ERR_FORMAT, "after the dict"},
        {D "(2,), 'shape': (2,)}", TDC_ERR_FORMAT, "repeated"},
        {D "(2,), 'more': 1}", TDC_ERR_FORMAT, "unknown or repeated"},
        {"{'descr': '<f4', 'shape': (2,)}", TDC_ERR_FORMAT, "missing"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", TDC_ERR_FORMAT, "fortran_order"},
        {"{'descr': 4, 'fortran_order': False, 'shape': (2,)}", TDC_ERR_FORMAT, "descr"},
        {"{'descr': '<f\\x34', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_FORMAT, "descr"},
        {"", TDC_ERR_FORMAT, "no dict"},
        {"{", TDC_ERR_FORMAT, "keys"},
        {"{'descr", TDC_ERR_FORMAT, "keys"},
        {"{'descr': '", TDC_ERR_FORMAT, "descr"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_UNSUPPORTED, "<f3"},
        {"{'descr': '<', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_UNSUPPORTED, "dtype"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_UNSUPPORTED, "dtype"},
        {"{'descr': '<U99999999999', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_UNSUPPORTED,
         "dtype"},
        {"{'descr': '<U2147483639', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_FORMAT,
         "ends after"},
        {"{'descr': '|S0', 'fortran_order': False, 'shape': (9223372036854775807,)}",
         TDC_ERR_UNSUPPORTED, "width 0"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_UNSUPPORTED, "objects"},
        {"{'descr': '|V0', 'fortran_order': False, 'shape': (2,)}", TDC_ERR_UNSUPPORTED, "width 0"},
    };
    run_cases(cases, sizeof cases / sizeof cases[0]);
}

static void dimensions_are_bounded(void **state)
{
    (void)state;
    char header[512];
    struct tdc_tensor tensor;
    struct tdc_error error;
    for (unsigned count = 63; count <= 66; count++) {
        strcpy(header, D "(");
        for (unsigned i = 0; i < count; i++)
            strcat(header, "1,");
        strcat(header, ")}");
        assert_int_equal(parse_header(header, &tensor, &error),
                         count <= 64 ? TDC_OK : TDC_ERR_UNSUPPORTED);
    }
}

static void preamble_is_checked(void **state)
{
    (void)state;
    struct tdc_error error;
    struct tdc_tensor tensor;
    static const struct {
        const char *bytes;
        size_t size;
        tdc_status status;
    } cases[] = {
        {"", 0, TDC_ERR_FORMAT},
        {"\x93NUMPX\1\0\0\0", 10, TDC_ERR_FORMAT},
        {"\x93NUMPY\4\0\0\0", 10, TDC_ERR_UNSUPPORTED},
        {"\x93NUMPY\1\1\0\0", 10, TDC_ERR_UNSUPPORTED},
        {"\x93NUMPY\2\0\0\0", 10, TDC_ERR_FORMAT},
        {"\x93NUMPY\2\0\xff\xff\xff\xff", 12, TDC_ERR_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(tdc_tensor_parse(cases[i].bytes, cases[i].size, TDC_TENSOR_NPY, "made",
                                          &tensor, &error),
                         cases[i].status);
}

static size_t load(const char *file, unsigned char *bytes, size_t capacity)
{
    char path[512];
    snprintf(path, sizeof path, TDC_TEST_DATA "/tensors/%s", file);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t size = fread(bytes, 1, capacity, stream);
    fclose(stream);
    return size;
}

static void truncation_anywhere_is_an_error(void **state)
{
    (void)state;
    unsigned char bytes[1024];
    struct tdc_error error;
    size_t size = load("fortran.npy", bytes, sizeof bytes);
    assert_int_equal(size, 224);
    for (size_t length = 0; length < size; length++)
        assert_int_equal(probe_parse(bytes, length, TDC_TENSOR_NPY, &error), TDC_ERR_FORMAT);
    assert_int_equal(probe_parse(bytes, size, TDC_TENSOR_NPY, &error), TDC_OK);
    assert_int_equal(probe_parse(bytes, size + 100, TDC_TENSOR_NPY, &error), TDC_OK);
}

static void flipped_bits_never_leave_the_file(void **state)
{
    (void)state;
    unsigned char bytes[1024];
    struct tdc_error error;
    size_t size = load("big_endian.npy", bytes, sizeof bytes), readable_still = 0;
    for (size_t i = 0; i < size * 8; i++) {
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        tdc_status status = probe_parse(bytes, size, TDC_TENSOR_NPY, &error);
        assert_true(status == TDC_OK || status == TDC_ERR_FORMAT || status == TDC_ERR_UNSUPPORTED);
        readable_still += status == TDC_OK;
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    assert_true(readable_still >= 96 * 8); /* at least all flips in the data */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_give_numpys_values),
        cmocka_unit_test(text_width_and_kind_are_told),
        cmocka_unit_test(unsupported_files_say_why),
        cmocka_unit_test(headers_may_be_written_in_many_ways),
        cmocka_unit_test(lying_headers_are_refused),
        cmocka_unit_test(dimensions_are_bounded),
        cmocka_unit_test(preamble_is_checked),
        cmocka_unit_test(truncation_anywhere_is_an_error),
        cmocka_unit_test(flipped_bits_never_leave_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
