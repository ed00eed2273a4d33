#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/io/made_pt.h"

struct expected {
    const char *file;
    const char *text;
};

/* Values are what torch says. */
#define X                                                                                          \
    "ba46c3bf310f40bf4b6b27bf9903cebf049e5d3f04457a3e8fb429bfc1ab4e3f2ad7e03ee8e9953f0f3be23f"     \
    "174dc3bdf67d7a3d80241ebf4e4e4cbf3cc806be8d664cbfdfe4ab3e84f88c3eceafdb3f"
#define R "000020c00000c0bf000000bf0000003f0000c03f00002040"

static const struct expected readable[] = {
    {"plain.pt", "float32 4,5/5,1 dense " X},
    {"step.pt", "float32 4,5/10,2 " X},
    {"offset.pt", "float32 4,5/5,1 dense " X},
    {"transposed.pt", "float32 4,5/1,4 " X},
    {"parameter.pt", "float32 4,5/5,1 dense " X},
    {"legacy.pt", "float32 4,5/5,1 dense " X},
    {"empty.pt", "float32 0/1 dense "},
    {"zero_d.pt", "float32  dense 0000c03f"},
    {"bfloat16.pt", "bfloat16 3/1 dense 0000803f0040"},
    {"float16.pt", "float16 3/1 dense 0000003c0040"},
    {"bool.pt", "bool 3/1 dense 010001"},
    {"int.pt", "int64 3/1 dense 000000000000000001000000000000000200000000000000"},
    {"complex64.pt", "complex64 2/1 dense 0000803f0000004000004040000080bf"},
    {"torch26_float8_e4m3fn.pt", "float8_e4m3fn 2,3/3,1 dense c2bcb0303c42"},
    {"torch26_float8_e5m2.pt", "float8_e5m2 2,3/3,1 dense c1beb8383e41"},
    {"torch26_int8.pt", "int8 2,3/3,1 dense feff00000102"},
    {"torch26_int16.pt", "int16 2,3/3,1 dense feffffff0000000001000200"},
    {"torch26_uint16.pt", "uint16 2,3/3,1 dense 020001000000000001000200"},
    {"torch26_uint32.pt", "uint32 2,3/3,1 dense 020000000100000000000000000000000100000002000000"},
    {"torch26_uint64.pt", "uint64 2,3/3,1 dense 020000000000000001000000000000000000000000000000"
                          "000000000000000001000000000000000200000000000000"},
    {"torch26_complex128.pt",
     "complex128 2,3/3,1 dense 00000000000004c00000000000000000000000000000f8bf0000000000000000"
     "000000000000e0bf0000000000000000000000000000e03f0000000000000000000000000000f83f0000000000"
     "00000000000000000004400000000000000000"},
    {"torch26_attribute.pt", "float32 2,3/3,1 dense " R},
    {"torch26_parameter_with_state.pt", "float32 2,3/3,1 dense " R},
    {"torch26_protocol4.pt", "float32 2,3/3,1 dense " R},
    {"torch26_requires_grad.pt", "float32 2,3/3,1 dense " R},
    {"torch26_legacy_parameter.pt", "float32 2,3/3,1 dense " R},
    {"torch26_legacy_view.pt", "float32 3,2/3,2 0000003f00002040000020c0000000bf0000003f00002040"},
    {"torch26_legacy_uint16.pt", "uint16 2,3/3,1 dense 020001000000000001000200"},
    {"torch26_big_endian.pt",
     "int32 2,3/3,1 dense swapped fffffffeffffffff00000000000000000000000100000002"},
    {"torch26_expanded.pt", "float32 3,2/0,0 0000e0400000e0400000e0400000e0400000e0400000e040"},
};

static void real_files_give_torchs_values(void **state)
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
        tdc_tensor_close(&tensor);
    }
}

