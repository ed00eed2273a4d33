#include "host/terminal/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/terminal/message.h"

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
    const size_t most = 250;
    size_t width = isatty(STDOUT_FILENO) ? width_of_terminal() : 0;
    return width < TDC_PAGE_WIDTH ? TDC_PAGE_WIDTH : width > most ? most : width;
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

static char *keep(char *copy)
{
    enum {
        AT_ONCE = 16
    };
    static char *copies[AT_ONCE];
    static size_t next;
    free(copies[next]);
    copies[next] = copy;
    next = (next + 1) % AT_ONCE;
    return copy;
}

const char *tdc_fit(const char *text, size_t width)
{
    static const char dots[] = "...";
    const char *shown = tdc_shown(text);
    size_t columns = tdc_columns_of(shown);
    size_t room = width < 8 ? 5 : width - 3; /* for what is left of the text */
    if (columns <= room + 3) {
        char *copy = strdup(shown); /* tdc_shown's copies are overwritten earlier */
        return copy != NULL ? keep(copy) : shown;
    }
    size_t head = head_bytes(shown, room / 2);
    size_t tail = head_bytes(shown, columns - (room - room / 2));
    /* half of a wide sign does not count as shown */
    while (tdc_columns_of(shown + tail) > room - room / 2)
        tail += head_bytes(shown + tail, 2) != 0 ? head_bytes(shown + tail, 2) : 1;
    char *copy = malloc(head + sizeof dots + strlen(shown + tail));
    if (copy == NULL)
        return "(out of memory)";
    memcpy(copy, shown, head);
    strcpy(copy + head, dots);
    strcat(copy, shown + tail);
    return keep(copy);
}

void tdc_put_padded(FILE *stream, const char *text, size_t width)
{
    fputs(text, stream);
    for (size_t columns = tdc_columns_of(text); columns < width; columns++)
        fputc(' ', stream);
}
