/* remedy.h - calls of a device's runtime that failed, and what one does about them. */
#ifndef TDC_DEVICE_REMEDY_H
#define TDC_DEVICE_REMEDY_H

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

#endif
