#include "io/storage/patient_read.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/storage/mounts.h"
#include "io/storage/storage_calls.h"

int tdc_read_plainly(int descriptor, char *to, size_t size, off_t offset, size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t part = pread(descriptor, to + *got, size - *got, offset + (off_t)*got);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return errno;
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    return 0;
}

/* A read is cut into parts that are under way together: of a slow server each would be waited for
 * in turn, and read-ahead over networks is small. */
#define PART       ((size_t)512 << 10)
#define MOST_PARTS 8

struct part {
    struct tdc_call call;
    struct reading *reading;
    int number;
    size_t at, want, got;
};

struct reading {
    int descriptor;
    off_t offset;
    size_t room, parts;
    atomic_size_t users; /* of the block: who waits, and the parts that have not come back */
    struct part part[MOST_PARTS];
};
_Static_assert(sizeof(struct reading) <= TDC_READ_EXTRA, "a read fits behind its bytes");

static char *block_of(struct reading *reading)
{
    return (char *)reading - reading->room;
}

static void leave(struct reading *reading)
{
    if (atomic_fetch_sub(&reading->users, 1) == 1)
        munmap(block_of(reading), reading->room + TDC_READ_EXTRA);
}

static void run(struct tdc_call *call)
{
    struct part *part = (struct part *)call;
    struct reading *reading = part->reading;
    part->number = tdc_read_plainly(reading->descriptor, block_of(reading) + part->at, part->want,
                                    reading->offset + (off_t)part->at, &part->got);
}

static void drop(struct tdc_call *call)
{
    leave(((struct part *)call)->reading);
}

void tdc_read_begin(int descriptor, off_t offset, size_t want, void *block, size_t room)
{
    struct reading *reading = (struct reading *)((char *)block + room);
    size_t parts = want / PART < 1 ? 1 : want / PART < MOST_PARTS ? want / PART : MOST_PARTS;
    size_t each = (want / parts + TDC_READ_EXTRA - 1) / TDC_READ_EXTRA * TDC_READ_EXTRA;
    reading->descriptor = descriptor;
    reading->offset = offset;
    reading->room = room;
    reading->parts = parts;
    atomic_init(&reading->users, parts + 1);
    for (size_t i = 0; i < parts; i++) {
        size_t at = i * each < want ? i * each : want;
        size_t left = want - at;
        reading->part[i] = (struct part){
            .call = {.run = run, .drop = drop, .mount = tdc_storage_mount(descriptor)},
            .reading = reading,
            .at = at,
            .want = i + 1 == parts || left < each ? left : each,
        };
        tdc_call_begin(&reading->part[i].call);
    }
}

int tdc_read_end(void *block, size_t room, size_t *got, bool *kept)
{
    struct reading *reading = (struct reading *)((char *)block + room);
    int failed = 0;
    bool whole = true;
    *got = 0;
    *kept = true;
    for (size_t i = 0; i < reading->parts; i++) {
        struct part *part = &reading->part[i];
        int number = tdc_call_end(&part->call);
        if (number == 0) {
            number = part->number;
            if (whole)
                *got += part->got;
            whole &= part->got == part->want;
            atomic_fetch_sub(&reading->users, 1);
        } else {
            *kept = false;
        }
        if (failed == 0)
            failed = number;
    }
    if (!*kept)
        leave(reading);
    return failed;
}

/* So much with one call: what the memory beside the caller's may be. */
#define MOST_AT_ONCE ((size_t)4 << 20)

int tdc_storage_read(int descriptor, void *to, size_t size, off_t offset, size_t *got)
{
    if (tdc_storage_mount(descriptor) == NULL)
        return tdc_read_plainly(descriptor, to, size, offset, got);
    size_t page = TDC_READ_EXTRA, room = size < MOST_AT_ONCE ? size : MOST_AT_ONCE;
    room = (room + page - 1) / page * page;
    char *block = mmap(NULL, room + TDC_READ_EXTRA, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *got = 0;
    if (block == MAP_FAILED)
        return ENOMEM;
    int number = 0;
    bool kept = true;
    for (size_t part = 1; number == 0 && part != 0 && *got < size; *got += part) {
        size_t want = size - *got < room ? size - *got : room;
        tdc_read_begin(descriptor, offset + (off_t)*got, want, block, room);
        number = tdc_read_end(block, room, &part, &kept);
        if (part != 0)
            memcpy((char *)to + *got, block, part);
    }
    if (kept)
        munmap(block, room + TDC_READ_EXTRA);
    return number;
}
