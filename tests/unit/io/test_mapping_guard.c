#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "tests/support/tensor_probe.h"

/*
 * Stands before the C library's fstat in this program: a file that shrank between being measured
 * and being read looks just like one whose size was given too large.
 */
static off_t pretended_growth;

int fstat(int descriptor, struct stat *status)
{
    int result = fstatat(descriptor, "", status, AT_EMPTY_PATH);
    if (result == 0 && S_ISREG(status->st_mode))
        status->st_size += pretended_growth;
    return result;
}

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/tdc_guard_XXXXXX", base != NULL ? base : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void path_in_folder(char *path, size_t capacity, const char *name)
{
    snprintf(path, capacity, "%s/%s", folder, name);
}

static void make_file(const char *path, size_t size)
{
    int descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(ftruncate(descriptor, (off_t)size), 0);
    close(descriptor);
}

struct range {
    const volatile char *data;
    size_t size;
    unsigned sum;
};

static void sum_range(void *argument)
{
    struct range *range = argument;
    for (size_t i = 0; i < range->size; i += 512)
        range->sum += (unsigned char)range->data[i];
}

static void truncated_file_ends_the_read(void **state)
{
    (void)state;
    char path[128];
    struct tdc_file_map map;
    path_in_folder(path, sizeof path, "shrinks");
    make_file(path, 65536);
    assert_int_equal(tdc_file_map_open(path, &map, NULL), TDC_OK);
    struct range range = {map.data, map.size, 0};
    assert_true(tdc_guard_begin());
    assert_true(tdc_guarded_read(sum_range, &range));
    assert_int_equal(truncate(path, 4096), 0);
    for (int i = 0; i < 100; i++)
        assert_false(tdc_guarded_read(sum_range, &range));
    assert_int_equal(truncate(path, 65536), 0);
    assert_true(tdc_guarded_read(sum_range, &range));
    tdc_guard_end();
    tdc_file_map_close(&map);
    unlink(path);
}

static void *read_often(void *argument)
{
    struct range *range = argument;
    size_t complete = 0;
    for (int i = 0; i < 500; i++) {
        assert_true(tdc_guard_begin());
        complete += tdc_guarded_read(sum_range, range);
        tdc_guard_end();
    }
    range->sum = (unsigned)complete;
    return NULL;
}

static void threads_fail_only_for_themselves(void **state)
{
    (void)state;
    char good[128], bad[128];
    struct tdc_file_map maps[2];
    path_in_folder(good, sizeof good, "good");
    path_in_folder(bad, sizeof bad, "bad");
    make_file(good, 16384);
    make_file(bad, 16384);
    assert_int_equal(tdc_file_map_open(good, &maps[0], NULL), TDC_OK);
    assert_int_equal(tdc_file_map_open(bad, &maps[1], NULL), TDC_OK);
    assert_int_equal(truncate(bad, 0), 0);
    pthread_t threads[6];
    struct range ranges[6];
    for (size_t i = 0; i < 6; i++) {
        ranges[i] = (struct range){maps[i % 2].data, maps[i % 2].size, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &ranges[i]), 0);
    }
    for (size_t i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(ranges[i].sum, i % 2 == 0 ? 500 : 0);
    }
    tdc_file_map_close(&maps[0]);
    tdc_file_map_close(&maps[1]);
    unlink(good);
    unlink(bad);
}

static volatile sig_atomic_t plain_calls, informed_calls;

static void plain_handler(int number)
{
    (void)number;
    plain_calls++;
}

static void informed_handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    informed_calls += info->si_code == SI_TKILL || info->si_code == SI_USER;
}

static void raise_bus_error(void *argument)
{
    (void)argument;
    raise(SIGBUS);
}

static void other_signals_reach_the_old_handler(void **state)
{
    (void)state;
    struct sigaction original, action = {.sa_handler = plain_handler}, current;
    sigaction(SIGBUS, &action, &original);
    assert_true(tdc_guard_begin());
    assert_true(tdc_guard_begin());
    raise(SIGBUS);
    assert_int_equal(plain_calls, 1);
    /* sent by somebody, not caused by a page: the read goes on */
    assert_true(tdc_guarded_read(raise_bus_error, NULL));
    assert_int_equal(plain_calls, 2);
    tdc_guard_end();
    sigaction(SIGBUS, NULL, &current);
    assert_true(current.sa_handler != plain_handler);
    tdc_guard_end();
    sigaction(SIGBUS, NULL, &current);
    assert_true(current.sa_handler == plain_handler);

    struct sigaction informed = {.sa_sigaction = informed_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &informed, NULL);
    assert_true(tdc_guard_begin());
    raise(SIGBUS);
    tdc_guard_end();
    assert_int_equal(informed_calls, 1);

    signal(SIGBUS, SIG_IGN);
    assert_true(tdc_guard_begin());
    raise(SIGBUS);
    tdc_guard_end();

    /* a handler set meanwhile stays */
    assert_true(tdc_guard_begin());
    sigaction(SIGBUS, &action, NULL);
    tdc_guard_end();
    sigaction(SIGBUS, NULL, &current);
    assert_true(current.sa_handler == plain_handler);
    sigaction(SIGBUS, &original, NULL);
}

