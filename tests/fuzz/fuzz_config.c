/*
 * What config_check reads: a packed configuration (z), the pickle of a checkpoint (p), logs of verl
 * (v) and slime (s), a Python literal (l), two texts to liken (t). The first byte says which. All
 * must be accepted or refused in peace.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/python_literal.h"
#include "host/config/training_log.h"
#include "io/file/unzip.h"
#include "io/tensor/pickle/saved_pickle.h"
#include "io/text/similarity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((size_t)64 << 20)

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void read_pack(const uint8_t *data, size_t size, struct tdc_arena *arena)
{
    struct tdc_unzip zip;
    struct tdc_error error = {0};
    if (tdc_unzip_start("pack", data, size, arena, &zip, &error) != TDC_OK) {
        require(error.message[0] != '\0');
        return;
    }
    for (size_t i = 0; i < zip.count; i++) {
        const struct tdc_unzip_member *member = tdc_unzip_find(&zip, zip.members[i].name);
        const char *content;
        size_t length;
        require(member != NULL && strcmp(member->name, zip.members[i].name) == 0);
        if (tdc_unzip_read(&zip, member, arena, &content, &length, &error) == TDC_OK)
            require(length == member->size && content[length] == '\0');
    }
}

static void read_pickle(const uint8_t *data, size_t size, struct tdc_arena *arena)
{
    struct tdc_saved *root = NULL;
    struct tdc_error error = {0};
    tdc_status status = tdc_saved_pickle(data, size, "pickle", arena, &root, &error);
    require((status == TDC_OK) == (root != NULL));
    tdc_saved_get(tdc_saved_get(root, "args"), "num_experts");
}

static void read_log(const uint8_t *data, size_t size, bool verl, struct tdc_arena *arena)
{
    struct tdc_json *settings = NULL;
    struct tdc_error error = {0};
    size_t found;
    tdc_status status =
        verl ? tdc_verl_settings("log", (const char *)data, size, arena, &settings, &found, &error)
             : tdc_slime_settings("log", (const char *)data, size, arena, &settings, &error);
    require(status != TDC_OK ? error.message[0] != '\0' : settings != NULL);
}

static void read_literal(const char *data, size_t size, struct tdc_arena *arena)
{
    bool memory;
    bool readable = tdc_python_readable(data, size);
    /* names are no values, but everything else that is readable is */
    require(tdc_python_literal(data, size, arena, &memory) == NULL || readable);
}

static void liken(const char *data, size_t size)
{
    size_t half = size / 2;
    double ratio = tdc_similarity(data, half, data + half, size - half, true);
    require(ratio >= 0 && ratio <= 1);
    require(tdc_similarity(data, size, data, size, false) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct tdc_arena arena;
    tdc_arena_init(&arena, MEMORY);
    const uint8_t *rest = data + 1;
    size--;
    if (data[0] == 'z')
        read_pack(rest, size, &arena);
    else if (data[0] == 'p')
        read_pickle(rest, size, &arena);
    else if (data[0] == 'v' || data[0] == 's')
        read_log(rest, size, data[0] == 'v', &arena);
    else if (data[0] == 'l')
        read_literal((const char *)rest, size, &arena);
    else if (size < 600)
        liken((const char *)rest, size);
    tdc_arena_free(&arena);
    return 0;
}
