#include "host/terminal/progress_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_MAXIMUM 40u
#define BAR_MINIMUM 10u
/* Rates are noise before. */
#define SETTLED_SECONDS 0.5

double tdc_progress_share(const struct tdc_progress_view *view)
{
    bool by_bytes = view->total_bytes != 0;
    uint64_t done = by_bytes ? view->bytes : view->rows;
    uint64_t total = by_bytes ? view->total_bytes : view->total_rows;
    if (total == 0)
        return 0;
    return done >= total ? 1 : (double)done / (double)total;
}

/* Parts of a line, most important first. */
#define PARTS     5
#define PART_ROOM 64

static void share_part(const struct tdc_progress_view *view, char part[PART_ROOM])
{
    /* Rounded down: 100% means done. */
    snprintf(part, PART_ROOM, "%3d%%", (int)(tdc_progress_share(view) * 100));
}

static void rows_part(const struct tdc_progress_view *view, char part[PART_ROOM])
{
    if (view->total_rows != 0)
        snprintf(part, PART_ROOM, "%llu/%llu rows", (unsigned long long)view->rows,
                 (unsigned long long)view->total_rows);
}

static void bytes_part(const struct tdc_progress_view *view, char part[PART_ROOM])
{
    if (view->total_bytes != 0)
        snprintf(part, PART_ROOM, "%.1f/%.1f GB", (double)view->bytes / 1e9,
                 (double)view->total_bytes / 1e9);
}

static void rate_part(const struct tdc_progress_view *view, char part[PART_ROOM])
{
    if (view->total_bytes != 0 && view->seconds >= SETTLED_SECONDS)
        snprintf(part, PART_ROOM, "%.2f GB/s", (double)view->bytes / 1e9 / view->seconds);
}

static void left_part(const struct tdc_progress_view *view, char part[PART_ROOM])
{
    double share = tdc_progress_share(view);
    if (share <= 0 || view->seconds < SETTLED_SECONDS)
        return;
    double left = ceil(view->seconds * (1 - share) / share);
    if (left > 359999) /* 99:59:59 */
        return;
    unsigned seconds = (unsigned)left;
    snprintf(part, PART_ROOM, "%u:%02u:%02u left", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

static void all_parts(const struct tdc_progress_view *view, char parts[PARTS][PART_ROOM])
{
    memset(parts, 0, sizeof(char[PARTS][PART_ROOM]));
    share_part(view, parts[0]);
    rows_part(view, parts[1]);
    bytes_part(view, parts[2]);
    rate_part(view, parts[3]);
    left_part(view, parts[4]);
}

/* Joins the parts that fit into width columns, two blanks apart. */
static size_t join(char parts[PARTS][PART_ROOM], size_t width, char out[PARTS * (PART_ROOM + 2)])
{
    size_t length = 0;
    for (size_t i = 0; i < PARTS; i++) {
        size_t part = strlen(parts[i]);
        size_t gap = length == 0 ? 0 : 2;
        if (part == 0)
            continue;
        if (length + gap + part > width)
            break;
        memcpy(out + length, "  ", gap);
        memcpy(out + length + gap, parts[i], part);
        length += gap + part;
    }
    out[length] = '\0';
    return length;
}

/* "[===>   ]", cells wide inside. */
static size_t draw_cells(double share, size_t cells, bool colour, char *out)
{
    size_t full = (size_t)(share * (double)cells);
    char inside[BAR_MAXIMUM + 1];
    for (size_t i = 0; i < cells; i++)
        inside[i] = i < full ? '=' : i == full ? '>' : ' ';
    inside[cells] = '\0';
    return (size_t)sprintf(out, colour ? "[\x1b[32m%s\x1b[0m]" : "[%s]", inside);
}

size_t tdc_progress_bar(const struct tdc_progress_view *view, size_t width, bool colour,
                        char line[TDC_PROGRESS_LINE])
{
    char parts[PARTS][PART_ROOM];
    char joined[PARTS * (PART_ROOM + 2)];
    all_parts(view, parts);
    size_t label = strlen(view->label);
    if (label > PART_ROOM)
        label = PART_ROOM;
    /* The last column stays free: some terminals wrap when it is written. */
    size_t room = width > 0 ? width - 1 : 0;
    size_t fixed = label + 1; /* and a blank */
    bool has_bar = room >= fixed + BAR_MINIMUM + 2 + 2 + 4;
    size_t before = has_bar ? fixed + BAR_MINIMUM + 2 + 2 : fixed;
    size_t length = room > before ? join(parts, room - before, joined) : 0;
    if (length == 0) { /* too narrow for a label */
        length = join(parts, room, line);
        return length;
    }
    size_t at = (size_t)sprintf(line, "%.*s ", (int)label, view->label);
    if (has_bar) {
        size_t cells = room - before - length + BAR_MINIMUM;
        at += draw_cells(tdc_progress_share(view), cells < BAR_MAXIMUM ? cells : BAR_MAXIMUM,
                         colour, line + at);
        at += (size_t)sprintf(line + at, "  ");
    }
    memcpy(line + at, joined, length + 1);
    return at + length;
}

size_t tdc_progress_plain(const struct tdc_progress_view *view, char line[TDC_PROGRESS_LINE])
{
    char parts[PARTS][PART_ROOM];
    char joined[PARTS * (PART_ROOM + 2)];
    all_parts(view, parts);
    join(parts, sizeof joined, joined);
    const char *text = joined + strspn(joined, " ");
    return (size_t)snprintf(line, TDC_PROGRESS_LINE, "%.*s: %s\n", PART_ROOM, view->label, text);
}

bool tdc_progress_plain_due(double seconds_since, double share_since)
{
    /* Shares are quotients: three tenths may be a hair less. */
    return seconds_since >= 10 && share_since >= 0.1 - 1e-9;
}