/* Runs in a child process and returns how it ended. */
static int in_child(void (*run)(struct range *), struct range *range)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        run(range);
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static void read_unguarded(struct range *range)
{
    if (tdc_guard_begin())
        sum_range(range);
}

static void read_after_a_guarded_read(struct range *range)
{
    struct range good = {"abc", 3, 0};
    if (tdc_guard_begin() && tdc_guarded_read(sum_range, &good) &&
        !tdc_guarded_read(sum_range, range))
        sum_range(range);
}

static void be_sent_a_signal(struct range *range)
{
    (void)range;
    if (tdc_guard_begin())
        raise(SIGBUS);
}

static void read_ignored(struct range *range)
{
    signal(SIGBUS, SIG_IGN);
    if (tdc_guard_begin())
        sum_range(range);
}

static void bus_errors_outside_kill_as_before(void **state)
{
    (void)state;
    char path[128];
    struct tdc_file_map map;
    path_in_folder(path, sizeof path, "kills");
    make_file(path, 8192);
    assert_int_equal(tdc_file_map_open(path, &map, NULL), TDC_OK);
    assert_int_equal(truncate(path, 0), 0);
    struct range range = {map.data, map.size, 0};
    void (*const runs[])(struct range *) = {read_unguarded, read_after_a_guarded_read,
                                            be_sent_a_signal, read_ignored};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        int status = in_child(runs[i], &range);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGBUS);
    }
    tdc_file_map_close(&map);
    unlink(path);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[8192];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    size_t size = fread(bytes, 1, sizeof bytes, in);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(in);
    fclose(out);
}

static void touch(void *argument)
{
    volatile unsigned sink = probe_touch(argument);
    (void)sink;
}

static void tensor_files_that_shrink_are_told(void **state)
{
    (void)state;
    static const char *const files[] = {"plain.pt", "legacy.pt", "fortran.npy"};
    for (size_t i = 0; i < 3; i++) {
        char from[512], path[128];
        struct tdc_tensor tensor;
        struct tdc_error error;
        snprintf(from, sizeof from, TDC_TEST_DATA "/tensors/%s", files[i]);
        path_in_folder(path, sizeof path, files[i]);
        copy_file(from, path);
        assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error), TDC_OK);
        assert_true(tdc_guard_begin());
        assert_true(tdc_guarded_read(touch, &tensor));
        assert_int_equal(truncate(path, 0), 0);
        assert_false(tdc_guarded_read(touch, &tensor));
        tdc_guard_end();
        tdc_tensor_close(&tensor);

        /* empty, but measured as if it were not */
        pretended_growth = 1 << 16;
        assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error),
                         TDC_ERR_CHANGED);
        pretended_growth = 0;
        assert_non_null(strstr(error.message, "shrank"));
        assert_null(tensor.data);
        assert_null(tensor.map);
        unlink(path);
    }
}

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    char path[128], link[128];
    struct tdc_file_map map;
    struct tdc_tensor tensor;
    struct tdc_error error;
    path_in_folder(path, sizeof path, "f.npy");
    path_in_folder(link, sizeof link, "link.npy");
    assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error),
                     TDC_ERR_NOT_FOUND);
    assert_int_equal(tdc_file_map_open(folder, &map, &error), TDC_ERR_READ);
    assert_non_null(strstr(error.message, "not a regular file"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tdc_file_map_open(path, &map, &error), TDC_ERR_READ);
    unlink(path);
    make_file(path, 0);
    assert_int_equal(tdc_file_map_open(path, &map, &error), TDC_OK);
    assert_null(map.data);
    tdc_file_map_close(&map);
    assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error), TDC_ERR_FORMAT);
    copy_file(TDC_TEST_DATA "/tensors/zero_d.npy", path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(tdc_tensor_open(link, TDC_TENSOR_BY_SUFFIX, &tensor, &error), TDC_OK);
    tdc_tensor_close(&tensor);
    tdc_tensor_close(&tensor);
    tdc_tensor_close(NULL);
    unlink(link);
    unlink(path);
    path_in_folder(path, sizeof path, "f.txt");
    make_file(path, 10);
    assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error),
                     TDC_ERR_UNSUPPORTED);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_file_ends_the_read),
        cmocka_unit_test(threads_fail_only_for_themselves),
        cmocka_unit_test(other_signals_reach_the_old_handler),
        cmocka_unit_test(bus_errors_outside_kill_as_before),
        cmocka_unit_test(tensor_files_that_shrink_are_told),
        cmocka_unit_test(only_regular_files_are_opened),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
