/* input_path.h - what msprobe says about paths before it uses them. */
#ifndef TDC_CLI_INPUT_PATH_H
#define TDC_CLI_INPUT_PATH_H

#include <stdbool.h>

/* False after msprobe's message: a file (or folder) that is not there or not one, or whose name
 * does not end in the suffix; NULL: any. */
bool tdc_msprobe_input(const char *path, bool folder, const char *suffix);
/* False after msprobe's message: something is there already. */
bool tdc_msprobe_absent(const char *path);

#endif
