/* extract.h - the members of a pack as files. */
#ifndef TDC_CONFIG_EXTRACT_H
#define TDC_CONFIG_EXTRACT_H

#include "host/config/config_check.h"

/* Writes all members below FOLDER/name, which is created. Names that lead elsewhere are refused
 * before anything is written. */
tdc_status tdc_config_extract(struct tdc_config_work *work, const struct tdc_unzip *zip,
                              const char *folder, const char *name);

#endif
