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

TDC_INTERFACE_END
#endif
