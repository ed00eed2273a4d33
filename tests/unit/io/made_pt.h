/*
 * made_pt.h - pickles written by hand, files around them, and what the reader should say.
 *
 * Include after cmocka.h.
 */
#ifndef TDC_TESTS_MADE_PT_H
#define TDC_TESTS_MADE_PT_H

#include "tests/support/tensor_probe.h"
#include "tests/unit/io/made_zip.h"

#define PROTOCOL "\x80\2"
#define V2       "ctorch._utils\n_rebuild_tensor_v2\n"
#define STORAGE(class, count)                                                                      \
    "(X\7\0\0\0storagec" class "\nX\1\0\0\0"                                                       \
                               "0X\3\0\0\0cpu" count "tQ"
#define FLOATS "torch\nFloatStorage"
#define HOOKS  "\x89" /* requires_grad */ "ccollections\nOrderedDict\n)R"
#define SIX    STORAGE(FLOATS, "K\6")
/* storage, offset, sizes, strides: a whole _rebuild_tensor_v2 */
#define TENSOR(storage, rest) PROTOCOL V2 "(" storage rest HOOKS "tR."
#define LARGEST               "\x8a\10\xff\xff\xff\xff\xff\xff\xff\x7f"
#define TWO_62                "\x8a\10\0\0\0\0\0\0\0\x40"

struct pickle_case {
    const char *pickle;
    size_t size;
    tdc_status status;
    const char *text; /* part of the message or of the description */
};

#define CASE(pickle, status, text)                                                                 \
    {                                                                                              \
        pickle, sizeof(pickle) - 1, status, text                                                   \
    }

/* A file around the pickle; its one storage has the 24 bytes 0, 1, 2, ... */
static inline void make_file(struct made_zip *zip, const void *pickle, size_t size, bool wide)
{
    unsigned char storage[24];
    for (unsigned i = 0; i < sizeof storage; i++)
        storage[i] = (unsigned char)i;
    const struct made_member members[] = {{"any name/data.pkl", pickle, size},
                                          {"any name/data/0", storage, sizeof storage},
                                          {"any name/version", "3\n", 2}};
    make_zip(zip, members, 3, wide);
}

static inline void check_bytes(const char *what, const struct made_zip *zip, tdc_status status,
                               const char *text)
{
    struct tdc_tensor tensor;
    struct tdc_error error = {0};
    char found[1024];
    tdc_status given = probe_parse(zip->bytes, zip->size, TDC_TENSOR_PT, &error);
    if (given != status)
        fail_msg("%s: status %d, %s", what, (int)given, error.message);
    if (tdc_tensor_parse(zip->bytes, zip->size, TDC_TENSOR_PT, "made", &tensor, &error) == TDC_OK)
        probe_describe(&tensor, found, sizeof found);
    else
        snprintf(found, sizeof found, "%s", error.message);
    if (strstr(found, text) == NULL)
        fail_msg("%s: '%s' has no '%s'", what, found, text);
}

#endif
