/* machine.h - what a figure was measured on. */
#ifndef TDC_BENCH_MACHINE_H
#define TDC_BENCH_MACHINE_H

#include "tdcmp.h"

struct tdc_machine {
    char cpu[128];     /* as the operating system calls it */
    int processors;    /* that this process may use */
    uint64_t memory;   /* bytes */
    char system[160];  /* "Linux 6.1.0-18-amd64" */
    char load[32];     /* "0.52": mean of running processes of the last minute; "" if unknown */
    const char *model; /* CPU variant of the kernels */
};

void tdc_machine_describe(struct tdc_machine *machine);

/* "ext4", "nfs", ... of the file system a path is on; a hexadecimal number for rarer ones. */
void tdc_file_system_name(const char *path, char *name, size_t size);

#endif
