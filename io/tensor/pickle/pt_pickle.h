/*
 * pt_pickle.h - a reader of the pickles that torch.save makes for one tensor.
 *
 * It executes nothing: opcodes move small values on a stack of fixed size, names must be on the
 * list of pt_names.h, and "calling" one of them only notes what its arguments say about a tensor
 * (pt_rebuild.h). What a tensor's pickle cannot contain is an error.
 */
#ifndef TDC_IO_PT_PICKLE_H
#define TDC_IO_PT_PICKLE_H

#include "io/tensor/pickle/pt_value.h"

#define TDC_PICKLE_BYTES ((size_t)1 << 20) /* longest pickle; that of a tensor has about 200 */

/*
 * Reads one pickle from the start of bytes and hands out its value and, if consumed is not NULL,
 * its length. May be used again for the next pickle of a file; earlier values stay valid.
 * TDC_ERR_FORMAT for nonsense, TDC_ERR_UNSUPPORTED for what a tensor's pickle does not hold.
 */
tdc_status tdc_pickle_run(struct tdc_pickle *pickle, const unsigned char *bytes, size_t size,
                          struct tdc_pickle_value *result, size_t *consumed);

#endif
