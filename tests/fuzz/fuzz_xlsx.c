/* Workbooks: the file itself after 'f', otherwise the XML of a sheet in a workbook that is sound.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/table/text_table.h"
#include "tests/support/made_book.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("xlsx", MFD_CLOEXEC);
    require(fd >= 0);
    if (size != 0 && data[0] == 'f')
        require(write(fd, data + 1, size - 1) == (ssize_t)size - 1);
    else
        require(make_book_of(fd, (const char *)data, size));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct tdc_text_table table;
    struct tdc_error error = {0};
    tdc_status status = tdc_text_table_from_xlsx(path, 0, &table, &error);
    require(status == TDC_OK ? table.count != 0 : error.status == status);
    size_t length = 0;
    for (size_t i = 0; status == TDC_OK && i < table.count; i++)
        for (size_t k = 0; k < table.rows[i].count; k++)
            length += strlen(tdc_text_cell(&table.rows[i], k));
    require(length < (size_t)1 << 40);
    tdc_text_table_free(&table);
    close(fd);
    return 0;
}
