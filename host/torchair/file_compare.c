/* file_compare.c - two single files: the metrics of a row, nothing written. */
#include <stdio.h>
#include <string.h>

#include "host/torchair/report.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/text/pytext.h"

static bool readable(const char *path)
{
    static const char *const endings[] = {".npy", ".pt", ".pth", ".bin"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (tdc_ends_in(path, endings[i]))
            return true;
    return false;
}

/* {'cosine_similarity': 1.0, ..., 'cmp_fail_reason': ''}; without metrics the reason alone. */
static void write_dict(const struct tdc_report_row *row, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "{");
    for (size_t i = 0; i < TDC_SOFT_METRICS && row->judged; i++) {
        char number[TDC_FLOAT_TEXT];
        tdc_float_repr(row->metrics[i], number);
        int added =
            snprintf(text + length, size - length, "'%s': %s, ", tdc_report_metrics[i], number);
        length += added > 0 && (size_t)added < size - length ? (size_t)added : 0;
    }
    const char *reason = row->reason != NULL ? row->reason : "";
    char quote = strchr(reason, '\'') != NULL ? '"' : '\'';
    snprintf(text + length, size - length, "'cmp_fail_reason': %c%s%c}", quote, reason, quote);
}

tdc_status tdc_torchair_compare_files(const char *mine, const char *golden,
                                      const struct tdc_options *options, char *text, size_t size,
                                      struct tdc_error *error)
{
    static const struct tdc_report_style style = {"torch.uint16", "torch.uint32"};
    struct tdc_report_row row = {.golden = {.name = golden}, .mine = {.name = mine}};
    if (!readable(golden) || !readable(mine))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "Unsupported data format %s",
                        readable(golden) ? mine : golden);
    tdc_status status = tdc_report_rows_fill(&row, 1, &style, options, error);
    if (status == TDC_OK && (row.golden.shape == NULL || row.mine.shape == NULL))
        status = tdc_fail(error, TDC_ERR_FORMAT, "%s", row.reason != NULL ? row.reason : "");
    if (status == TDC_OK)
        write_dict(&row, text, size);
    tdc_report_row_free(&row);
    return status;
}
