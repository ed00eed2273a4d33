/* Archives of texts: whatever the directory says, members have names and, if read, their sizes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/file/unzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_member(const struct tdc_unzip *zip, const struct tdc_unzip_member *member,
                         struct tdc_arena *arena)
{
    const struct tdc_unzip_member *found = tdc_unzip_find(zip, member->name);
    require(found != NULL && found >= member && strcmp(found->name, member->name) == 0);
    const char *content;
    size_t length;
    struct tdc_error error = {0};
    tdc_status status = tdc_unzip_read(zip, member, arena, &content, &length, &error);
    require(status == TDC_OK || error.status == status);
    if (status == TDC_OK)
        require(length == member->size && content[length] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdc_arena arena;
    struct tdc_unzip zip;
    struct tdc_error error = {0};
    tdc_arena_init(&arena, (size_t)16 << 20);
    tdc_status status = tdc_unzip_start("f", data, size, &arena, &zip, &error);
    require(status == TDC_OK || error.status == status);
    for (size_t i = 0; status == TDC_OK && i < zip.count; i++)
        check_member(&zip, &zip.members[i], &arena);
    tdc_arena_free(&arena);
    return 0;
}
