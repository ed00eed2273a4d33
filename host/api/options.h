/* options.h - a caller's options, of whatever version of the header. */
#ifndef TDC_HOST_OPTIONS_H
#define TDC_HOST_OPTIONS_H

#include "tdcmp.h"

/* All members: the caller's as far as it has them, defaults behind. TDC_ERR_ARGUMENT for options
 * that were not initialised, or ask for something a newer version has. */
tdc_status tdc_options_read(const struct tdc_options *given, struct tdc_options *whole,
                            struct tdc_error *error);

/* The same for an array of outputs, whose first tells how far apart they are. */
tdc_status tdc_outputs_read(const struct tdc_output *given, size_t count, struct tdc_output *all,
                            struct tdc_error *error);

#endif
