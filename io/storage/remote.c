#include "io/storage/remote.h"

#include <stddef.h>
#include <string.h>

/* Names as in the table of mounts; 0: its number is not known to be its own. Several clients of
 * WekaFS, StorNext, DVS and the like tell a number of their own or that of what they are made from:
 * the name speaks for them. */
static const struct kind {
    const char *name;
    unsigned long type;
} kinds[] = {
    {"nfs", 0x6969},
    {"nfs4", 0x6969},
    {"smbfs", 0x517b},
    {"cifs", 0xff534d42},
    {"smb3", 0xfe534d42},
    {"lustre", 0x0bd00bd0},
    {"gpfs", 0x47504653},
    {"ceph", 0x00c36400},
    {"beegfs", 0x19830326},
    {"panfs", 0xaad7aaea},
    {"pvfs2", 0x20030528}, /* OrangeFS */
    {"afs", 0x5346414f},   /* OpenAFS */
    {"kafs", 0x6b414653},  /* AFS of the kernel, whose name is afs too */
    {"coda", 0x73757245},
    {"9p", 0x01021997},
    {"gfs2", 0x01161970},
    {"ocfs2", 0x7461636f},
    {"acfs", 0x61636673},
    {"snfs", 0xbeefdead}, /* StorNext */
    {"cvfs", 0},          /* its older name */
    {"ibrix", 0x013111a8},
    {"ncpfs", 0x564c},
    {"vmhgfs", 0xbacbacbc}, /* folders that a host shares with its guest */
    {"vboxsf", 0x786f4256},
    {"prl_fs", 0x7c7c6673},
    {"wekafs", 0},
    {"dvs", 0},
    {"quobyte", 0},
    {"stornext", 0},
    {"mfs", 0},
    {"moosefs", 0},
    {"autofs", 0x0187},       /* whatever will be mounted there */
    {"virtiofs", 0x65735546}, /* tells the number of FUSE */
    {"fuse", 0x65735546},     /* GlusterFS, s3fs, sshfs, JuiceFS, DAOS, ... */
    {"fuseblk", 0x65735546},
};
#define KINDS (sizeof kinds / sizeof *kinds)

bool tdc_is_remote_type(unsigned long type)
{
    for (size_t i = 0; i < KINDS; i++)
        if (type == kinds[i].type && type != 0)
            return true;
    return false;
}

bool tdc_is_remote_name(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return true;
    return strncmp(name, "fuse.", 5) == 0 || strncmp(name, "nfs", 3) == 0;
}
