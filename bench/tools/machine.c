#include "bench/tools/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <omp.h>

#include "io/platform/platform.h"

static void take_load(char load[32])
{
    double minute;
    load[0] = '\0';
    if (getloadavg(&minute, 1) == 1)
        snprintf(load, 32, "%.2f", minute);
}

void tdc_machine_describe(struct tdc_machine *machine)
{
    *machine = (struct tdc_machine){.processors = omp_get_num_procs(), .model = tdc_cpu_name()};
    struct utsname names;
    bool named = uname(&names) == 0;
    if (!tdc_processor_model(machine->cpu, sizeof machine->cpu))
        snprintf(machine->cpu, sizeof machine->cpu, "%.60s", named ? names.machine : "unknown");
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        machine->memory = (uint64_t)pages * (uint64_t)page;
    if (named)
        snprintf(machine->system, sizeof machine->system, "%.64s %.64s", names.sysname,
                 names.release);
    take_load(machine->load);
}

void tdc_file_system_name(const char *path, char *name, size_t size)
{
    static const struct {
        unsigned long type;
        const char *name;
    } known[] = {
        {0xef53, "ext4"},         {0x58465342, "xfs"},  {0x9123683e, "btrfs"},
        {0x01021994, "tmpfs"},    {0x6969, "nfs"},      {0x794c7630, "overlay"},
        {0x65735546, "fuse"},     {0x01021997, "9p"},   {0x2fc12fc1, "zfs"},
        {0x0bd00bd0, "lustre"},   {0x00c36400, "ceph"}, {0xfe534d42, "smb"},
        {0x47504653, "gpfs"},     {0xf2f52010, "f2fs"}, {0xff534d42, "cifs"},
        {0xca451a4e, "bcachefs"},
    };
    unsigned long type;
    if (!tdc_file_system_type(path, &type)) {
        snprintf(name, size, "unknown");
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].type == type) {
            snprintf(name, size, "%s", known[i].name);
            return;
        }
    }
    snprintf(name, size, "0x%lx", type);
}
