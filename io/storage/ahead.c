#include "io/storage/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "io/storage/mounts.h"
#include "io/storage/patient_read.h"

struct file {
    struct tdc_call call;
    const void *owner;
    int number; /* errno; 0: success */
    struct tdc_ahead ahead;
    char path[];
};

static struct {
    pthread_mutex_t lock;
    struct file *files[TDC_MOST_AHEAD];
    size_t count;
} begun = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void drop(struct tdc_call *call)
{
    struct file *file = (struct file *)call;
    int descriptor = file->ahead.opened.descriptor;
    if (descriptor >= 0) {
        tdc_storage_opened(descriptor, call->mount);
        tdc_storage_close(descriptor);
    }
    free(file->ahead.bytes);
    free(file);
}

/* A file that is not read here is read when it is wanted: why it was not is told then. */
static void read_small(struct tdc_ahead *ahead)
{
    const struct stat *info = &ahead->opened.info;
    if (!S_ISREG(info->st_mode) || info->st_size <= 0 || (size_t)info->st_size > TDC_AHEAD_BYTES)
        return;
    size_t size = (size_t)info->st_size, got;
    ahead->bytes = malloc(size);
    if (ahead->bytes != NULL &&
        (tdc_read_plainly(ahead->opened.descriptor, ahead->bytes, size, 0, &got) != 0 ||
         got < size)) {
        free(ahead->bytes);
        ahead->bytes = NULL;
    }
}

static void run(struct tdc_call *call)
{
    struct file *file = (struct file *)call;
    file->number = tdc_open_plainly(file->path, &file->ahead.opened);
    if (file->number == 0)
        read_small(&file->ahead);
}

void tdc_ahead_begin(const void *owner, const char *path)
{
    struct tdc_mount *mount = tdc_patience() > 0 ? tdc_mount_of_file(path) : NULL;
    size_t length = strlen(path) + 1;
    struct file *file = mount != NULL ? calloc(1, sizeof *file + length) : NULL;
    if (file == NULL)
        return;
    memcpy(file->path, path, length);
    file->owner = owner;
    file->ahead.opened.descriptor = -1;
    file->call = (struct tdc_call){.run = run, .drop = drop, .mount = mount};
    pthread_mutex_lock(&begun.lock);
    bool room = begun.count < TDC_MOST_AHEAD;
    if (room) {
        begun.files[begun.count++] = file;
        tdc_call_begin(&file->call);
    }
    pthread_mutex_unlock(&begun.lock);
    if (!room)
        free(file);
}

static struct file *take_out(size_t at)
{
    struct file *file = begun.files[at];
    begun.files[at] = begun.files[--begun.count];
    return file;
}

int tdc_ahead_take(const char *path, struct tdc_ahead *ahead)
{
    struct file *file = NULL;
    *ahead = (struct tdc_ahead){.opened.descriptor = -1};
    pthread_mutex_lock(&begun.lock);
    for (size_t i = 0; i < begun.count && file == NULL; i++)
        if (strcmp(begun.files[i]->path, path) == 0)
            file = take_out(i);
    pthread_mutex_unlock(&begun.lock);
    if (file == NULL)
        return -1;
    int number = tdc_call_end(&file->call);
    if (number != 0)
        return number;
    if (file->number == 0) {
        *ahead = file->ahead;
        tdc_storage_opened(ahead->opened.descriptor, file->call.mount);
    }
    number = file->number == 0 ? 0 : -1;
    free(file);
    return number;
}

void tdc_ahead_end(const void *owner)
{
    pthread_mutex_lock(&begun.lock);
    for (size_t i = begun.count; i-- > 0;)
        if (begun.files[i]->owner == owner)
            tdc_call_forget(&take_out(i)->call);
    pthread_mutex_unlock(&begun.lock);
}
