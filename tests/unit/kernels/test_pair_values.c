/* Single elements: every small bit pattern, and rounding to f16. */
#include <stdlib.h>

#include "tests/support/rounds.h"
#include "tests/unit/kernels/pair_data.h"

static void require_same_value(tdc_dtype dtype, const void *element)
{
    double imaginary, expected_imaginary;
    double value = tdc_element_value(dtype, element, &imaginary);
    double expected = tdc_reference_value(dtype, element, &expected_imaginary);
    if (isnan(expected))
        assert_true(isnan(value));
    else
        assert_true(value == expected && !signbit(value) == !signbit(expected));
    assert_true(imaginary == expected_imaginary || (isnan(imaginary) && isnan(expected_imaginary)));
}

static void every_pattern_of_16_bits_and_less(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F16,     TDC_BF16, TDC_I16, TDC_U16, TDC_F8_E4M3,
                                       TDC_F8_E5M2, TDC_I8,   TDC_U8,  TDC_BOOL};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        for (unsigned bits = 0; bits < 1u << (8 * tdc_dtype_size(dtypes[k])); bits++) {
            uint16_t element = (uint16_t)bits;
            require_same_value(dtypes[k], &element);
        }
}

static void known_values(void **state)
{
    (void)state;
    double imaginary;
    assert_true(tdc_element_value(TDC_F16, &(uint16_t){0x3c00}, &imaginary) == 1);
    assert_true(tdc_element_value(TDC_F16, &(uint16_t){0x0001}, &imaginary) == 0x1p-24);
    assert_true(tdc_element_value(TDC_F16, &(uint16_t){0xfbff}, &imaginary) == -65504);
    assert_true(tdc_element_value(TDC_BF16, &(uint16_t){0x4049}, &imaginary) == 3.140625);
    assert_true(tdc_element_value(TDC_F8_E4M3, &(uint8_t){0x7e}, &imaginary) == 448);
    assert_true(tdc_element_value(TDC_F8_E4M3, &(uint8_t){0x01}, &imaginary) == 0x1p-9);
    assert_true(isnan(tdc_element_value(TDC_F8_E4M3, &(uint8_t){0xff}, &imaginary)));
    assert_true(tdc_element_value(TDC_F8_E5M2, &(uint8_t){0x7b}, &imaginary) == 57344);
    assert_true(tdc_element_value(TDC_F8_E5M2, &(uint8_t){0xfc}, &imaginary) == -INFINITY);
    assert_true(tdc_element_value(TDC_BOOL, &(uint8_t){7}, &imaginary) == 1);
    assert_true(tdc_element_value(TDC_I64, &(int64_t){INT64_MIN}, &imaginary) == -0x1p63);
    assert_true(tdc_element_value(TDC_U64, &(uint64_t){UINT64_MAX}, &imaginary) == 0x1p64);
    assert_true(tdc_element_value(TDC_C64, (float[2]){1.5f, -2}, &imaginary) == 1.5);
    assert_true(imaginary == -2);
    assert_true(tdc_element_value(TDC_C128, (double[2]){3, 4}, &imaginary) == 3);
    assert_true(imaginary == 4);
}

static void wide_types_by_random_bits(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_I32, TDC_U32, TDC_I64, TDC_U64, TDC_F32,
                                       TDC_F64, TDC_F80, TDC_C64, TDC_C128};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        for (int round = 0, rounds = rounds_of(2000); round < rounds; round++) {
            unsigned char element[17];
            for (size_t i = 0; i < sizeof element; i++)
                element[i] = (unsigned char)random_bits();
            if (round % 2) {
                /* Most random exponents of an f80 are far beyond float64. */
                element[8] |= 0x80;
                uint16_t head = (uint16_t)(16383 - 1100 + random_below(2200));
                memcpy(element + 9, &head, sizeof head);
            }
            require_same_value(dtypes[k], element + 1);
        }
}

#if defined(__x86_64__)
/* The machine's own idea of its extended format. */
static void extended_numbers_as_the_machine_reads_them(void **state)
{
    (void)state;
    for (int round = 0, rounds = rounds_of(5000); round < rounds; round++) {
        uint64_t mantissa = random_bits() | 0x8000000000000000u;
        uint16_t head = (uint16_t)((16383 - 1100 + random_below(2200)) | (random_bits() & 0x8000));
        long double machine = 0;
        memcpy(&machine, &mantissa, 8);
        memcpy((char *)&machine + 8, &head, 2);
        double imaginary;
        assert_true(tdc_element_value(TDC_F80, &machine, &imaginary) == (double)machine);
    }
}
#endif