static void other_files_say_what_they_are(void **state)
{
    (void)state;
    static const struct expected refused[] = {
        {"dict.pt", ": not a tensor"},
        {"torch26_state_dict.pt", ": not a tensor"},
        {"torch26_legacy_dict.pt", ": not a tensor"},
        {"torch26_module.pt", "unknown pickle name torch.nn.modules.linear.Linear"},
        {"torch26_sparse_coo.pt", "sparse tensor"},
        {"torch26_sparse_csr.pt", "sparse tensor"},
        {"torch26_legacy_sparse.pt", "sparse tensor"},
        {"torch26_meta.pt", "meta tensor"},
        {"torch26_conj.pt", "pending conjugation"},
        {"torch26_neg.pt", "pending conjugation or negation"},
        {"torch26_complex32.pt", "elements of type torch.complex32"},
        {"torch26_deflated.pt", "compressed member"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char path[512];
        struct tdc_tensor tensor;
        struct tdc_error error = {0};
        snprintf(path, sizeof path, TDC_TEST_DATA "/tensors/%s", refused[i].file);
        assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error),
                         TDC_ERR_UNSUPPORTED);
        if (strstr(error.message, refused[i].text) == NULL)
            fail_msg("'%s' has no '%s'", error.message, refused[i].text);
        assert_null(tensor.map);
    }
    struct tdc_tensor tensor;
    struct tdc_error error = {0};
    assert_int_equal(
        tdc_tensor_open(TDC_TEST_DATA "/tensors/garbage.pt", TDC_TENSOR_BY_SUFFIX, &tensor, &error),
        TDC_ERR_FORMAT);
    assert_non_null(strstr(error.message, "not a torch file"));
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

static const char *const mangled[] = {"plain.pt", "parameter.pt", "legacy.pt",
                                      "torch26_float8_e4m3fn.pt", "torch26_legacy_view.pt"};

static void truncation_anywhere_is_an_error(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    struct tdc_error error;
    for (size_t k = 0; k < sizeof mangled / sizeof mangled[0]; k++) {
        size_t size = load(mangled[k], bytes, sizeof bytes);
        for (size_t length = 0; length < size; length++)
            assert_int_equal(probe_parse(bytes, length, TDC_TENSOR_PT, &error), TDC_ERR_FORMAT);
        assert_int_equal(probe_parse(bytes, size, TDC_TENSOR_PT, &error), TDC_OK);
    }
}

static void flipped_bits_never_leave_the_file(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    struct tdc_error error;
    for (size_t k = 0; k < sizeof mangled / sizeof mangled[0]; k++) {
        size_t size = load(mangled[k], bytes, sizeof bytes), good = 0;
        for (size_t i = 0; i < size * 8; i++) {
            bytes[i / 8] ^= (unsigned char)(1u << i % 8);
            tdc_status status = probe_parse(bytes, size, TDC_TENSOR_PT, &error);
            assert_true(status == TDC_OK || status == TDC_ERR_FORMAT ||
                        status == TDC_ERR_UNSUPPORTED);
            good += status == TDC_OK;
            bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        }
        assert_true(good > 0 && good < size * 8);
    }
}

static void check_cases(const struct pickle_case *cases, size_t count)
{
    static struct made_zip zip;
    for (size_t i = 0; i < count; i++) {
        make_file(&zip, cases[i].pickle, cases[i].size, i % 2 == 1);
        check_bytes(cases[i].text, &zip, cases[i].status, cases[i].text);
    }
}

