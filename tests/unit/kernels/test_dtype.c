#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernels/dtype.h"

static void every_dtype_has_a_name_and_a_size(void **state)
{
    (void)state;
    for (unsigned i = TDC_DTYPE_NONE + 1; i < TDC_DTYPE_COUNT; i++) {
        const struct tdc_dtype_entry *entry = tdc_dtype_entry((tdc_dtype)i);
        assert_non_null(entry->name);
        assert_string_equal(entry->name, tdc_dtype_name((tdc_dtype)i));
        assert_int_not_equal(entry->kind, TDC_KIND_NONE);
        assert_int_equal(entry->size == 0, i == TDC_TEXT);
        assert_int_equal(tdc_dtype_called(entry->name, strlen(entry->name)), i);
        if (entry->brief != NULL)
            assert_int_equal(tdc_dtype_in_brief(entry->brief, strlen(entry->brief)), i);
    }
    assert_string_equal(tdc_dtype_name(TDC_DTYPE_COUNT), "unknown");
    assert_ptr_equal(tdc_dtype_entry(TDC_DTYPE_COUNT), tdc_dtype_entry(TDC_DTYPE_NONE));
}

/* A descr is a letter and a size; the order mark is '|' for single bytes alone. */
static void numpy_types_agree_with_sizes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TDC_DTYPE_COUNT; i++) {
        const struct tdc_dtype_entry *entry = tdc_dtype_entry((tdc_dtype)i);
        if (entry->numpy == NULL)
            continue;
        assert_int_equal(atoi(entry->numpy + 2), entry->size);
        assert_int_equal(entry->numpy[0], entry->size == 1 ? '|' : '<');
        assert_int_equal(tdc_dtype_in_numpy(entry->numpy[1], entry->size), i);
    }
    assert_int_equal(tdc_dtype_in_numpy('f', 16), TDC_F80);
    assert_int_equal(tdc_dtype_in_numpy('f', 3), TDC_DTYPE_NONE);
    assert_int_equal(tdc_dtype_in_numpy('V', 2), TDC_DTYPE_NONE);
}

/* float8 is torch's alone: across frameworks it is known to neither. */
static void frameworks_share_their_names(void **state)
{
    (void)state;
    assert_int_equal(tdc_dtype_shared("torch.bfloat16"), TDC_BF16);
    assert_int_equal(tdc_dtype_shared("BFloat16"), TDC_BF16);
    assert_int_equal(tdc_dtype_shared("UInt64"), TDC_U64);
    assert_int_equal(tdc_dtype_shared("torch.float8_e5m2"), TDC_DTYPE_NONE);
    assert_int_equal(tdc_dtype_shared("float32"), TDC_DTYPE_NONE);
    assert_int_equal(tdc_dtype_shared("longdouble"), TDC_DTYPE_NONE);
    assert_int_equal(tdc_dtype_shared(""), TDC_DTYPE_NONE);
    assert_string_equal(tdc_dtype_entry(TDC_F16)->storage, "HalfStorage");
    assert_string_equal(tdc_dtype_entry(TDC_I64)->tensor, "torch.LongTensor");
    assert_null(tdc_dtype_entry(TDC_U16)->storage);
}

static void endings_tell_the_dtype(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tdc_dtype dtype;
    } cases[] = {
        {"torch.bfloat16", TDC_BF16},
        {"Float16", TDC_F16},
        {"mindspore.float32", TDC_F32},
        {"torch.float", TDC_F32},
        {"torch.half", TDC_F16},
        {"torch.double", TDC_F64},
        {"longdouble", TDC_F80},
        {"BFLOAT16", TDC_BF16},
        {"torch.uint8", TDC_U8},
        {"complex128", TDC_C128},
        {"torch.float8_e4m3fn", TDC_F8_E4M3},
        {"float", TDC_DTYPE_NONE},
        {"<class 'float'>", TDC_DTYPE_NONE},
        {"None", TDC_DTYPE_NONE},
        {"", TDC_DTYPE_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tdc_dtype_at_end(cases[i].text), cases[i].dtype);
}

static void numbers_are_those_of_the_formats(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F8_E5M2, TDC_F16, TDC_BF16, TDC_F32, TDC_F64};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const struct tdc_dtype_entry *entry = tdc_dtype_entry(dtypes[i]);
        /* all bits set at the greatest exponent, which mirrors the least */
        double largest = ldexp(2 - ldexp(1, -entry->digits), 1 - entry->least);
        assert_true(entry->largest == largest);
        int exponents = entry->size * 8 - 1 - entry->digits;
        assert_int_equal(entry->least, 2 - (1 << (exponents - 1)));
    }
    assert_true(tdc_dtype_largest(TDC_F32) == (double)FLT_MAX);
    assert_true(tdc_dtype_largest(TDC_I32) == DBL_MAX);
    assert_int_equal(tdc_dtype_part(TDC_C64), TDC_F32);
    assert_int_equal(tdc_dtype_part(TDC_C128), TDC_F64);
    assert_int_equal(tdc_dtype_part(TDC_I8), TDC_I8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_has_a_name_and_a_size),
        cmocka_unit_test(numpy_types_agree_with_sizes),
        cmocka_unit_test(frameworks_share_their_names),
        cmocka_unit_test(endings_tell_the_dtype),
        cmocka_unit_test(numbers_are_those_of_the_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
