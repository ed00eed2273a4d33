#include "host/terminal/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/terminal/message.h"

/* Names are no better to read on a wider page. */
#define MOST_COLUMNS ((size_t)250)

static size_t width_of_terminal(void)
{
    const char *columns = getenv("COLUMNS");
    long asked = columns != NULL ? strtol(columns, NULL, 10) : 0;
    struct winsize size;
    if (asked > 0)
        return (size_t)asked;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t tdc_page_width(void)
{
    size_t width = isatty(STDOUT_FILENO) ? width_of_terminal() : 0;
    return width < TDC_PAGE_WIDTH ? TDC_PAGE_WIDTH : width > MOST_COLUMNS ? MOST_COLUMNS : width;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The sign at text and the bytes it has; a byte that is no UTF-8 counts for itself. */
static uint32_t sign_at(const char *text, size_t *bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80    ? 1
                    : at[0] >= 0xf0 ? 4
                    : at[0] >= 0xe0 ? 3
                    : at[0] >= 0xc0 ? 2
                                    : 1;
    uint32_t sign = length == 1 ? at[0] : at[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            length = 1;
            sign = at[0];
            break;
        }
        sign = sign << 6 | (at[i] & 0x3f);
    }
    *bytes = length;
    return sign;
}

/* Han, Kana, Hangul, full-width forms and pictures are two columns wide. */
static size_t columns_of_sign(uint32_t sign)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf}, {0xac00, 0xd7a3},
                {0xf900, 0xfaff},   {0xfe30, 0xfe6f},  {0xff00, 0xff60}, {0xffe0, 0xffe6},
                {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (sign >= wide[i].first && sign <= wide[i].last)
            return 2;
    return 1;
}

size_t tdc_columns_of(const char *text)
{
    size_t columns = 0, bytes;
    for (; *text != '\0'; text += bytes)
        columns += columns_of_sign(sign_at(text, &bytes));
    return columns;
}

/* Bytes of the beginning that takes no more than `width` columns. */
static size_t head_bytes(const char *text, size_t width)
{
    size_t used = 0, columns = 0, bytes;
    for (; text[used] != '\0'; used += bytes) {
        columns += columns_of_sign(sign_at(text + used, &bytes));
        if (columns > width)
            break;
    }
    return used;
}

/* What is cut fits a line of the widest page, in signs of four bytes. */
#define FITTED_ROOM ((size_t)4 * MOST_COLUMNS + 1)

static char *next_room(void)
{
    enum {
        AT_ONCE = 16
    };
    static char rooms[AT_ONCE][FITTED_ROOM];
    static size_t next;
    next = (next + 1) % AT_ONCE;
    return rooms[next];
}

const char *tdc_fit(const char *text, size_t width)
{
    const char *shown = tdc_shown(text);
    char *room = next_room();
    size_t columns = tdc_columns_of(shown);
    width = width < 8 ? 8 : width > MOST_COLUMNS ? MOST_COLUMNS : width;
    if (columns <= width) {
        strcpy(room, shown);
        return room;
    }
    size_t before = (width - 3) / 2, after = width - 3 - before;
    size_t head = head_bytes(shown, before), tail = head_bytes(shown, columns - after);
    while (tdc_columns_of(shown + tail) > after) { /* half of a wide sign is not shown */
        size_t bytes;
        sign_at(shown + tail, &bytes);
        tail += bytes;
    }
    memcpy(room, shown, head);
    strcpy(room + head, "...");
    strcpy(room + head + 3, shown + tail);
    return room;
}

void tdc_put_padded(FILE *stream, const char *text, size_t width)
{
    fputs(text, stream);
    for (size_t columns = tdc_columns_of(text); columns < width; columns++)
        fputc(' ', stream);
}
