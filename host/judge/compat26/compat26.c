/* compat26.c - the rule set that reproduces msprobe 26. */
#include "host/judge/compat26/compat26.h"

#include "host/judge/compat/compat.h"

static const char *verdict_text(const struct tdc_row *row)
{
    return row->verdict == TDC_VERDICT_ERROR     ? "error"
           : row->verdict == TDC_VERDICT_WARNING ? "warning"
                                                 : "pass";
}

const struct tdc_rules tdc_rules_compat26 = {
    .name = "compat26",
    .match =
        {
            .cross_product = true,
            .same_dtype_only = true,
            .msprobe_records = true,
            .refuse_content = true,
            .fuzzy_drops_rest = true,
            .one_mapping = true,
            .old_stacks_only = true,
            .npu_order = true,
            .any_float = true,
            .records_of_26 = true,
            .recount_backward = true,
            .fuzzy_any_shape = true,
            .cells_by_part = true,
            .both_needed = true,
            .consistent = true,
        },
    .relative = TDC_RELATIVE_PROMOTED,
    .files = TDC_FILES_OF_LAST_PAIR,
    .squeeze = true,
    .changes = true,
    .columns_of_26 = true,
    .survey = tdc_compat_survey,
    .judge_tensor = tdc_compat26_tensor,
    .judge_statistics = tdc_compat26_statistics,
    .judge_digest = tdc_compat26_digest,
    .judge_call = tdc_compat26_call,
    .finding_text = tdc_compat26_finding_text,
    .verdict_text = verdict_text,
};
