/* fuzz_xlsx.c - workbooks of any content: read, or refused. */
#include <stdint.h>

#include "io/table/xlsx_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdc_sheet sheet;
    struct tdc_error error;
    tdc_sheet_parse(data, size, "fuzz.xlsx", &sheet, &error);
    tdc_sheet_free(&sheet);
    return 0;
}
