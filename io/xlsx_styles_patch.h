/*
 * xlsx_styles_patch.h - the yellow of the original tool.
 *
 * It stores the fill as ARGB 00FFFF00; libxlsxwriter always writes an alpha of FF. Everything shows
 * both alike, but tables are compared by these texts.
 */
#ifndef TDC_IO_XLSX_STYLES_PATCH_H
#define TDC_IO_XLSX_STYLES_PATCH_H

#include "io/xlsx_package.h"

/* Rewrites the file from its xl/styles.xml on (a few KB: the sheets come before it) with the other
 * yellow. Leaves the file alone, which is no failure, where zip64 fields or a layout other than
 * libxlsxwriter's make that more than a small change. The package must be read anew afterwards. */
tdc_status tdc_xlsx_patch_yellow(const struct tdc_xlsx_package *package, struct tdc_error *error);

#endif
