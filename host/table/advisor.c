/* advisor.c - the three lines about the first suspicious row (docs/msprobe.md#advisor). */
#include <stdlib.h>
#include <string.h>

#include "host/table/table.h"
#include "io/file/byte_writer.h"
#include "io/base/error.h"
#include "io/file/out_file.h"
#include "io/base/utf8_step.h"

/* `random`: the sound rules know that another mask is no mistake of the operator, also where
 * something before it differs too. */
static const char *advice_for(const char *name, tdc_origin_kind origin, bool random)
{
    static const char *const random_calls[] = {"conv2d",   "conv3d",     "matmul",
                                               "nll_loss", "layer_norm", "lstm"};
    bool forward = strstr(name, "forward") != NULL;
    if (random || origin == TDC_ORIGIN_RANDOM)
        return "This operator is random and its state differs between the runs: fix the seed "
               "(seed_all(mode=True)) or set its probability to 0 and dump again.";
    if (origin == TDC_ORIGIN_ARGUMENT)
        return "An argument of this call differs between the runs: check the configuration.";
    if (strstr(name, "input") != NULL)
        return forward ? "1. Analyze the model to view the input source.\n"
                         "2. Check whether an inplace API causes the output result to overwrite "
                         "the input result. That is, the fault is actually caused by a "
                         "computation error.\n"
                         "3. The fault may be caused by memory corruption and further analysis is "
                         "required."
                       : "Check whether the forward computation result is affected.";
    for (size_t i = 0; i < sizeof random_calls / sizeof *random_calls; i++)
        if (strstr(name, random_calls[i]) != NULL)
            return "This torch api may be uncertainty in the calculation, can "
                   "seed_all(mode=True) to enable deterministic computing.";
    return forward ? "This is a forward API computation error. Check the computation "
                     "implementation."
                   : "This is a backward API computation error. Check the computation "
                     "implementation.";
}

static bool suspicious(const struct tdc_table *table, const struct tdc_row *row)
{
    if (row->npu == TDC_UNPAIRED)
        return false;
    /* with origins known a consequence is no suspect */
    if (table->origins != NULL && tdc_table_origins(table) != 0)
        return row->origin != TDC_ORIGIN_NONE;
    return row->row_class == TDC_ROW_DIFFERENT;
}

const char *tdc_advice_text(tdc_table *table)
{
    if (table->advice != NULL)
        return table->advice;
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 20);
    size_t row = 0;
    while (row < table->row_count && !suspicious(table, &table->rows[row]))
        row++;
    if (row < table->row_count) {
        const char *name = tdc_row_npu(table, &table->rows[row])->name;
        bool output = tdc_state_is_output(tdc_row_npu(table, &table->rows[row])->state);
        bool random = table->rules->extended && output && strstr(name, "ropout") != NULL;
        tdc_text_addf(&text, "Line: %zu\nSuspect Nodes: ", row);
        tdc_utf8_add(&text, name, strlen(name));
        tdc_text_addf(&text, "\nExpert Advice: %s\n",
                      advice_for(name, (tdc_origin_kind)table->rows[row].origin, random));
    } else {
        tdc_text_adds(&text, "Line: NA\nSuspect Nodes: NA\nExpert Advice: All data in comparison "
                             "result meets the accuracy requirements.\n");
    }
    if (text.failed) {
        tdc_text_free(&text);
        return NULL;
    }
    return table->advice = text.data;
}

tdc_status tdc_advice_write(tdc_table *table, const char *path, struct tdc_error *error)
{
    const char *text = tdc_advice_text(table);
    if (text == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    struct tdc_out_file file;
    tdc_status status = tdc_out_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    int failure = tdc_write_fully(file.fd, text, strlen(text));
    if (failure == 0)
        return tdc_out_file_commit(&file, error);
    tdc_out_file_discard(&file);
    return tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s: cannot be written", path);
}
