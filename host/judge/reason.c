#include "host/judge/reason.h"

#include <string.h>

struct reason {
    const char *code;
    const char *text; /* NULL: always one of its own */
};

static const struct reason reasons[TDC_REASONS] = {
    [TDC_REASON_NO_TEST] = {"no_test_record", "No test data matched."},
    [TDC_REASON_NO_REF] = {"no_ref_record", "No ref data matched."},
    [TDC_REASON_SHAPE] = {"shape_differs", "Shape of test and ref tensor do not match. Skipped."},
    [TDC_REASON_DTYPE] = {"dtype_differs", "Dtype of test and ref tensor do not match."},
    [TDC_REASON_REQUIRES_GRAD] = {"requires_grad_differs", "Requires_grad inconsistent."},
    [TDC_REASON_FUZZY] = {"fuzzy_match",
                          "Fuzzy matching data, the comparison accuracy may be affected."},
    [TDC_REASON_NO_TEST_FILE] = {"no_test_file", "The test side has no data file."},
    [TDC_REASON_NO_REF_FILE] = {"no_ref_file", "The ref side has no data file."},
    [TDC_REASON_EMPTY] = {"no_elements", "This is empty data, can not compare."},
    [TDC_REASON_EMPTY_FILE] = {"file_has_no_elements", NULL},
    [TDC_REASON_UNREADABLE] = {"unreadable_file", NULL},
    [TDC_REASON_NOT_NUMBERS] = {"not_numbers", "Data is unreadable."},
    [TDC_REASON_NO_STATISTICS] = {"no_statistics", "No statistics on either side."},
    [TDC_REASON_ONE_SIDED_STATISTICS] = {"statistics_on_one_side", "Statistics on one side only."},
    [TDC_REASON_NO_DIGEST] = {"no_md5", "No md5 on either side."},
    [TDC_REASON_DISTANCE] = {"distance_above_limit", NULL},
    [TDC_REASON_WORST] = {"worst_element_above_limit", NULL},
    [TDC_REASON_VALUES] = {"values_differ", "Values differ."},
    [TDC_REASON_NOT_FINITE] = {"not_finite_on_one_side",
                               "The position of inf or nan in test and ref tensor do not match."},
    [TDC_REASON_TEST_NOT_FINITE] = {"test_statistics_not_finite",
                                    "NaN or infinity in test statistics."},
    [TDC_REASON_REF_NOT_FINITE] = {"ref_statistics_not_finite",
                                   "NaN or infinity in ref statistics."},
    [TDC_REASON_TEST_ZERO] = {"test_all_zero", "All test data is zero."},
    [TDC_REASON_REF_ZERO] = {"ref_all_zero", "All ref data is zero."},
    [TDC_REASON_BITS] = {"bits_differ", "Bits differ."},
    [TDC_REASON_ARGUMENT] = {"argument_differs", "Argument values differ."},
    [TDC_REASON_ARGUMENT_TEXT] = {"argument_text_differs", "Argument texts differ."},
    [TDC_REASON_PARAMETER] = {"parameter_not_identical",
                              "Parameters of the two runs are not identical."},
    [TDC_REASON_RUN_INPUT] = {"run_input_not_identical",
                              "Inputs of the two runs are not identical."},
    [TDC_REASON_MASK] = {"mask_fill_values", "Fill values of a mask."},
    [TDC_REASON_ZERO] = {"zero_but_for_rounding", "Zero but for rounding on both sides."},
    [TDC_REASON_SMALLEST_HALF] = {"within_smallest_float16", "Within the smallest float16."},
    [TDC_REASON_NOT_JUDGED] = {"not_judged", "Not judged."},
    [TDC_REASON_ELEMENTS] = {"elements_beyond_tolerance", "Elements beyond the tolerance."},
    [TDC_REASON_COSINE] = {"cosine_below_limit", "Cosine below the limit."},
};

_Static_assert(TDC_REASONS <= 64, "the reasons of a row are 64 bits");

const char *tdc_reason_code(enum tdc_reason reason)
{
    return reasons[reason].code;
}

void tdc_sound_say_text(struct tdc_row *row, struct tdc_text *message, enum tdc_reason reason,
                        const char *text)
{
    row->reasons |= UINT64_C(1) << reason;
    if (strstr(tdc_text_get(message), text) != NULL)
        return;
    if (message->length != 0)
        tdc_text_addc(message, ' ');
    tdc_text_adds(message, text);
}

void tdc_sound_say(struct tdc_row *row, struct tdc_text *message, enum tdc_reason reason)
{
    tdc_sound_say_text(row, message, reason, reasons[reason].text);
}
