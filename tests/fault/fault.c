/*
 * fault.c - a library to be preloaded that lets calls of the system fail.
 *
 * From the start of main on it counts the calls of the functions below. TDC_FAULT_AT is the number
 * of the call that fails, 0 for none; TDC_FAULT_MODE says how: `once`, `ever` (that one and all of
 * its kind after it; an allocation lets all allocations fail, a call of a file all of these) or
 * `interrupt` (EINTR, once, where a signal can cause it; other calls are not counted).
 * TDC_FAULT_REPORT names a file that gets the kind of each call when main returns, one letter each.
 * TDC_FAULT_TRACE shows on stderr who made the call that fails.
 *
 * It also plays a network file system: TDC_FAULT_MOUNTS is read in place of the system's table of
 * mounts. TDC_FAULT_SILENT is a list "KIND PATH;...": calls of that kind (open, read, stat, list,
 * or any) for paths that contain PATH never return. TDC_FAULT_SLOW is a number of milliseconds that
 * each of these calls takes below the mounts' own folder, which is TDC_FAULT_REMOTE. With
 * TDC_FAULT_TOGETHER opens there return when so many have been under way at once, or none has come
 * for a while. Both print the most calls that were under way at once.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Kinds, as letters in the report. */
enum kind {
    MEMORY = 'a',
    OPEN = 'o',
    MAP = 'm',
    READ = 'r',
    WRITE = 'w',
    FLUSH = 'f',
    RENAME = 'n',
    THREAD = 't'
};

static enum {
    ONCE,
    EVER,
    INTERRUPT
} mode;
static long fail_at;
static atomic_long calls;
static atomic_int broken; /* the kind that fails for good */
static bool armed;
static const char *report;
static bool trace;
static char kinds[1 << 16];

static bool interruptible(enum kind kind)
{
    return kind == OPEN || kind == READ || kind == WRITE || kind == FLUSH;
}

/* Does this call fail? */
static bool fails(enum kind kind, int number)
{
    if (!armed || (mode == INTERRUPT && !interruptible(kind)))
        return false;
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (call <= (long)sizeof kinds)
        kinds[call - 1] = (char)kind;
    bool failing = call == fail_at;
    if (failing && mode == EVER)
        atomic_store(&broken, kind == MEMORY || kind == THREAD ? (int)kind : OPEN);
    int lasting = atomic_load(&broken);
    if (lasting != 0)
        failing = kind == MEMORY || kind == THREAD ? (int)kind == lasting : lasting == OPEN;
    if (failing && call == fail_at && trace) {
        void *frames[32];
        armed = false;
        backtrace_symbols_fd(frames, backtrace(frames, 32), 2);
        armed = true;
    }
    if (failing)
        errno = mode == INTERRUPT ? EINTR : number;
    return failing;
}

/* ---- storage that does not answer ------------------------------------------------------------ */

static const char *silent, *mounts, *remote;
static long slow, together;
/* Of calls to remote storage, in memory that a child shares: it does the work. */
static struct {
    atomic_int now, most;
    atomic_bool alone; /* no other call came while one waited for others */
} * waiting;

static bool names(const char *entry, size_t length, const char *kind, const char *path)
{
    char word[16], part[512];
    char text[600];
    if (length >= sizeof text)
        return false;
    memcpy(text, entry, length);
    text[length] = '\0';
    if (sscanf(text, "%15s %511s", word, part) != 2)
        return false;
    return (strcmp(word, kind) == 0 || strcmp(word, "any") == 0) && strstr(path, part) != NULL;
}

static void wait_for_others(void)
{
    enum {
        STEPS = 1000 /* of 2 ms: far longer than it takes to begin a call */
    };
    const struct timespec step = {.tv_nsec = 2000000};
    int seen = 0;
    for (int i = 0; i < STEPS; i++) {
        int most = atomic_load(&waiting->most);
        if (most >= together || atomic_load(&waiting->alone))
            return;
        i = most > seen ? 0 : i;
        seen = most;
        nanosleep(&step, NULL);
    }
    atomic_store(&waiting->alone, true);
}

