/* input_file.h - msprobe's conditions on files it reads. */
#ifndef TDC_PRECHECK_INPUT_FILE_H
#define TDC_PRECHECK_INPUT_FILE_H

#include "tdcmp.h"

/*
 * Exists, no symbolic link, no overlong name, regular, readable, the caller's own (root reads all),
 * harmless characters, below the size limit of its suffix; in this order. TDC_ERR_NOT_FOUND,
 * TDC_ERR_READ or TDC_ERR_REFUSED, with a message naming file and reason.
 */
tdc_status tdc_input_file_check(const char *path, struct tdc_error *error);

/* msprobe's exception text for such a failure: "[msprobe] 非法文件路径： ", ... */
const char *tdc_input_file_exception(tdc_status status);

#endif
