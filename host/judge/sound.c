/* sound.c - the rule set for careful engineers, and what its three modes share. */
#include "host/judge/sound.h"

#include <string.h>

void tdc_sound_say(struct tdc_text *message, const char *text)
{
    if (strstr(tdc_text_get(message), text) != NULL)
        return;
    if (message->length != 0)
        tdc_text_addc(message, ' ');
    tdc_text_adds(message, text);
}

bool tdc_sound_structure(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message)
{
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    if (npu == NULL || bench == NULL) {
        tdc_sound_say(message, npu == NULL ? "No NPU data matched." : "No bench data matched.");
        row->verdict = TDC_VERDICT_UNMATCHED;
        row->row_class = TDC_ROW_UNMATCHED;
        return true;
    }
    if (strcmp(npu->requires_grad, bench->requires_grad) != 0)
        tdc_sound_say(message, "Requires_grad inconsistent.");
    if (npu->scalar != bench->scalar || strcmp(npu->shape, bench->shape) != 0) {
        tdc_sound_say(message, "Shape of NPU and bench Tensor do not match. Skipped.");
        row->verdict = TDC_VERDICT_UNMATCHED;
        row->row_class = TDC_ROW_UNMATCHED;
        return true;
    }
    if (strcmp(npu->dtype, bench->dtype) != 0)
        tdc_sound_say(message, "Dtype of NPU and bench Tensor do not match.");
    if (row_case->match->fuzzy && strcmp(npu->name, bench->name) != 0)
        tdc_sound_say(message, "Fuzzy matching data, the comparison accuracy may be affected.");
    return false;
}

static bool same_stat(const struct tdc_record *npu, const struct tdc_record *bench, int which)
{
    double difference;
    if (tdc_stat_difference(npu, bench, (enum tdc_statistic)which, &difference))
        return difference == 0;
    if (npu->stat_kinds[which] != bench->stat_kinds[which])
        return false;
    return npu->stat_kinds[which] != TDC_STAT_TEXT ||
           strcmp(npu->stats[which].text, bench->stats[which].text) == 0;
}

void tdc_sound_scalar(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message)
{
    row->row_class = TDC_ROW_SAME;
    if (same_stat(row_case->npu, row_case->bench, TDC_MAX))
        return;
    /* Texts differ for good reasons (device names, paths): worth a word, not a verdict. */
    bool text = row_case->npu->stat_kinds[TDC_MAX] == TDC_STAT_TEXT &&
                row_case->bench->stat_kinds[TDC_MAX] == TDC_STAT_TEXT;
    tdc_sound_say(message, text ? "Argument texts differ." : "Argument values differ.");
    if (!text)
        row->row_class = TDC_ROW_DIFFERENT;
}

static const char *verdict_text(enum tdc_verdict verdict)
{
    switch (verdict) {
    case TDC_VERDICT_ERROR:
        return "Error";
    case TDC_VERDICT_PASS:
        return "Pass";
    default:
        return tdc_rules_compat.verdict_text(verdict);
    }
}

const struct tdc_rules tdc_rules_sound = {
    .name = "sound",
    .match = {.list_bench_only = true},
    .relative = TDC_RELATIVE_F64,
    .last_pair_wins = false,
    .extended = true,
    .judge_tensor = tdc_sound_tensor,
    .judge_statistics = tdc_sound_statistics,
    .judge_digest = tdc_sound_digest,
    .highlight = &tdc_highlight_sound,
    .verdict_text = verdict_text,
};