/* Before a call of a kind on a path. */
static void answer(const char *kind, const char *path)
{
    for (const char *entry = silent; entry != NULL && *entry != '\0';) {
        size_t length = strcspn(entry, ";");
        while (names(entry, length, kind, path))
            pause();
        entry += length + (entry[length] != '\0');
    }
    if (waiting == NULL || remote == NULL || strstr(path, remote) == NULL ||
        (together != 0 && strcmp(kind, "open") != 0))
        return;
    int now = atomic_fetch_add(&waiting->now, 1) + 1, most = atomic_load(&waiting->most);
    while (now > most && !atomic_compare_exchange_weak(&waiting->most, &most, now))
        ;
    wait_for_others();
    struct timespec time = {.tv_sec = slow / 1000, .tv_nsec = slow % 1000 * 1000000};
    nanosleep(&time, NULL);
    atomic_fetch_sub(&waiting->now, 1);
}

static void answer_for(int fd)
{
    char link[64], path[4096];
    if (silent == NULL && waiting == NULL)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    answer("read", path);
}

/* The function behind, looked up before main. */
#define NEXT(name)    ((__typeof__(&(name)))next_##name)
#define DECLARE(name) static void *next_##name
DECLARE(fopen);
DECLARE(fdopen);
DECLARE(opendir);
DECLARE(realpath);
DECLARE(fflush);
DECLARE(fclose);
DECLARE(fwrite);
DECLARE(fread);
DECLARE(pthread_create);
DECLARE(malloc);
DECLARE(calloc);
DECLARE(realloc);
DECLARE(posix_memalign);
DECLARE(aligned_alloc);

/* ---- memory ---------------------------------------------------------------------------------- */

/* dlsym itself allocates before it can say where calloc is. */
static char early[1 << 16] __attribute__((aligned(64)));
static size_t early_used;

static void *early_take(size_t size)
{
    size = (size + 63) & ~(size_t)63;
    if (size > sizeof early - early_used)
        abort();
    void *memory = early + early_used;
    early_used += size;
    return memory;
}

static void look_up(void **function, const char *name)
{
    if (*function == NULL)
        *function = dlsym(RTLD_NEXT, name);
}

static bool looking;

static bool ready(void)
{
    if (next_malloc != NULL && next_calloc != NULL && next_realloc != NULL)
        return true;
    if (looking)
        return false;
    looking = true;
    look_up(&next_malloc, "malloc");
    look_up(&next_calloc, "calloc");
    look_up(&next_realloc, "realloc");
    looking = false;
    return true;
}

EXPORT void *malloc(size_t size)
{
    if (!ready())
        return early_take(size);
    return fails(MEMORY, ENOMEM) ? NULL : NEXT(malloc)(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (!ready())
        return early_take(count * size);
    return fails(MEMORY, ENOMEM) ? NULL : NEXT(calloc)(count, size);
}

EXPORT void *realloc(void *memory, size_t size)
{
    if (!ready())
        abort();
    return fails(MEMORY, ENOMEM) ? NULL : NEXT(realloc)(memory, size);
}

EXPORT void *reallocarray(void *memory, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, bytes);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
    look_up(&next_posix_memalign, "posix_memalign");
    return fails(MEMORY, ENOMEM) ? ENOMEM : NEXT(posix_memalign)(memory, alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    look_up(&next_aligned_alloc, "aligned_alloc");
    return fails(MEMORY, ENOMEM) ? NULL : NEXT(aligned_alloc)(alignment, size);
}

EXPORT void free(void *memory)
{
    static void (*next)(void *);
    if ((char *)memory >= early && (char *)memory < early + sizeof early)
        return;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "free");
    next(memory);
}

EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(MAP, ENOMEM))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}
EXPORT void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

