/* config_file.h - small JSON files that a user writes, read as Python reads them. */
#ifndef TDC_CLI_CONFIG_FILE_H
#define TDC_CLI_CONFIG_FILE_H

#include "io/text/json.h"

struct tdc_config_file {
    const struct tdc_json *root;
    struct tdc_arena arena;
};

/* False after a complaint when there is no such file, or it is large or no JSON. The caller frees
 * what was read. */
bool tdc_config_file_read(const char *path, struct tdc_config_file *config);
void tdc_config_file_free(struct tdc_config_file *config);

#endif