/* All patterns at once through the kernels, against themselves and against a shuffled copy. */
static void every_pattern_through_the_kernels(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F16, TDC_BF16, TDC_F8_E4M3, TDC_F8_E5M2};
    uint16_t *n = malloc(65536 * sizeof *n), *b = malloc(65536 * sizeof *b);
    assert_non_null(n);
    assert_non_null(b);
    for (size_t k = 0; k < 4; k++) {
        size_t count = (size_t)1 << (8 * tdc_dtype_size(dtypes[k]));
        bool bytes = count == 256;
        for (size_t i = 0; i < count; i++) {
            /* An odd factor permutes the patterns; a small one keeps neighbours near. */
            size_t other = (i * 40503 + 77) % count;
            if (bytes) {
                ((uint8_t *)n)[i] = (uint8_t)i;
                ((uint8_t *)b)[i] = (uint8_t)other;
            } else {
                n[i] = (uint16_t)i;
                b[i] = (uint16_t)other;
            }
        }
        require_pair(dtypes[k], dtypes[k], n, n, count, "all patterns, equal");
        require_pair(dtypes[k], dtypes[k], n, b, count, "all patterns, shuffled");
        require_pair(dtypes[k], TDC_BOOL, n, b, count, "all patterns, against bool");
    }
    free(n);
    free(b);
}

/* The least distance that reaches a limit, and the largest that does not, from every number of 15
 * bits; the first pair sets a maximum that others meet and a few surpass. */
static void limits_of_every_short(void **state)
{
    (void)state;
    enum {
        COUNT = 1 << 15
    };
    static const int inverse[] = {1000, 200, 100, 10};
    int16_t *n = malloc(COUNT * sizeof *n), *b = malloc(COUNT * sizeof *b);
    assert_non_null(n);
    assert_non_null(b);
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < COUNT; i++) {
            int least = (i + inverse[round / 2] - 1) / inverse[round / 2];
            int sign = i % 2 ? 1 : -1, step = least - round % 2;
            b[i] = (int16_t)(sign * i);
            n[i] = (int16_t)(b[i] - sign * step);
        }
        n[0] = 2; /* against 0 */
        n[7] = (int16_t)(7 * n[7] + 21);
        require_pair(TDC_I16, TDC_I16, n, b, COUNT, "limits of shorts");
        for (int i = 0; i < COUNT; i++) {
            n[i] = (int16_t)abs(n[i]);
            b[i] = (int16_t)abs(b[i]);
        }
        require_pair(TDC_U16, TDC_U16, n, b, COUNT, "limits of shorts without sign");
    }
    free(n);
    free(b);
}

static void require_rounding(float value)
{
    float rounded = tdc_round_to_f16(value);
    double expected = tdc_reference_round_to_f16((double)value);
    if (isnan(value)) {
        assert_true(isnan(rounded));
        return;
    }
    assert_true((double)rounded == expected && !signbit(rounded) == !signbit(expected));
}

static void rounding_to_f16(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        double imaginary;
        float half = (float)tdc_reference_value(TDC_F16, &(uint16_t){(uint16_t)bits}, &imaginary);
        float next =
            (float)tdc_reference_value(TDC_F16, &(uint16_t){(uint16_t)(bits + 1)}, &imaginary);
        float middle = isinf(next) ? 65520.0f : (half + next) / 2;
        assert_true(tdc_round_to_f16(half) == half);
        /* A tie goes to the even pattern. */
        assert_true(tdc_round_to_f16(middle) == (bits % 2 ? next : half));
        assert_true(tdc_round_to_f16(nextafterf(middle, 0)) == half);
        assert_true(tdc_round_to_f16(nextafterf(middle, INFINITY)) == next);
        assert_true(tdc_round_to_f16(-middle) == -(bits % 2 ? next : half));
    }
    for (int round = 0, rounds = rounds_of(300000); round < rounds; round++) {
        uint32_t bits = (uint32_t)random_bits();
        float value;
        memcpy(&value, &bits, sizeof value);
        require_rounding(value);
        if (isnormal(value))
            require_rounding(ldexpf(value, 10 - ilogbf(value) - (int)random_below(40)));
    }
    assert_true(tdc_round_to_f16(INFINITY) == INFINITY && tdc_round_to_f16(-1e30f) == -INFINITY);
    assert_true(isnan(tdc_round_to_f16(NAN)) && signbit(tdc_round_to_f16(-0.0f)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_of_16_bits_and_less),
        cmocka_unit_test(known_values),
        cmocka_unit_test(wide_types_by_random_bits),
#if defined(__x86_64__)
        cmocka_unit_test(extended_numbers_as_the_machine_reads_them),
#endif
        cmocka_unit_test(every_pattern_through_the_kernels),
        cmocka_unit_test(limits_of_every_short),
        cmocka_unit_test(rounding_to_f16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
