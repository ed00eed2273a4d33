/* listed_sweep.c - removing what killed processes left behind. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/file/listed_file.h"
#include "io/file/retry.h"
#include "io/platform/platform.h"

#define BOOT_DIGITS 16

static char boot_name[BOOT_DIGITS + 1];

/* The system has it as hexadecimal digits with dashes between. */
static void read_boot_name(void)
{
    char text[64];
    ssize_t length = TDC_RETRY(tdc_boot_text(text, sizeof text));
    char digits[BOOT_DIGITS];
    size_t count = 0;
    for (ssize_t i = 0; i < length && count < BOOT_DIGITS; i++)
        if (isxdigit((unsigned char)text[i]))
            digits[count++] = text[i];
    if (count == BOOT_DIGITS)
        memcpy(boot_name, digits, BOOT_DIGITS);
}

const char *tdc_boot_name(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_boot_name);
    return boot_name;
}

static bool is_listed_name(const char *name)
{
    size_t length = strlen(name), suffix = strlen(TDC_LISTED_SUFFIX);
    return strncmp(name, TDC_LISTED_PREFIX, strlen(TDC_LISTED_PREFIX)) == 0 && length > suffix &&
           strcmp(name + length - suffix, TDC_LISTED_SUFFIX) == 0;
}

/* Made since this machine was started? Temporaries say so in their name, claims of a stamp, whose
 * name is fixed, in their content. */
static bool is_of_this_boot(const char *name, int fd)
{
    const char *boot = tdc_boot_name();
    char content[BOOT_DIGITS] = {0};
    if (boot[0] == '\0')
        return false;
    if (strncmp(name + strlen(TDC_LISTED_PREFIX), boot, BOOT_DIGITS) == 0)
        return true;
    return TDC_RETRY(pread(fd, content, sizeof content, 0)) == BOOT_DIGITS &&
           memcmp(content, boot, BOOT_DIGITS) == 0;
}

/* A claim keeps others from a moment's name. Long after that moment nobody asks for it. */
static bool is_old_claim(const char *name, const struct stat *status)
{
    const char *stamp = name + strlen(TDC_LISTED_PREFIX);
    size_t digits = strspn(stamp, "0123456789");
    return digits == 14 && strcmp(stamp + digits, TDC_LISTED_SUFFIX) == 0 &&
           time(NULL) - status->st_mtime > (time_t)2 * 24 * 3600;
}

static void sweep_one(int folder, const char *name)
{
    struct stat status;
    int fd =
        TDC_RETRY(openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (is_old_claim(name, &status) ||
         (is_of_this_boot(name, fd) && flock(fd, LOCK_EX | LOCK_NB) == 0)))
        unlinkat(folder, name, 0);
    close(fd);
}

/* Once a folder: reading a large one takes time. */
static bool is_new_folder(int fd)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct stat last;
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    pthread_mutex_lock(&lock);
    bool fresh = status.st_dev != last.st_dev || status.st_ino != last.st_ino;
    last = status;
    pthread_mutex_unlock(&lock);
    return fresh;
}

void tdc_listed_sweep(const char *folder)
{
    DIR *directory = opendir(folder[0] == '\0' ? "." : folder);
    if (directory == NULL)
        return;
    int fd = dirfd(directory);
    struct dirent *entry;
    if (is_new_folder(fd))
        while ((entry = readdir(directory)) != NULL)
            if (is_listed_name(entry->d_name))
                sweep_one(fd, entry->d_name);
    closedir(directory);
}