EXPORT int madvise(void *at, size_t size, int advice)
{
    return fails(MAP, EINVAL) ? -1 : (int)syscall(SYS_madvise, at, size, advice);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_counted(int folder, const char *path, int flags, va_list arguments)
{
    mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    answer("open", path);
    if (fails(OPEN, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, permissions);
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int fd = open_counted(AT_FDCWD, path, flags, arguments);
    va_end(arguments);
    return fd;
}
EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int fd = open_counted(folder, path, flags, arguments);
    va_end(arguments);
    return fd;
}
EXPORT int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

EXPORT ssize_t read(int fd, void *data, size_t length)
{
    return fails(READ, EIO) ? -1 : syscall(SYS_read, fd, data, length);
}

EXPORT ssize_t pread(int fd, void *data, size_t length, off_t offset)
{
    answer_for(fd);
    return fails(READ, EIO) ? -1 : syscall(SYS_pread64, fd, data, length, offset);
}
EXPORT ssize_t pread64(int fd, void *data, size_t length, off_t offset)
    __attribute__((alias("pread")));

EXPORT ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    if (fails(READ, EOPNOTSUPP))
        return -1;
    return syscall(SYS_preadv2, fd, parts, count, offset, 0L, flags);
}
EXPORT ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
    __attribute__((alias("preadv2")));

/* Messages are not counted: whether they can be printed is no concern of the results. */
EXPORT ssize_t write(int fd, const void *data, size_t length)
{
    return fd != 2 && fails(WRITE, ENOSPC) ? -1 : syscall(SYS_write, fd, data, length);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    return fails(WRITE, ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, data, length, offset);
}
EXPORT ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset)
    __attribute__((alias("pwrite")));

/* The disk itself is left in peace: thousands of runs would wait for it. */
EXPORT int fsync(int fd)
{
    (void)fd;
    return fails(FLUSH, EIO) ? -1 : 0;
}

EXPORT int ftruncate(int fd, off_t length)
{
    return fails(WRITE, EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}
EXPORT int ftruncate64(int fd, off_t length) __attribute__((alias("ftruncate")));

/* A descriptor that is closed twice may be another thread's file the second time: that ends the
 * process, whichever call is to fail. */
EXPORT int close(int fd)
{
    int result = (int)syscall(SYS_close, fd);
    if (result != 0 && errno == EBADF)
        abort();
    return result;
}

EXPORT int flock(int fd, int operation)
{
    return fails(FLUSH, ENOLCK) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

EXPORT int fchmod(int fd, mode_t permissions)
{
    return fails(RENAME, EPERM) ? -1 : (int)syscall(SYS_fchmod, fd, permissions);
}

EXPORT int rename(const char *from, const char *to)
{
    return fails(RENAME, EIO) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags)
{
    if (fails(RENAME, EIO))
        return -1;
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

EXPORT int mkdir(const char *path, mode_t permissions)
{
    return fails(RENAME, EIO) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, permissions);
}

/* ---- streams and folders --------------------------------------------------------------------- */

EXPORT int stat(const char *path, struct stat *info)
{
    answer("stat", path);
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, info, 0);
}
EXPORT int stat64(const char *path, struct stat64 *info) __attribute__((alias("stat")));

EXPORT int lstat(const char *path, struct stat *info)
{
    answer("stat", path);
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}
EXPORT int lstat64(const char *path, struct stat64 *info) __attribute__((alias("lstat")));

EXPORT int access(const char *path, int wanted)
{
    answer("stat", path);
    return (int)syscall(SYS_faccessat, AT_FDCWD, path, wanted);
}

EXPORT char *realpath(const char *path, char *resolved)
{
    answer("stat", path);
    return NEXT(realpath)(path, resolved);
}

EXPORT FILE *fopen(const char *path, const char *how)
{
    if (mounts != NULL && strcmp(path, "/proc/self/mountinfo") == 0)
        return NEXT(fopen)(mounts, how);
    answer("open", path);
    return fails(OPEN, EMFILE) ? NULL : NEXT(fopen)(path, how);
}
EXPORT FILE *fopen64(const char *path, const char *how) __attribute__((alias("fopen")));

EXPORT FILE *fdopen(int fd, const char *how)
{
    return fails(OPEN, ENOMEM) ? NULL : NEXT(fdopen)(fd, how);
}

EXPORT DIR *opendir(const char *path)
{
    answer("list", path);
    return fails(OPEN, EMFILE) ? NULL : NEXT(opendir)(path);
}

EXPORT size_t fread(void *data, size_t size, size_t count, FILE *file)
{
    return fails(READ, EIO) ? 0 : NEXT(fread)(data, size, count, file);
}

EXPORT size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    return file != stderr && fails(WRITE, ENOSPC) ? 0 : NEXT(fwrite)(data, size, count, file);
}

