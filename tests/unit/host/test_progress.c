#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "host/terminal/progress.h"
#include "host/terminal/progress_line.h"

static const struct tdc_progress_view half = {
    .label = "comparing",
    .rows = 1234,
    .total_rows = 2468,
    .bytes = 1500000000,
    .total_bytes = 3000000000,
    .seconds = 60,
};

static void bar_shows_everything_when_wide(void **state)
{
    (void)state;
    char line[TDC_PROGRESS_LINE];
    size_t length = tdc_progress_bar(&half, 200, false, line);
    assert_int_equal(length, strlen(line));
    assert_string_equal(line, "comparing [====================>                   ]   50%  "
                              "1234/2468 rows  1.5/3.0 GB  0.03 GB/s  0:01:00 left");
    size_t coloured = tdc_progress_bar(&half, 200, true, line);
    assert_non_null(strstr(line, "\x1b[32m"));
    assert_int_equal(coloured, length + strlen("\x1b[32m\x1b[0m"));
}

static void bar_never_passes_the_width(void **state)
{
    (void)state;
    char line[TDC_PROGRESS_LINE];
    struct tdc_progress_view huge = half;
    huge.rows = huge.total_rows = huge.bytes = huge.total_bytes = UINT64_MAX;
    for (size_t width = 0; width < 300; width++) {
        size_t room = width == 0 ? 0 : width - 1;
        assert_true(tdc_progress_bar(&half, width, false, line) <= room);
        assert_true(tdc_progress_bar(&huge, width, false, line) <= room);
    }
    tdc_progress_bar(&half, 40, false, line);
    assert_string_equal(line, "comparing [==========>          ]   50%");
    tdc_progress_bar(&half, 8, false, line);
    assert_string_equal(line, " 50%");
}

static void share_falls_back_to_rows(void **state)
{
    (void)state;
    struct tdc_progress_view view = half;
    view.total_bytes = 0;
    view.rows = 617;
    assert_true(tdc_progress_share(&view) == 0.25);
    char line[TDC_PROGRESS_LINE];
    tdc_progress_plain(&view, line);
    assert_string_equal(line, "comparing: 25%  617/2468 rows  0:03:00 left\n");
    view.rows = 9999; /* more than announced */
    assert_true(tdc_progress_share(&view) == 1);
    view.total_rows = 0;
    assert_true(tdc_progress_share(&view) == 0);
}

static void plain_lines_need_time_and_work(void **state)
{
    (void)state;
    assert_false(tdc_progress_plain_due(9.9, 0.5));
    assert_false(tdc_progress_plain_due(100, 0.09));
    assert_true(tdc_progress_plain_due(10, 0.1));
    assert_true(tdc_progress_plain_due(10, 0.4 - 0.3));
}

static void sleep_milliseconds(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Runs a display with stderr going to fd, and gives what was written there (read from other). */
static size_t captured(int fd, int other, bool quiet, char *text, size_t room)
{
    int saved = dup(STDERR_FILENO);
    assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    struct tdc_progress *progress = tdc_progress_start("comparing", 100, 1000000000, quiet);
    bool made = progress != NULL;
    for (int i = 0; i < 50; i++) {
        tdc_progress_add(progress, 1, 10000000);
        sleep_milliseconds(10);
    }
    tdc_progress_stop(progress);
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    close(saved);
    assert_true(made != quiet);
    assert_int_equal(fcntl(other, F_SETFL, O_NONBLOCK), 0);
    /* A terminal hands out its content in pieces. */
    size_t length = 0;
    for (ssize_t got; (got = read(other, text + length, room - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    return length;
}

static size_t count(const char *text, const char *piece)
{
    size_t found = 0;
    for (; (text = strstr(text, piece)) != NULL; text++)
        found++;
    return found;
}

static void terminal_gets_a_bar_that_is_erased(void **state)
{
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    struct winsize size = {.ws_row = 24, .ws_col = 60};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    char text[8192];
    struct timespec begin;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    size_t length = captured(terminal, master, false, text, sizeof text);
    clock_gettime(CLOCK_MONOTONIC, &end);
    size_t tenths = (size_t)((end.tv_sec - begin.tv_sec) * 10 + end.tv_nsec / 100000000 -
                             begin.tv_nsec / 100000000 + 1);
    assert_true(length > 0);
    size_t drawn = count(text, "comparing [");
    assert_in_range(drawn, 1, tenths); /* a machine under load takes longer for the adds */
    assert_true(count(text, "\x1b[32m") == drawn);
    assert_string_equal(text + length - 4, "\r\x1b[K");
    assert_null(strchr(text, '\n'));

    setenv("NO_COLOR", "1", 1);
    captured(terminal, master, false, text, sizeof text);
    assert_true(count(text, "comparing [") > 0);
    assert_int_equal(count(text, "\x1b[32m"), 0);

    setenv("TERM", "dumb", 1);
    assert_int_equal(captured(terminal, master, false, text, sizeof text), 0);
    setenv("TERM", "xterm", 1);
    assert_int_equal(captured(terminal, master, true, text, sizeof text), 0);
    close(terminal);
    close(master);
}

static void pipe_gets_no_escape_sequences(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char text[1024];
    /* Half a second is shorter than the ten seconds of a plain line. */
    assert_int_equal(captured(ends[1], ends[0], false, text, sizeof text), 0);
    close(ends[0]);
    close(ends[1]);
}

static void *add_many(void *argument)
{
    for (int i = 0; i < 100000; i++)
        tdc_progress_add(argument, 1, 3);
    return NULL;
}

static void many_threads_may_add(void **state)
{
    (void)state;
    struct tdc_progress *progress = tdc_progress_start("adding", 400000, 1200000, false);
    assert_non_null(progress);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, progress), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    tdc_progress_stop(progress);
    tdc_progress_add(NULL, 1, 1);
    tdc_progress_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_shows_everything_when_wide),
        cmocka_unit_test(bar_never_passes_the_width),
        cmocka_unit_test(share_falls_back_to_rows),
        cmocka_unit_test(plain_lines_need_time_and_work),
        cmocka_unit_test(terminal_gets_a_bar_that_is_erased),
        cmocka_unit_test(pipe_gets_no_escape_sequences),
        cmocka_unit_test(many_threads_may_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
