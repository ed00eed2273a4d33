#include "io/file/remote.h"

#include <stddef.h>

#include "io/platform/platform.h"

bool tdc_is_remote_type(unsigned long type)
{
    static const unsigned long types[] = {
        0x6969,     /* NFS */
        0x517b,     /* SMB */
        0xfe534d42, /* SMB 2 and later */
        0xff534d42, /* CIFS */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x00c36400, /* Ceph */
        0x19830326, /* BeeGFS */
        0xaad7aaea, /* PanFS */
        0x20030528, /* OrangeFS */
        0x5346414f, /* AFS */
        0x6b414653, /* AFS of the kernel */
        0x73757245, /* Coda */
        0x01021997, /* 9P */
        0x65735546, /* FUSE: GlusterFS, s3fs, sshfs, ... */
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type == types[i])
            return true;
    return false;
}

bool tdc_is_remote(const char *path)
{
    unsigned long type;
    return tdc_file_system_type(path, &type) && tdc_is_remote_type(type);
}
