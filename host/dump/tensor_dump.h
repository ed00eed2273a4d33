/* tensor_dump.h - tensor files in the place of dumps. Internal to host/dump and host/find. */
#ifndef TDC_HOST_TENSOR_DUMP_H
#define TDC_HOST_TENSOR_DUMP_H

#include "host/dump/dump.h"

/* Does the name say so? */
bool tdc_is_tensor_file(const char *path);

/* Fills a dump, whose path and folder are set, with the one tensor of its file. */
tdc_status tdc_dump_load_tensor(struct tdc_dump *dump, struct tdc_error *error);

#endif
