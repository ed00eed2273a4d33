/* msprobe_log.h - log lines as msprobe prints them, for those who grep. */
#ifndef TDC_CLI_MSPROBE_LOG_H
#define TDC_CLI_MSPROBE_LOG_H

#include "tdcmp.h"

/* `YYYY-MM-DD HH:MM:SS (pid) [LEVEL] text` on stdout, as MSPROBE_LOG_LEVEL allows; control
 * characters in the text become `_`. Fits struct tdc_precheck_options. */
void tdc_msprobe_log(void *context, tdc_message_level level, const char *text);

#endif
