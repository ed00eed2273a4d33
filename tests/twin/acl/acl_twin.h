/*
 * acl_twin.h - a stand-in for AscendCL that is stricter than a device.
 *
 * A shared library with the functions of host/engine/ascend/acl_functions.h, and those that a
 * backend like it might use; TDC_ACL_LIBRARY points to it. Kernels run on the twin of Ascend C. A
 * broken rule (staging changed while a copy is pending, memory freed in use, a leak, a kernel that
 * breaks its own rules) prints one line beginning with "acl_twin:" and ends the process.
 *
 * Environment:
 *   ACL_TWIN_DEVICES   number of cards (1); ACL_TWIN_SOC (Ascend910B3); ACL_TWIN_CORES (40)
 *   ACL_TWIN_MEMORY    bytes of a card (256 MiB)
 *   ACL_TWIN_SCHEDULE  eager (a thread per stream), lazy (nothing before a synchronise needs it),
 *                      random or random:SEED (anything allowed, at every call)
 *   ACL_TWIN_FAIL      N:CODE or N:CODE:deferred - the N-th call fails; deferred: an asynchronous
 *                      call succeeds and its stream dies with the code
 *   ACL_TWIN_LOST      N:CODE - from the N-th call on the card is gone
 *   ACL_TWIN_HANG      the N-th kernel never ends; the operator timeout ends it (1,091 s unless it
 *                      was set: a call that would wait so long is a broken rule), unless
 *                      ACL_TWIN_STUCK is 1: then nothing does
 *   ACL_TWIN_POISON    the N-th kernel leaves its records unwritten
 *   ACL_TWIN_WRONG     the N-th kernel computes wrongly
 *   ACL_TWIN_FLAW      zero, flush, divide, stale or fused: what is wrong with all of them
 *                      (kernel_runner.h)
 *   ACL_TWIN_PINNED    1: copies from or to memory that is not pinned are refused; else they are
 *                      done when the call returns, as the real ones
 *   ACL_TWIN_STUB      1: as the libraries for building without a driver
 *   ACL_TWIN_LOG       a file for the names of all calls, in order
 */
#ifndef TDC_TESTS_ACL_TWIN_H
#define TDC_TESTS_ACL_TWIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TWIN_MOST_DEVICES 16
#define TWIN_POISON       0xEE

enum {
    TWIN_PARAM_INVALID = 107000,
    TWIN_INVALID_DEVICE = 107001,
    TWIN_CONTEXT_NULL = 107002,
    TWIN_STREAM_CONTEXT = 107003,
    TWIN_ADDR_UNALIGNED = 107008,
    TWIN_INVALID_HANDLE = 107017,
    TWIN_NOT_SUPPORTED = 207000,
    TWIN_OUT_OF_MEMORY = 207001,
    TWIN_KERNEL_LOOKUP = 507027,
    TWIN_VECTOR_CORE_EXCEPTION = 507035,
    TWIN_VECTOR_CORE_TIMEOUT = 507034,
    TWIN_SYNC_TIMEOUT = 507046,
    TWIN_REPEAT_INITIALIZE = 100002,
    TWIN_STUB_MODE = 100039
};

enum twin_schedule {
    TWIN_EAGER,
    TWIN_LAZY,
    TWIN_RANDOM
};

struct twin_settings {
    unsigned devices, cores;
    char soc[64];
    size_t memory;
    enum twin_schedule schedule;
    uint64_t random;
    uint64_t fail_at, lost_at, hang_at, poison_at, wrong_at; /* 0: never */
    int fail_code, lost_code;
    bool fail_deferred, stub, pinned_only, stuck;
    FILE *log;
};

/* Device memory or pinned memory. */
struct twin_block {
    unsigned char *bytes;
    size_t size;
    void *map;
    size_t map_size;
    int device;     /* -1: pinned host memory */
    bool abandoned; /* a kernel that was destroyed by force may still use it */
    struct twin_block *next;
};

enum twin_kind {
    TWIN_H2D,
    TWIN_D2H,
    TWIN_KERNEL,
    TWIN_EVENT,
    TWIN_SET,
    TWIN_WAIT
};

