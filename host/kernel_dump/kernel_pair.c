#include "host/kernel_dump/kernel_pair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/engine.h"
#include "host/graph/files/tensor_statistics.h"
#include "host/judge/compat/compat.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/text/pytext.h"

/* ---- one file -------------------------------------------------------------------------------- */

/* Sums are float64; msprobe's are of the type of the file, so last digits of mean and norm may
 * differ. */
static void read_side(struct tdc_kernel_side *side)
{
    struct tdc_tensor tensor;
    struct tdc_error error;
    if (side->path == NULL ||
        tdc_tensor_open(side->path, TDC_TENSOR_NPY, &tensor, &error) != TDC_OK)
        return;
    struct tdc_tensor_statistics all;
    if (tensor.dtype != TDC_TEXT) {
        side->read = tdc_tensor_statistics(&tensor, &all);
        side->dtype = tensor.dtype;
        side->dimensions = tensor.dimensions;
        side->count = tensor.count;
        memcpy(side->shape, tensor.shape, tensor.dimensions * sizeof *side->shape);
        double nothing = all.nan ? (double)NAN : 0;
        side->stats[TDC_MAX] = all.most + nothing;
        side->stats[TDC_MIN] = all.least + nothing;
        side->stats[TDC_MEAN] = all.sum / (double)tensor.count;
        side->stats[TDC_NORM] = sqrt(all.squares);
        bool narrow = tensor.dtype == TDC_F32 || tensor.dtype == TDC_F16;
        for (int i = 0; i < TDC_STATISTICS && narrow; i++)
            side->stats[i] = (double)(float)side->stats[i];
    }
    tdc_tensor_close(&tensor);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Why two files are not compared; "" when they are. */
static void find_obstacle(struct tdc_kernel_pair *pair)
{
    const struct tdc_kernel_side *npu = &pair->npu, *bench = &pair->bench;
    char *message = pair->message;
    if (!npu->read || !bench->read) {
        strcpy(message, "Dump file is not ndarray.\n");
    } else if (npu->count == 0 || bench->count == 0) {
        strcpy(message, "This is empty data, can not compare.\n");
    } else {
        bool shapes = npu->dimensions == bench->dimensions &&
                      memcmp(npu->shape, bench->shape, npu->dimensions * sizeof *npu->shape) == 0;
        if (npu->dimensions == 0 || bench->dimensions == 0)
            strcat(message, "This is type of scalar data, can not compare.\n");
        if (!shapes)
            strcat(message, "Shape of NPU and bench Tensor do not match.\n");
        if (npu->dtype != bench->dtype)
            strcat(message, "Dtype of NPU and bench Tensor do not match. Skipped.\n");
    }
}

static void judge(struct tdc_kernel_pair *pair, const struct tdc_outcome *outcome)
{
    static const struct tdc_match any_file = {0};
    const struct tdc_case row_case = {.match = &any_file, .n_file = "n.npy", .b_file = "b.npy"};
    struct tdc_row row = {0};
    struct tdc_text message;
    tdc_text_init(&message, sizeof pair->message - 1);
    tdc_rules_compat.judge_tensor(&row_case, outcome, &row, NULL, &message);
    bool apart = outcome->code == TDC_OUTCOME_COMPARED &&
                 outcome->sums.nan_apart + outcome->sums.inf_apart != 0;
    if (apart && pair->strict) {
        snprintf(pair->message, sizeof pair->message,
                 "The position of inf or nan in NPU and bench Tensor do not match.\n");
    } else {
        pair->compared = true;
        snprintf(pair->message, sizeof pair->message, "%s", tdc_text_get(&message));
        memcpy(pair->values, row.values, sizeof pair->values);
        pair->verdict = tdc_rules_compat.verdict_text(&row);
    }
    tdc_text_free(&message);
}

static void pair_done(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    struct tdc_kernel_pair *pair = job->row;
    (void)context;
    read_side(&pair->npu);
    read_side(&pair->bench);
    if (pair->strict)
        find_obstacle(pair);
    if (pair->message[0] == '\0')
        judge(pair, outcome);
}

tdc_status tdc_kernel_pairs_compare(struct tdc_kernel_pair *pairs, size_t count,
                                    const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_job *jobs = calloc(count + 1, sizeof *jobs);
    if (jobs == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", count);
    size_t used = 0;
    if (!tdc_guard_begin()) {
        free(jobs);
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    }
    for (size_t i = 0; i < count; i++) {
        struct tdc_kernel_pair *pair = &pairs[i];
        pair->verdict = "";
        if (pair->npu.path != NULL && pair->bench.path != NULL) {
            jobs[used++] = (struct tdc_job){.n_folder = pair->npu.folder,
                                            .n_file = pair->npu.file,
                                            .b_folder = pair->bench.folder,
                                            .b_file = pair->bench.file,
                                            .order = i,
                                            .row = pair};
            continue;
        }
        read_side(&pair->npu);
        read_side(&pair->bench);
        find_obstacle(pair);
    }
    struct tdc_engine engine = {.rule = tdc_rules_compat.relative,
                                .threads = options->threads,
                                .io = options->io,
                                .backend = &tdc_backend_cpu,
                                .options = options,
                                .done = pair_done};
    tdc_status status = used != 0 ? tdc_engine_run(&engine, jobs, used, error) : TDC_OK;
    tdc_guard_end();
    free(jobs);
    return status;
}

/* ---- texts ----------------------------------------------------------------------------------- */

void tdc_kernel_shape(struct tdc_text *out, const struct tdc_kernel_side *side, bool brackets)
{
    tdc_text_addc(out, brackets ? '[' : '(');
    for (unsigned i = 0; i < side->dimensions; i++)
        tdc_text_addf(out, i == 0 ? "%llu" : ", %llu", (unsigned long long)side->shape[i]);
    if (side->dimensions == 1 && !brackets)
        tdc_text_addc(out, ',');
    tdc_text_addc(out, brackets ? ']' : ')');
}

void tdc_kernel_number(struct tdc_text *out, double number, bool narrow)
{
    char text[TDC_FLOAT_TEXT];
    if (narrow && isfinite(number)) {
        /* the fewest digits that read back as the same float32 */
        char digits[40];
        double value = number;
        for (int precision = 0; precision < 9; precision++) {
            int length = snprintf(digits, sizeof digits, "%.*e", precision, number);
            if (tdc_float_parse(digits, (size_t)length, &value) && (float)value == (float)number)
                break;
        }
        number = value;
    }
    tdc_text_add(out, text, tdc_float_repr(number, text));
}
