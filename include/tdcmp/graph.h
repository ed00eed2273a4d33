/* graph.h - dumps of networks that run as graphs: GE dump files and what TorchAir leaves. */
#ifndef TDCMP_GRAPH_H
#define TDCMP_GRAPH_H

#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

struct tdc_conversion {
    uint64_t files, tensors; /* dump files read, and files written from them */
    uint64_t failed;         /* dump files of which not everything was written */
    uint64_t passed_over;    /* files of a folder that are no dumps of operators */
};

/*
 * Writes the tensors of a GE dump file, or of all below a folder, to .npy files in `output`, which
 * is made if missing: FILE.input.0.npy, FILE.output.0.npy, ... in the shapes they were stored in.
 * bfloat16 becomes float32, float8 float64, int4 int8 and uint1 uint8, as numpy knows none of them.
 * Buffers and workspaces become FILE.l1buffer.0.bin and FILE.space.0.bin. A file that cannot be
 * read is told through options->message and listed in convert_failed_file_list.txt; it does not end
 * the run. TDC_ERR_NOTHING when there was no dump file. Of the options message, context and cancel
 * count.
 */
tdc_status tdc_convert_dump(const char *path, const char *output, const struct tdc_options *options,
                            struct tdc_conversion *conversion, size_t size,
                            struct tdc_error *error);

/* Which of the old tools to follow: they differ in names of files and of two types. */
typedef enum {
    TDC_TORCHAIR_NONE = 0,
    TDC_TORCHAIR_MSIT,   /* msit llm compare */
    TDC_TORCHAIR_MSPROBE /* msprobe compare -m torchair */
} tdc_torchair_tool;

/* Whether a folder holds a graph text of GE (dynamo_original_graph_*.txt), as dumps of networks
 * that run as graphs do. */
bool tdc_is_torchair_dump(const char *path);

/*
 * A GE dump against an FX dump or another GE dump, as the old tools compare them: a table
 * msit_cmp_report_*.csv or msprobe_cmp_report_*.csv for each rank and graph in the folder `output`.
 * rank < 0: all ranks. A file that cannot be read is the reason of its row. options->message gets
 * the lines of the old tools; threads, io, cancel and progress count too.
 * TDC_ERR_NOT_FOUND without a graph text or ranks in common, TDC_ERR_NOTHING when no table could be
 * made.
 */
tdc_status tdc_torchair_compare(const char *mine, const char *golden, const char *output,
                                tdc_torchair_tool tool, long rank,
                                const struct tdc_options *options, struct tdc_error *error);

/* Two single files (.npy, .pt, .pth, .bin): the metrics of such a row as a Python dict in the text,
 * which is cut to `size`. TDC_ERR_UNSUPPORTED for other files, or the error of reading one. */
tdc_status tdc_torchair_compare_files(const char *mine, const char *golden,
                                      const struct tdc_options *options, char *text, size_t size,
                                      struct tdc_error *error);

/* Fusion rules of CANN's tools, JSON files; NULL: not given. */
struct tdc_offline_rules {
    const char *fusion;    /* which original operators those of the compiled model are made of */
    const char *quantised; /* the same of the quantised model, before it was compiled */
    const char *unfused;   /* the same of the reference, a model compiled without fusion */
};

/*
 * Two folders of GE dump files, or one of them and one of arrays OP.OUTPUT.TIME.npy with a fusion
 * rule, as CANN's msaccucmp and `msprobe compare -m offline_data` compare them: result_STAMP.csv in
 * the folder `output`. *lonely: operators without a counterpart. A file that cannot be read is the
 * reason of its row. Of the options message, context, threads, cancel and progress count.
 * TDC_ERR_MISMATCH when the rules do not suit the sides, TDC_ERR_NOTHING when no operator has a
 * counterpart.
 */
tdc_status tdc_offline_compare(const char *mine, const char *golden, const char *output,
                               const struct tdc_offline_rules *rules,
                               const struct tdc_options *options, size_t *lonely,
                               struct tdc_error *error);

/* Two .npy files of one shape: names and values of the metrics as two lines of options->message. */
tdc_status tdc_offline_compare_files(const char *mine, const char *golden,
                                     const struct tdc_options *options, struct tdc_error *error);

TDC_INTERFACE_END
#endif