static void tensors_may_be_pickled_in_many_ways(void **state)
{
    (void)state;
    static const struct pickle_case cases[] = {
        CASE(TENSOR(SIX, "K\0K\2K\3\x86K\3K\1\x86"), TDC_OK, "float32 2,3/3,1 dense 00010203"),
        CASE(TENSOR(SIX, "K\1K\2K\2\x86K\3K\1\x86"), TDC_OK, "float32 2,2/3,1 0405060708"),
        CASE(TENSOR(SIX, "K\5K\x64\x85K\0\x85"), TDC_OK, "float32 100/0 14151617"),
        CASE(TENSOR(SIX, "K\5K\1\x85K\x64\x85"), TDC_OK, "float32 1/100 dense 14151617"),
        CASE(TENSOR(SIX, "K\5))"), TDC_OK, "float32  dense 14151617"),
        CASE(TENSOR(SIX, "J\0\0\0\x7f(K\3K\0tM\1\0K\1\x86"), TDC_OK, "float32 3,0/1,1 dense"),
        CASE(TENSOR(STORAGE(FLOATS, "\x8a\1\6"), "\x8a\0K\2\x85K\5\x85"), TDC_OK,
             "float32 2/5 0001020314151617"),
        /* the storage may announce less than the member has */
        CASE(TENSOR(STORAGE(FLOATS, "K\2"), "K\0K\2\x85K\1\x85"), TDC_OK, "0001020304050607"),
        CASE(PROTOCOL "ctorch._utils\n_rebuild_tensor\n(" SIX "K\0K\2\x85K\1\x85tR.", TDC_OK,
             "float32 2/1 dense 0001020304050607"),
        CASE(PROTOCOL "ctorch_npu.utils.storage\n_rebuild_npu_tensor\n(" SIX
                      "K\0K\2\x85K\1\x85" HOOKS "K\2tR.",
             TDC_OK, "float32 2/1 dense"),
        CASE(PROTOCOL "ctorch._utils\n_rebuild_tensor_v3\n(" STORAGE(
                 "torch.storage\nUntypedStorage", "K\x18") "K\1K\2\x85K\1\x85" HOOKS
                                                           "ctorch\nuint16\ntR.",
             TDC_OK, "uint16 2/1 dense 02030405"),
        CASE(PROTOCOL V2 "(" SIX "K\0ctorch\nSize\nK\2\x85\x85RK\1\x85" HOOKS "tR.", TDC_OK,
             "float32 2/1 dense"),
        CASE(PROTOCOL V2 "(" SIX "K\0K\2\x85K\1\x85" HOOKS "}X\4\0\0\0conj\x89stR.", TDC_OK,
             "float32 2/1 dense"),
        CASE("\x80\4\x95\5\0\0\0\0\0\0\0\x8c\14torch._utils\x94\x8c\22_rebuild_tensor_v2\x94\x93"
             "\x94(" SIX "K\0K\2\x85K\1\x85" HOOKS "t\x94R\x94.",
             TDC_OK, "float32 2/1 dense"),
        CASE(PROTOCOL "(K\1N1K\1K\2"
                      "00" V2 "q\5r\7\0\0\0\x30h\5j\7\0\0\0\x30(" SIX "K\0K\2\x85K\1\x85" HOOKS
                      "tR.",
             TDC_OK, "float32 2/1 dense"),
        CASE(PROTOCOL V2 "(" SIX "K\0K\2\x85K\1\x85\x89}X\1\0\0\0aK\1s(K\1K\2u}bctorch\n"
                         "float32\n0tR.",
             TDC_OK, "float32 2/1 dense"),
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void tensors_that_leave_their_storage_are_refused(void **state)
{
    (void)state;
    static const struct pickle_case cases[] = {
        CASE(TENSOR(SIX, "K\1K\2K\3\x86K\3K\1\x86"), TDC_ERR_FORMAT, "leave the storage"),
        CASE(TENSOR(SIX, "K\6))"), TDC_ERR_FORMAT, "leave the storage"),
        CASE(TENSOR(SIX, "K\0K\2\x85K\6\x85"), TDC_ERR_FORMAT, "leave the storage"),
        CASE(TENSOR(SIX, "J\xff\xff\xff\xffK\2\x85K\1\x85"), TDC_ERR_FORMAT, "offset"),
        CASE(TENSOR(SIX, LARGEST "K\2\x85K\1\x85"), TDC_ERR_FORMAT, "leave the storage"),
        CASE(TENSOR(SIX, TWO_62 "K\1\x85K\1\x85"), TDC_ERR_FORMAT, "leave the storage"),
        CASE(TENSOR(SIX, "K\0J\xff\xff\xff\xff\x85K\1\x85"), TDC_ERR_FORMAT, "from 0 on"),
        CASE(TENSOR(SIX, "K\5K\2\x85\x8a\1\xff\x85"), TDC_ERR_FORMAT, "from 0 on"),
        CASE(TENSOR(SIX, "K\0" TWO_62 TWO_62 "\x86K\0K\0\x86"), TDC_ERR_FORMAT, "too many"),
        CASE(TENSOR(SIX, "K\0K\0" TWO_62 TWO_62 "\x87K\0K\0K\0\x87"), TDC_ERR_FORMAT, "too many"),
        CASE(TENSOR(SIX, "K\0K\3K\3\x86" TWO_62 TWO_62 "\x86"), TDC_ERR_FORMAT, "leave"),
        CASE(TENSOR(SIX, "K\0K\4\x85" LARGEST "\x85"), TDC_ERR_FORMAT, "leave"),
        CASE(TENSOR(SIX, "K\0" TWO_62 "\x85K\1\x85"), TDC_ERR_FORMAT, "leave"),
        CASE(TENSOR(SIX, "K\0K\2\x85K\1K\1\x86"), TDC_ERR_FORMAT, "differ in number"),
        CASE(TENSOR(SIX, "K\0\x88\x85K\1\x85"), TDC_ERR_FORMAT, "from 0 on"),
        CASE(TENSOR(SIX, "K\0\x8a\11\0\0\0\0\0\0\0\x80\0\x85K\1\x85"), TDC_ERR_FORMAT, "from 0"),
        CASE(TENSOR(STORAGE(FLOATS, "K\7"), "K\0K\2\x85K\1\x85"), TDC_ERR_FORMAT, "cut off"),
        CASE(TENSOR(STORAGE(FLOATS, TWO_62), "K\0K\2\x85K\1\x85"), TDC_ERR_FORMAT, "cut off"),
        CASE(TENSOR(STORAGE(FLOATS, "\x8a\1\xff"), "K\0K\0\x85K\1\x85"), TDC_ERR_FORMAT, "cut off"),
        CASE(TENSOR(STORAGE(FLOATS, "K\1"), "K\0K\2\x85K\1\x85"), TDC_ERR_FORMAT, "leave"),
        CASE(PROTOCOL "ctorch._utils\n_rebuild_tensor_v3\n(" STORAGE(
                 "torch.storage\nUntypedStorage", "K\x18") "K\0K\x0d\x85K\1\x85" HOOKS
                                                           "ctorch\nuint16\ntR.",
             TDC_ERR_FORMAT, "leave the storage"),
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void strange_pickles_are_refused(void **state)
{
    (void)state;
    static const struct pickle_case cases[] = {
        CASE(PROTOCOL "cposix\nsystem\nX\2\0\0\0ls\x85R.", TDC_ERR_UNSUPPORTED,
             "unknown pickle name posix.system"),
        CASE(PROTOCOL "X\5\0\0\0posixX\6\0\0\0system\x93.", TDC_ERR_UNSUPPORTED, "posix.system"),
        CASE(PROTOCOL "ctorch\x1b\nx\xff\n.", TDC_ERR_UNSUPPORTED, "name torch?.x?"),
        CASE(PROTOCOL "i", TDC_ERR_UNSUPPORTED, "unknown pickle opcode 0x69"),
        CASE(PROTOCOL "\xff", TDC_ERR_UNSUPPORTED, "unknown pickle opcode 0xff"),
        CASE("\x80\6N.", TDC_ERR_UNSUPPORTED, "protocol"),
        CASE(PROTOCOL "ctorch\nTensor\n)R.", TDC_ERR_UNSUPPORTED, "pickle calls torch.Tensor"),
        CASE(PROTOCOL "ctorch\nFloatStorage\n)\x81.", TDC_ERR_UNSUPPORTED, "pickle calls"),
        CASE(PROTOCOL "K\1)R.", TDC_ERR_FORMAT, "not a name"),
        CASE(PROTOCOL V2 ")R.", TDC_ERR_FORMAT, "too few arguments"),
        CASE(PROTOCOL V2 "(NNNNNNtR.", TDC_ERR_FORMAT, "wrong arguments"),
        CASE(PROTOCOL "ctorch._utils\n_rebuild_parameter\nN\x85R.", TDC_ERR_FORMAT, "parameter"),
        CASE(PROTOCOL "(X\7\0\0\0storageNNNNtQ.", TDC_ERR_FORMAT, "persistent id"),
        CASE(PROTOCOL "NQ.", TDC_ERR_UNSUPPORTED, "persistent id"),
        CASE(PROTOCOL "(X\6\0\0\0modulec" FLOATS "\nNNK\1tQ.", TDC_ERR_UNSUPPORTED, "persistent"),
        CASE(TENSOR(STORAGE("torch.storage\nUntypedStorage", "K\6"), "K\0))"), TDC_ERR_UNSUPPORTED,
             "elements of type torch.storage.UntypedStorage"),
        CASE(TENSOR(SIX, "K\0)).") "tRNb.", TDC_ERR_UNSUPPORTED, "not a tensor"),
        CASE(PROTOCOL V2 "(" SIX "K\0))" HOOKS "tRNb.", TDC_ERR_UNSUPPORTED, "state"),
        CASE(PROTOCOL "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._tensor\n"
                      "_rebuild_from_type_v2\nctorch\nTensor\n)NtR.",
             TDC_ERR_UNSUPPORTED, "unknown class"),
        CASE(PROTOCOL "K\1.", TDC_ERR_UNSUPPORTED, "not a tensor"),
        CASE(PROTOCOL "G\0\0\0\0\0\0\0\0.", TDC_ERR_UNSUPPORTED, "not a tensor"),
        CASE(PROTOCOL "].", TDC_ERR_UNSUPPORTED, "not a tensor"),
        CASE(PROTOCOL ".", TDC_ERR_FORMAT, "stack"),
        CASE(PROTOCOL "(.", TDC_ERR_FORMAT, "stack"),
        CASE(PROTOCOL "0", TDC_ERR_FORMAT, "stack"),
        CASE(PROTOCOL "N\x86.", TDC_ERR_FORMAT, "stack"),
        CASE(PROTOCOL "t.", TDC_ERR_FORMAT, "stack"),
        CASE(PROTOCOL "q\0.", TDC_ERR_FORMAT, "stack"),
        CASE(PROTOCOL "Nq\2h\1.", TDC_ERR_FORMAT, "refers to nothing"),
        CASE(PROTOCOL "h\0.", TDC_ERR_FORMAT, "refers to nothing"),
        CASE(PROTOCOL "NNa.", TDC_ERR_FORMAT, "list or dict"),
        CASE(PROTOCOL "}(Nu.", TDC_ERR_FORMAT, "list or dict"),
        CASE(PROTOCOL "X\xff\xff\xff\xff"
                      "a",
             TDC_ERR_FORMAT, "ends early"),
        CASE(PROTOCOL "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                      "a",
             TDC_ERR_FORMAT, "ends early"),
        CASE(PROTOCOL "\x8b\xff\xff\xff\xff"
                      "a",
             TDC_ERR_UNSUPPORTED, "digits"),
        CASE(PROTOCOL "\x95\xff\0\0\0\0\0\0\0N.", TDC_ERR_FORMAT, "ends early"),
        CASE(PROTOCOL "ctorch", TDC_ERR_FORMAT, "ends early"),
        CASE("", TDC_ERR_FORMAT, "ends early"),
        CASE(PROTOCOL "Nr\xff\xff\xff\xff.", TDC_ERR_UNSUPPORTED, "too many objects"),
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void everything_that_grows_is_bounded(void **state)
{
    (void)state;
    static struct made_zip zip;
    static unsigned char pickle[32768];
    static const char *const repeated[] = {"N", "]", "N\x85", "]N\x61", "N\x94\x30"};
    for (size_t k = 0; k < sizeof repeated / sizeof repeated[0]; k++) {
        size_t length = strlen(repeated[k]), size = 0;
        while (size + length < sizeof pickle) {
            memcpy(pickle + size, repeated[k], length);
            size += length;
        }
        make_file(&zip, pickle, size, false);
        check_bytes(repeated[k], &zip, TDC_ERR_UNSUPPORTED, "not a tensor (too many objects)");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_give_torchs_values),
        cmocka_unit_test(other_files_say_what_they_are),
        cmocka_unit_test(truncation_anywhere_is_an_error),
        cmocka_unit_test(flipped_bits_never_leave_the_file),
        cmocka_unit_test(tensors_may_be_pickled_in_many_ways),
        cmocka_unit_test(tensors_that_leave_their_storage_are_refused),
        cmocka_unit_test(strange_pickles_are_refused),
        cmocka_unit_test(everything_that_grows_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
