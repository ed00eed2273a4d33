/* tensor26.c - the six values of tensor mode as msprobe 26 computes them. */
#include <math.h>
#include <string.h>

#include "host/judge/compat/compat.h"
#include "host/judge/compat26/compat26.h"

static void say_unreadable(const struct tdc_case *row_case, struct tdc_text *message)
{
    tdc_text_addf(message, "Dump file: %s or %s not found or read failed.", row_case->n_file,
                  row_case->b_file);
}

/* Axes of length 1 are gone: a tensor of one element comes here whatever its shape was. Four of the
 * six metrics say that there is nothing to calculate. */
static void compute_zero_d(const struct tdc_outcome *outcome, struct tdc_row *row,
                           struct tdc_text *message)
{
    static const char scalar[] = "This is type of 0-d tensor, can not calculate";
    double max_abs, max_rel;
    tdc_compat_zero_d(outcome, TDC_RELATIVE_PROMOTED, &max_abs, &max_rel);
    tdc_text_adds(message, tdc_compat_zero_d_text);
    tdc_text_adds(message, scalar);
    tdc_text_adds(message, scalar);
    /* numpy subtracts no texts */
    if (outcome->n_dtype != TDC_TEXT && outcome->b_dtype != TDC_TEXT)
        row->values[TDC_MAX_ABS] = tdc_compat_maximum(max_abs, tdc_compat_nan_abs_text, message);
    row->values[TDC_MAX_REL] = tdc_compat_maximum(max_rel, tdc_compat_nan_rel_text, message);
    tdc_text_adds(message, scalar);
    tdc_text_adds(message, scalar);
}

static tdc_row_class class_of(const struct tdc_case *row_case)
{
    return row_case->bench == NULL || row_case->npu == NULL ? TDC_ROW_UNMATCHED : TDC_ROW_SAME;
}

void tdc_compat26_tensor(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                         struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message)
{
    (void)extra;
    static const struct tdc_file_words words = {say_unreadable, compute_zero_d};
    row->row_class = (uint8_t)class_of(row_case);
    tdc_compat_files(row_case, outcome, &words, row, message);
    if (row_case->match->fuzzy && row_case->npu != NULL && row_case->bench != NULL &&
        strcmp(row_case->npu->name, row_case->bench->name) != 0)
        tdc_text_adds(message, " Fuzzy matching data, the comparison accuracy may be affected.");
}

void tdc_compat26_digest(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message)
{
    (void)message;
    row->row_class = (uint8_t)class_of(row_case);
}
