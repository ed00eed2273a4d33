/* sized.c - structs of callers with another version of the header. */
#include "io/base/sized.h"

#include <string.h>

#include "io/base/error.h"

/* No version of the interface comes near: a larger size is memory that nobody set. */
#define LARGEST ((size_t)1 << 16)

void tdc_sized_init(void *target, size_t size, const void *defaults, size_t known)
{
    memcpy(target, defaults, size < known ? size : known);
    if (size > known)
        memset((unsigned char *)target + known, 0, size - known);
}

tdc_status tdc_sized_read(const void *given, size_t least, void *whole, size_t known,
                          const char *init, struct tdc_error *error)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size < least || size > LARGEST)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "options that %s has not initialised", init);
    const unsigned char *bytes = given;
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return tdc_fail(error, TDC_ERR_ARGUMENT,
                            "options of a newer version than %s, which this library is",
                            tdc_version());
    memcpy(whole, given, size < known ? size : known);
    memcpy(whole, &known, sizeof known);
    return TDC_OK;
}
