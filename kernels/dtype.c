#include "kernels/dtype.h"

#include <float.h>
#include <string.h>
#include <strings.h>

#include "kernels/dtype_list.h"

#define COMMON(id, text, bytes, what, bits, lowest, most, framework, npy, shortly)                 \
    .name = text, .size = bytes, .kind = TDC_KIND_##what, .digits = bits, .least = lowest,         \
    .largest = most, .torch = "torch." text, .mindspore = framework, .numpy = npy,                 \
    .brief = shortly
#define CLASSED(id, text, bytes, what, bits, lowest, most, framework, stem, npy, shortly)          \
    [id] = {COMMON(id, text, bytes, what, bits, lowest, most, framework, npy, shortly),            \
            .storage = stem "Storage", .tensor = "torch." stem "Tensor"},
#define CLASSLESS(id, text, bytes, what, bits, lowest, most, framework, stem, npy, shortly)        \
    [id] = {COMMON(id, text, bytes, what, bits, lowest, most, framework, npy, shortly)},

static const struct tdc_dtype_entry entries[TDC_DTYPE_COUNT] = {
    [TDC_DTYPE_NONE] = {.name = "none"},
    TDC_CLASSED_DTYPES(CLASSED) TDC_CLASSLESS_DTYPES(CLASSLESS)
        /* numpy's alone */
        [TDC_F80] = {.name = "longdouble",
                     .size = 16,
                     .kind = TDC_KIND_FLOATING,
                     .digits = 63,
                     .least = -16382,
                     .largest = DBL_MAX, /* as far as a double goes */
                     .numpy = "<f16"},
    [TDC_TEXT] = {.name = "text", .kind = TDC_KIND_TEXT},
};

/* Other words for a dtype, as endings. */
static const struct {
    const char *word;
    tdc_dtype dtype;
} aliases[] = {
    {".float", TDC_F32},
    {"half", TDC_F16},
    {"double", TDC_F64},
};

const struct tdc_dtype_entry *tdc_dtype_entry(tdc_dtype dtype)
{
    return &entries[(unsigned)dtype < TDC_DTYPE_COUNT ? dtype : TDC_DTYPE_NONE];
}

size_t tdc_dtype_size(tdc_dtype dtype)
{
    return tdc_dtype_entry(dtype)->size;
}

const char *tdc_dtype_name(tdc_dtype dtype)
{
    return (unsigned)dtype < TDC_DTYPE_COUNT ? entries[dtype].name : "unknown";
}

double tdc_dtype_largest(tdc_dtype dtype)
{
    double largest = tdc_dtype_entry(dtype)->largest;
    return largest != 0 ? largest : DBL_MAX;
}

tdc_dtype tdc_dtype_shared(const char *text)
{
    for (unsigned i = 0; i < TDC_DTYPE_COUNT; i++)
        if (entries[i].mindspore != NULL &&
            (strcmp(text, entries[i].mindspore) == 0 || strcmp(text, entries[i].torch) == 0))
            return (tdc_dtype)i;
    return TDC_DTYPE_NONE;
}

static bool is(const char *name, const char *text, size_t length)
{
    return name != NULL && strlen(name) == length && memcmp(name, text, length) == 0;
}

tdc_dtype tdc_dtype_called(const char *text, size_t length)
{
    for (unsigned i = TDC_DTYPE_NONE + 1; i < TDC_DTYPE_COUNT; i++)
        if (is(entries[i].name, text, length))
            return (tdc_dtype)i;
    return TDC_DTYPE_NONE;
}

tdc_dtype tdc_dtype_in_brief(const char *text, size_t length)
{
    for (unsigned i = 0; i < TDC_DTYPE_COUNT; i++)
        if (is(entries[i].brief, text, length))
            return (tdc_dtype)i;
    return TDC_DTYPE_NONE;
}

tdc_dtype tdc_dtype_in_numpy(char letter, uint64_t size)
{
    for (unsigned i = 0; i < TDC_DTYPE_COUNT; i++)
        if (entries[i].numpy != NULL && entries[i].numpy[1] == letter && entries[i].size == size)
            return (tdc_dtype)i;
    return TDC_DTYPE_NONE;
}

/* Longer than `longest`, which it replaces? */
static bool ends_longer(const char *text, const char *ending, size_t *longest)
{
    size_t length = strlen(text), tail = strlen(ending);
    if (tail <= *longest || length < tail || strcasecmp(text + length - tail, ending) != 0)
        return false;
    *longest = tail;
    return true;
}

tdc_dtype tdc_dtype_at_end(const char *text)
{
    tdc_dtype found = TDC_DTYPE_NONE;
    size_t longest = 0; /* "bfloat16" ends in "float16" too */
    for (unsigned i = TDC_DTYPE_NONE + 1; i < TDC_DTYPE_COUNT; i++)
        if (ends_longer(text, entries[i].name, &longest))
            found = (tdc_dtype)i;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (ends_longer(text, aliases[i].word, &longest))
            found = aliases[i].dtype;
    return found;
}
