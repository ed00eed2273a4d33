#include "kernels/dtype.h"

#include <float.h>
#include <string.h>
#include <strings.h>

#include "kernels/dtype_list.h"

#define NAMED(text) .name = text, .length = sizeof text - 1
#define COMMON(id, text, bytes, what, bits, lowest, most, framework, npy, shortly)                 \
    NAMED(text), .size = bytes, .kind = TDC_KIND_##what, .digits = bits, .least = lowest,          \
                 .largest = most, .torch = "torch." text, .mindspore = framework, .numpy = npy,    \
                 .brief = shortly
#define CLASSED(id, text, bytes, what, bits, lowest, most, framework, stem, npy, shortly)          \
    [id] = {COMMON(id, text, bytes, what, bits, lowest, most, framework, npy, shortly),            \
            .storage = stem "Storage", .tensor = "torch." stem "Tensor"},
#define CLASSLESS(id, text, bytes, what, bits, lowest, most, framework, stem, npy, shortly)        \
    [id] = {COMMON(id, text, bytes, what, bits, lowest, most, framework, npy, shortly)},

const struct tdc_dtype_entry tdc_dtype_entries[TDC_DTYPE_COUNT] = {
    [TDC_DTYPE_NONE] = {NAMED("none")},
    TDC_CLASSED_DTYPES(CLASSED) TDC_CLASSLESS_DTYPES(CLASSLESS)
        /* numpy's alone */
        [TDC_F80] = {NAMED("longdouble"), .size = 16, .kind = TDC_KIND_FLOATING, .digits = 63,
                     .least = -16382, .largest = DBL_MAX, /* as far as a double goes */
                     .numpy = "<f16"},
    [TDC_TEXT] = {NAMED("text"), .kind = TDC_KIND_TEXT},
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

size_t tdc_dtype_size(tdc_dtype dtype)
{
    return tdc_dtype_entry(dtype)->size;
}

const char *tdc_dtype_name(tdc_dtype dtype)
{
    return (unsigned)dtype < TDC_DTYPE_COUNT ? tdc_dtype_entries[dtype].name : "unknown";
}

double tdc_dtype_largest(tdc_dtype dtype)
{
    double largest = tdc_dtype_entry(dtype)->largest;
    return largest != 0 ? largest : DBL_MAX;
}

tdc_dtype tdc_dtype_shared(const char *text)
{
    for (unsigned i = 0; i < TDC_DTYPE_COUNT; i++)
        if (tdc_dtype_entries[i].mindspore != NULL &&
            (strcmp(text, tdc_dtype_entries[i].mindspore) == 0 ||
             strcmp(text, tdc_dtype_entries[i].torch) == 0))
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
        if (is(tdc_dtype_entries[i].name, text, length))
            return (tdc_dtype)i;
    return TDC_DTYPE_NONE;
}

tdc_dtype tdc_dtype_in_brief(const char *text, size_t length)
{
    for (unsigned i = 0; i < TDC_DTYPE_COUNT; i++)
        if (is(tdc_dtype_entries[i].brief, text, length))
            return (tdc_dtype)i;
    return TDC_DTYPE_NONE;
}

tdc_dtype tdc_dtype_in_numpy(char letter, uint64_t size)
{
    for (unsigned i = 0; i < TDC_DTYPE_COUNT; i++)
        if (tdc_dtype_entries[i].numpy != NULL && tdc_dtype_entries[i].numpy[1] == letter &&
            tdc_dtype_entries[i].size == size)
            return (tdc_dtype)i;
    return TDC_DTYPE_NONE;
}

/* "torch." and one of the types that nearly all records of a dump have: asked for several times a
 * record. TDC_DTYPE_NONE for any other text. */
static tdc_dtype usual_at_end(const char *text, size_t length)
{
    static const unsigned char usual[] = {TDC_F32, TDC_BF16, TDC_F16, TDC_I64, TDC_BOOL};
    const size_t prefix = sizeof "torch." - 1;
    if (length <= prefix || memcmp(text, "torch.", prefix) != 0)
        return TDC_DTYPE_NONE;
    for (size_t i = 0; i < sizeof usual; i++) {
        const struct tdc_dtype_entry *entry = &tdc_dtype_entries[usual[i]];
        if (entry->length == length - prefix &&
            memcmp(text + prefix, entry->name, length - prefix) == 0)
            return (tdc_dtype)usual[i];
    }
    return TDC_DTYPE_NONE;
}

/* The last letter rules out most. */
static bool ends_in(const char *text, size_t length, const char *ending, size_t tail)
{
    return length >= tail && ((text[length - 1] ^ ending[tail - 1]) & 0x5f) == 0 &&
           strcasecmp(text + length - tail, ending) == 0;
}

tdc_dtype tdc_dtype_at_end(const char *text)
{
    size_t length = strlen(text), longest = 0; /* "bfloat16" ends in "float16" too */
    tdc_dtype found = usual_at_end(text, length);
    if (found != TDC_DTYPE_NONE)
        return found;
    for (unsigned i = TDC_DTYPE_NONE + 1; i < TDC_DTYPE_COUNT; i++) {
        const struct tdc_dtype_entry *entry = &tdc_dtype_entries[i];
        if (entry->length > longest && ends_in(text, length, entry->name, entry->length)) {
            longest = entry->length;
            found = (tdc_dtype)i;
        }
    }
    for (size_t i = 0; longest == 0 && i < sizeof aliases / sizeof *aliases; i++)
        if (ends_in(text, length, aliases[i].word, strlen(aliases[i].word)))
            return aliases[i].dtype;
    return found;
}