EXPORT int fflush(FILE *file)
{
    return file != stderr && fails(FLUSH, EIO) ? EOF : NEXT(fflush)(file);
}

/* The descriptor is closed all the same. */
EXPORT int fclose(FILE *file)
{
    bool failing = fails(FLUSH, EIO);
    int number = errno;
    int result = NEXT(fclose)(file);
    if (!failing)
        return result;
    errno = number;
    return EOF;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    if (fails(THREAD, EAGAIN))
        return EAGAIN;
    return NEXT(pthread_create)(thread, attributes, start, argument);
}

/* ---- from main to its end -------------------------------------------------------------------- */

static int (*real_main)(int, char **, char **);

static void write_report(void)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    size_t length = (size_t)atomic_load(&calls);
    if (fd < 0 || length > sizeof kinds || syscall(SYS_write, fd, kinds, length) != (ssize_t)length)
        abort();
    syscall(SYS_close, fd);
}

static int counted_main(int argc, char **argv, char **environment)
{
    armed = true;
    int code = real_main(argc, argv, environment);
    armed = false;
    if (report != NULL)
        write_report();
    if (waiting != NULL)
        fprintf(stderr, "fault: %d calls at once\n", atomic_load(&waiting->most));
    return code;
}

typedef int main_function(int, char **, char **);
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader)(void), void *stack);

EXPORT int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader)(void), void *stack)
{
    const char *how = getenv("TDC_FAULT_MODE"), *at = getenv("TDC_FAULT_AT");
    report = getenv("TDC_FAULT_REPORT");
    silent = getenv("TDC_FAULT_SILENT");
    mounts = getenv("TDC_FAULT_MOUNTS");
    remote = getenv("TDC_FAULT_REMOTE");
    slow = getenv("TDC_FAULT_SLOW") != NULL ? atol(getenv("TDC_FAULT_SLOW")) : 0;
    together = getenv("TDC_FAULT_TOGETHER") != NULL ? atol(getenv("TDC_FAULT_TOGETHER")) : 0;
    if (slow != 0 || together != 0)
        waiting = (void *)syscall(SYS_mmap, NULL, sizeof *waiting, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0L);
    trace = getenv("TDC_FAULT_TRACE") != NULL;
    fail_at = at == NULL ? 0 : atol(at);
    if (how != NULL)
        mode = strcmp(how, "ever") == 0 ? EVER : strcmp(how, "interrupt") == 0 ? INTERRUPT : ONCE;
    (void)ready();
    look_up(&next_posix_memalign, "posix_memalign");
    look_up(&next_aligned_alloc, "aligned_alloc");
    look_up(&next_fopen, "fopen");
    look_up(&next_fdopen, "fdopen");
    look_up(&next_opendir, "opendir");
    look_up(&next_realpath, "realpath");
    look_up(&next_fflush, "fflush");
    look_up(&next_fclose, "fclose");
    look_up(&next_fwrite, "fwrite");
    look_up(&next_fread, "fread");
    look_up(&next_pthread_create, "pthread_create");
    free(malloc(1));
    real_main = main;
    __typeof__(&__libc_start_main) next;
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    return next(counted_main, argc, argv, init, fini, loader, stack);
}
