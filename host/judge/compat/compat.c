/* compat.c - the rule set that reproduces msprobe. */
#include "host/judge/compat/compat.h"

static const char *verdict_text(const struct tdc_row *row)
{
    switch ((enum tdc_verdict)row->verdict) {
    case TDC_VERDICT_EMPTY:
        return "";
    case TDC_VERDICT_YES:
        return "Yes";
    case TDC_VERDICT_NO:
        return "No";
    case TDC_VERDICT_NONE:
        return "None";
    case TDC_VERDICT_UNMATCHED:
        return "Unmatched";
    case TDC_VERDICT_WARNING:
        return "Warning";
    case TDC_VERDICT_PASS:
        return "pass";
    case TDC_VERDICT_DIFFERENT:
        return "Different";
    case TDC_VERDICT_NA:
        return "N/A";
    case TDC_VERDICT_ERROR:
        return "Error";
    }
    return "";
}

const struct tdc_rules tdc_rules_compat = {
    .name = "compat",
    .match =
        {
            .shape_in_key = true,
            .cross_product = true,
            .same_dtype_only = true,
            .list_bench_only = false,
            .msprobe_records = true,
            .refuse_content = true,
            .fuzzy_drops_rest = true,
            .one_mapping = true,
            .old_stacks_only = true,
        },
    .relative = TDC_RELATIVE_NATIVE,
    .files = TDC_FILES_OF_LAST_NAME,
    .extended = false,
    .survey = tdc_compat_survey,
    .judge_tensor = tdc_compat_tensor,
    .judge_statistics = tdc_compat_statistics,
    .judge_digest = tdc_compat_digest,
    .highlight = &tdc_highlight_compat,
    .verdict_text = verdict_text,
};
