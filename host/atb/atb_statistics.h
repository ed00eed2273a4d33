/* atb_statistics.h - largest and smallest element, mean and norm of a tensor, as torch has them. */
#ifndef TDC_HOST_ATB_STATISTICS_H
#define TDC_HOST_ATB_STATISTICS_H

#include "host/dump/dump.h"
#include "io/tensor/tensor_file.h"
#include "kernels/pair.h"

/* Texts as Python prints them: "1.5", "inf", "tensor(True)"; "N/A" for NaN and for what there is
 * not. */
struct tdc_atb_statistics {
    char texts[TDC_STATISTICS][40];
};

/* All "N/A": no tensor, or one without elements or dimensions. */
void tdc_atb_no_statistics(struct tdc_atb_statistics *statistics);

/* Of one side of a pair of sums with extremes; false when they do not tell, and the tensor itself
 * must be asked: in short tensors the order of the sum matters, infinities are not in the sums, nor
 * the numbers that face them. */
bool tdc_atb_statistics_of_sums(const struct tdc_pair_sums *sums, bool bench, tdc_dtype dtype,
                                struct tdc_atb_statistics *statistics);
/* Of an open tensor, in one pass; false when its data vanished or memory ran out. */
bool tdc_atb_statistics_of_tensor(const struct tdc_tensor *tensor,
                                  struct tdc_atb_statistics *statistics);

#endif
