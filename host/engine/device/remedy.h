/* remedy.h - calls of a device's runtime that failed, and what one does about them. */
#ifndef TDC_DEVICE_REMEDY_H
#define TDC_DEVICE_REMEDY_H

#include <limits.h>
#include <stddef.h>

enum tdc_remedy {
    TDC_REMEDY_NO_DEVICE,    /* there is none of that number, or only a stub library */
    TDC_REMEDY_LESS_MEMORY,  /* try with fewer slots, then do without */
    TDC_REMEDY_CHUNK_ON_CPU, /* this piece of work is done by the CPU, the device goes on */
    TDC_REMEDY_WRONG_KERNEL, /* the kernel is not for this device */
    TDC_REMEDY_GIVE_UP       /* the device is not used again in this run */
};

/* A call and its code; 0 is success. */
struct tdc_call_failure {
    const char *function;
    int code;
};

/* The code of a wait of our own that lasted too long: no runtime has it. */
#define TDC_TIMED_OUT INT_MIN
/* The host has none: no slot then. */
#define TDC_NO_MEMORY (INT_MIN + 1)

/* What is known of the codes of a runtime. */
struct tdc_known_code {
    int code;
    enum tdc_remedy remedy;
    const char *name;
};

/* NULL for a code that is not in the list. */
const struct tdc_known_code *tdc_known_code(const struct tdc_known_code *list, size_t count,
                                            int code);

#endif
