/* config_file.h - small JSON files that a user writes. */
#ifndef TDC_CLI_CONFIG_FILE_H
#define TDC_CLI_CONFIG_FILE_H

#include <cjson/cJSON.h>

/* NULL after a complaint when there is no such file, or it is large or no JSON. The caller deletes
 * the result. */
cJSON *tdc_config_file_read(const char *path);

#endif
