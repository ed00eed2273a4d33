/* atb_dump.h - the list of an execution round of ATB in the place of a dump.json. Internal to
 * host/dump and host/find. */
#ifndef TDC_HOST_ATB_DUMP_H
#define TDC_HOST_ATB_DUMP_H

#include "host/dump/dump.h"

#define TDC_ATB_LIST_FILE "statistic.csv"

/* Is the file called that, and is it one? */
bool tdc_is_atb_dump(const char *path);

/* Fills a dump, whose path and folder are set, with the tensors of the list: an entry for each
 * operator, called as the modules of other dumps, `Module.1_Layer.0_Attention.LinearOperation
 * .forward.0`, in the order in which operators end. */
tdc_status tdc_dump_load_atb(struct tdc_dump *dump, struct tdc_error *error);

#endif