struct twin_op {
    enum twin_kind kind;
    unsigned char *to;
    const unsigned char *from;
    size_t bytes;
    uint64_t checksum; /* of the source or the arguments when they were given */
    const char *kernel;
    uint32_t blocks;
    const void *arguments;
    struct twin_event *event;
    bool on_device;      /* the arguments */
    unsigned char value; /* of a fill */
    uint64_t pushed;     /* when, by the clock of the host */
    uint64_t number;     /* of the kernel; of the record that is waited for */
    int fail;            /* deferred */
    struct twin_op *next;
};

struct twin_stream {
    int device;
    struct twin_op *first, *last;
    bool running, ending, hung;
    int dead;             /* code all synchronise calls return from now on */
    uint64_t picoseconds; /* the stream's own clock */
    bool threaded;
    pthread_t thread;
    struct twin_stream *next;
};

struct twin_event {
    int device;
    uint32_t flags;
    bool abandoned;
    int failed;                   /* the code of a stream that died before it got there */
    uint64_t recorded, completed; /* how often */
    uint64_t picoseconds;
    struct twin_event *next;
};

struct twin_binary {
    char name[64];
    bool abandoned;
    struct twin_binary *next;
};

/* Everything; under the lock. */
struct twin {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct twin_settings settings;
    bool read, initialised, finalised;
    uint64_t calls, kernels, starts;
    bool lost;
    /* The clock of the stand-in: when its resources are free again, and how the link was used. */
    uint64_t host_time, link_free, back_free, cores_free, link_busy, link_first, link_last;
    uint64_t operator_timeout; /* milliseconds; 0: that of the vendor */
    unsigned references[TWIN_MOST_DEVICES];
    size_t used[TWIN_MOST_DEVICES];
    struct twin_block *blocks;
    struct twin_stream *streams;
    struct twin_event *events;
    struct twin_binary *binaries;
};

extern struct twin twin;
/* The card of the calling thread, -1: none. */
extern _Thread_local int twin_current;

/* ---- rules ----------------------------------------------------------------------------------- */

void twin_broken(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Ends the process when anything of the device (-1: anything at all) is still there. */
void twin_check_leaks(int device);

/* Begins a call: takes the lock, counts, may run pending work. Returns a code to fail with, or 0.
 * *deferred is set when an asynchronous call is to succeed and fail later. */
int twin_enter(const char *function, bool asynchronous, int *deferred);
int twin_leave(int code);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Device addresses carry a tag: following one on the host faults. */
void *twin_tagged(const void *address);
unsigned char *twin_untagged(const void *address);
bool twin_is_tagged(const void *address);
struct twin_block *twin_block_new(size_t size, int device);
/* The block that holds [address, address + size), untagged, of a card or pinned (-1). */
struct twin_block *twin_block_of(const unsigned char *address, size_t size, int device);
void twin_block_free(struct twin_block *block);
uint64_t twin_checksum(const void *bytes, size_t size);

/* ---- streams --------------------------------------------------------------------------------- */

void twin_push(struct twin_stream *stream, const struct twin_op *op);
/* Runs or awaits everything of the stream; up to the event's last record when it is not NULL. */
void twin_drain(struct twin_stream *stream, const struct twin_event *event);
void twin_run_something(void);
bool twin_pending_use(const struct twin_block *block);
/* Waits for a kernel that hangs: until the operator timeout ends it, or the given milliseconds are
 * over (-1: for ever), or for longer than anybody should. */
void twin_wait_for_hung(struct twin_stream *stream, int64_t milliseconds, const char *function);
/* Marks what the unfinished work of the stream uses. */
void twin_abandon(struct twin_stream *stream);
void twin_stream_start(struct twin_stream *stream);
void twin_stream_end(struct twin_stream *stream);

/* ---- kernels --------------------------------------------------------------------------------- */

/* 0, or a complaint was printed and the process ended. Called without the lock in eager mode. */
void twin_run_kernel(const struct twin_op *op, int device);

#endif
