#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "io/base/arena.h"
#include "io/base/memory_limit.h"
#include "io/base/team.h"
#include "tests/support/temporary_folder.h"

/* ---- threads --------------------------------------------------------------------------------- */

struct count {
    atomic_int ran[16];
};

static void count_member(void *argument, int member)
{
    struct count *count = argument;
    atomic_fetch_add(&count->ran[member], 1);
}

static void each_member_runs_once(void **state)
{
    (void)state;
    struct count count = {0};
    assert_int_equal(tdc_team_run(7, count_member, &count), 7);
    for (int i = 0; i < 16; i++)
        assert_int_equal(atomic_load(&count.ran[i]), i < 7);
    assert_int_equal(tdc_team_run(1, count_member, &count), 1);
    assert_int_equal(tdc_team_run(0, count_member, &count), 1);
    assert_int_equal(atomic_load(&count.ran[0]), 3);
    assert_int_equal(tdc_team_probe(5), 5);
}

/* A stack larger than the address space: no thread can be started. */
static void without_threads_the_caller_works(void **state)
{
    (void)state;
    pthread_attr_t before, huge;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 56), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    struct count count = {0};
    int ran = tdc_team_run(7, count_member, &count), probed = tdc_team_probe(7);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    assert_int_equal(ran, 1);
    assert_int_equal(probed, 1);
    assert_int_equal(atomic_load(&count.ran[0]), 1);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&before);
}

static void keep_text(void *context, tdc_message_level level, const char *text)
{
    assert_int_equal(level, TDC_MESSAGE_WARNING);
    snprintf(context, 128, "%s", text);
}

static void fewer_threads_are_said(void **state)
{
    (void)state;
    char text[128] = "";
    assert_true(tdc_team_size(0) >= 1);
    assert_int_equal(tdc_team_size(1), 1);
    assert_true(tdc_team_size(70000) <= TDC_MOST_THREADS);
    struct rlimit before, less;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    less = before;
    for (int files = 80; files >= 20; files -= 60) {
        less.rlim_cur = (rlim_t)files;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
        assert_int_equal(tdc_team_size(64), files == 80 ? 6 : 1);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    tdc_team_say(keep_text, text, 0, 2);
    tdc_team_say(keep_text, text, 2, 2);
    tdc_team_say(NULL, NULL, 70000, 2);
    assert_string_equal(text, "");
    tdc_team_say(keep_text, text, 70000, TDC_MOST_THREADS);
    assert_string_equal(text, "1024 threads of the 70000 asked for: no run takes more");
    tdc_team_say(keep_text, text, 3, 1);
    assert_string_equal(text, "1 thread of the 3 asked for: there is no room for more");
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes the folders of the path below the base, and the file with the text. */
static void put(const struct temporary_folder *base, const char *path, const char *text)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "%s/%s", base->path, path);
    for (char *at = whole + strlen(base->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static size_t limit_of(const struct temporary_folder *base, const char *membership)
{
    put(base, "membership", membership);
    return tdc_memory_of_groups(folder_file(base, "membership"), folder_file(base, "mounts"));
}

static void groups_limit_memory(void **state)
{
    (void)state;
    struct temporary_folder base;
    folder_make(&base);
    assert_true(limit_of(&base, "0::/none\n") == SIZE_MAX);
    put(&base, "mounts/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(&base, "mounts/memory/jobs/memory.limit_in_bytes", "5000000000\n");
    put(&base, "mounts/memory/jobs/one/memory.limit_in_bytes", "7000000000\n");
    put(&base, "mounts/unified/here/memory.max", "max\n");
    put(&base, "mounts/unified/here/deep/memory.max", "3000000000\n");
    /* version 1: the group above is the tighter one */
    assert_int_equal(limit_of(&base, "5:cpu:/jobs\n4:memory:/jobs/one\n0::/\n"), 5000000000);
    /* a container whose path is that of the host: what is mounted counts */
    assert_int_equal(limit_of(&base, "4:memory:/docker/12ab\n"), 9223372036854771712);
    /* version 2 beside version 1, and alone */
    assert_int_equal(limit_of(&base, "4:memory:/jobs\n0::/here/deep\n"), 3000000000);
    assert_int_equal(limit_of(&base, "0::/here\n"), SIZE_MAX);
    put(&base, "mounts/slice/memory.max", "2000000000\n");
    assert_int_equal(limit_of(&base, "0::/slice/unit\n"), 2000000000);
    assert_int_equal(limit_of(&base, "nonsense\n4:memory\n:\n"), SIZE_MAX);
    assert_true(tdc_memory_of_groups("/no/such/file", "/no") == SIZE_MAX);
    char command[1200];
    snprintf(command, sizeof command, "rm -r '%s'", base.path);
    assert_int_equal(system(command), 0);
}

static void the_process_limits_memory(void **state)
{
    (void)state;
    assert_true(tdc_memory_limit() >= TDC_LEAST_MEMORY);
    struct rlimit before, less;
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    less = before;
    less.rlim_cur = (rlim_t)48 << 20;
    struct tdc_arena arena;
    struct rlimit taken;
    assert_int_equal(setrlimit(RLIMIT_DATA, &less), 0);
    assert_int_equal(getrlimit(RLIMIT_DATA, &taken), 0);
    if (taken.rlim_cur != less.rlim_cur)
        skip(); /* an emulator's own process is spared */
    size_t limit = tdc_memory_limit();
    int threads = tdc_team_size(64);
    tdc_arena_init(&arena, SIZE_MAX);
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
    assert_int_equal(limit, (size_t)48 << 20);
    assert_int_equal(threads, 1);
    /* and with it every arena */
    assert_null(tdc_arena_take(&arena, (size_t)48 << 20));
    assert_true(arena.refused);
    tdc_arena_reset(&arena);
    assert_false(arena.refused);
    assert_non_null(tdc_arena_take(&arena, (size_t)40 << 20));
    tdc_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_runs_once),
        cmocka_unit_test(without_threads_the_caller_works),
        cmocka_unit_test(fewer_threads_are_said),
        cmocka_unit_test(groups_limit_memory),
        cmocka_unit_test(the_process_limits_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
