/* Results read again: json and jsonl after 'j', csv otherwise. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tdcmp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void read_all(const tdc_result *result)
{
    size_t length = 0;
    for (size_t row = 0; row < tdc_result_rows(result); row++)
        for (int field = 0; field <= TDC_RESULT_FIELDS; field++)
            length += strlen(tdc_result_text(result, row, (tdc_result_field)field));
    for (int test = 0; test < 2; test++)
        length += tdc_result_side(result, test != 0) != NULL;
    require(length < (size_t)1 << 40);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool json = size != 0 && data[0] == 'j';
    char path[64] = "/tmp/fuzz_result_XXXXXX.json";
    int fd = mkstemps(path, 5);
    require(fd >= 0);
    char named[64];
    snprintf(named, sizeof named, "%.*s%s", (int)strlen(path) - 5, path, json ? ".json" : ".csv");
    size_t skipped = size != 0;
    require(write(fd, data + skipped, size - skipped) == (ssize_t)(size - skipped));
    close(fd);
    require(rename(path, named) == 0);
    tdc_result *result = NULL;
    struct tdc_error error = {0};
    tdc_status status = tdc_result_open(named, &result, &error);
    require(status == TDC_OK ? result != NULL : result == NULL && error.status == status);
    if (status == TDC_OK)
        read_all(result);
    tdc_result_free(result);
    unlink(named);
    return 0;
}
