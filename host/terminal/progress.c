#include "host/terminal/progress.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "host/terminal/colour.h"
#include "host/terminal/progress_line.h"

#define REDRAW_NANOSECONDS 100000000
#define USUAL_WIDTH        80u

struct tdc_progress {
    atomic_uint_fast64_t rows;
    atomic_uint_fast64_t bytes;
    atomic_int_fast64_t next; /* monotonic time of the next look, in nanoseconds */
    atomic_flag drawing;      /* held by the thread that writes; the others go on */
    char *label;
    const char *after; /* takes its place when all rows are done; NULL: nothing */
    uint64_t total_rows;
    uint64_t total_bytes;
    int64_t start;
    bool terminal;
    bool colour;
    /* Guarded by drawing. */
    bool shown;
    double last_seconds;
    double last_share;
};

/* The coarse clock costs a few nanoseconds and ticks every few milliseconds. */
static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct tdc_progress *tdc_progress_start(const char *label, uint64_t total_rows,
                                        uint64_t total_bytes, bool quiet)
{
    if (quiet)
        return NULL;
    struct tdc_progress *progress = calloc(1, sizeof *progress);
    if (progress == NULL)
        return NULL;
    progress->label = strdup(label);
    if (progress->label == NULL) {
        free(progress);
        return NULL;
    }
    const char *kind = getenv("TERM");
    bool dumb = kind != NULL && strcmp(kind, "dumb") == 0;
    progress->terminal = isatty(STDERR_FILENO) != 0 && !dumb;
    progress->colour = progress->terminal && tdc_coloured(STDERR_FILENO);
    progress->total_rows = total_rows;
    progress->total_bytes = total_bytes;
    progress->start = now();
    atomic_init(&progress->rows, 0);
    atomic_init(&progress->bytes, 0);
    /* A run shorter than this shows nothing. */
    atomic_init(&progress->next, progress->start + REDRAW_NANOSECONDS);
    atomic_flag_clear(&progress->drawing);
    return progress;
}

static struct tdc_progress_view view_of(struct tdc_progress *progress, int64_t time)
{
    uint64_t rows = atomic_load_explicit(&progress->rows, memory_order_relaxed);
    bool done = progress->after != NULL && rows >= progress->total_rows;
    return (struct tdc_progress_view){
        .label = done ? progress->after : progress->label,
        .rows = rows,
        .total_rows = progress->total_rows,
        .bytes = atomic_load_explicit(&progress->bytes, memory_order_relaxed),
        .total_bytes = progress->total_bytes,
        .seconds = (double)(time - progress->start) / 1e9,
    };
}

/* One write a line, so that lines of several threads and processes do not mix. A display that
 * cannot be written is no reason to stop a run. */
static void say(const char *text, size_t length)
{
    while (write(STDERR_FILENO, text, length) < 0 && errno == EINTR)
        continue;
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col;
}

static void redraw(struct tdc_progress *progress, int64_t time)
{
    /* Carriage return before, erasing the rest of an earlier longer line after. */
    char text[TDC_PROGRESS_LINE + 8] = "\r";
    struct tdc_progress_view view = view_of(progress, time);
    size_t length = 1 + tdc_progress_bar(&view, terminal_width(), progress->colour, text + 1);
    memcpy(text + length, "\x1b[K", 3);
    say(text, length + 3);
    progress->shown = true;
}

static void plain_line(struct tdc_progress *progress, int64_t time)
{
    struct tdc_progress_view view = view_of(progress, time);
    double share = tdc_progress_share(&view);
    if (!tdc_progress_plain_due(view.seconds - progress->last_seconds,
                                share - progress->last_share))
        return;
    char text[TDC_PROGRESS_LINE];
    say(text, tdc_progress_plain(&view, text));
    progress->shown = true;
    progress->last_seconds = view.seconds;
    progress->last_share = share;
}

void tdc_progress_after(struct tdc_progress *progress, const char *label)
{
    if (progress != NULL)
        progress->after = label;
}

/* The last row: nothing is added any more that would show what is left to do. */
static void draw_last(struct tdc_progress *progress)
{
    int64_t time = now();
    while (atomic_flag_test_and_set_explicit(&progress->drawing, memory_order_acquire))
        continue; /* held for one write */
    if (progress->terminal &&
        (progress->shown || time >= atomic_load_explicit(&progress->next, memory_order_relaxed)))
        redraw(progress, time);
    atomic_flag_clear_explicit(&progress->drawing, memory_order_release);
}

void tdc_progress_add(struct tdc_progress *progress, uint64_t rows, uint64_t bytes)
{
    if (progress == NULL)
        return;
    atomic_fetch_add_explicit(&progress->bytes, bytes, memory_order_relaxed);
    uint64_t before = atomic_fetch_add_explicit(&progress->rows, rows, memory_order_relaxed);
    if (progress->after != NULL && before < progress->total_rows &&
        before + rows >= progress->total_rows) {
        draw_last(progress);
        return;
    }
    int64_t time = now();
    if (time < atomic_load_explicit(&progress->next, memory_order_relaxed))
        return;
    if (atomic_flag_test_and_set_explicit(&progress->drawing, memory_order_acquire))
        return;
    /* Another thread may have drawn since the look at the clock. */
    if (time >= atomic_load_explicit(&progress->next, memory_order_relaxed)) {
        atomic_store_explicit(&progress->next, time + REDRAW_NANOSECONDS, memory_order_relaxed);
        if (progress->terminal)
            redraw(progress, time);
        else
            plain_line(progress, time);
    }
    atomic_flag_clear_explicit(&progress->drawing, memory_order_release);
}

/* No other thread adds any more. */
void tdc_progress_stop(struct tdc_progress *progress)
{
    if (progress == NULL)
        return;
    if (progress->shown && progress->terminal) {
        say("\r\x1b[K", 4);
    } else if (progress->shown && progress->last_share < 1) {
        char text[TDC_PROGRESS_LINE];
        struct tdc_progress_view view = view_of(progress, now());
        say(text, tdc_progress_plain(&view, text));
    }
    free(progress->label);
    free(progress);
}
