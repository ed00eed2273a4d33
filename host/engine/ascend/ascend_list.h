/* ascend_list.h - see ascend_list.c. */
#ifndef TDC_ASCEND_LIST_H
#define TDC_ASCEND_LIST_H

#include "host/engine/device/family.h"

unsigned tdc_ascend_list(const struct tdc_device_family *family, const struct tdc_listing *listing);

#endif
