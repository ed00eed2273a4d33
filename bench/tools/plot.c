#include "bench/tools/plot.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 48

void tdc_size_text(uint64_t size, char text[24])
{
    static const char units[] = " KMG";
    unsigned unit = 0;
    while (unit < 3 && size >= 1024 && size % 1024 == 0) {
        size /= 1024;
        unit++;
    }
    snprintf(text, 24, unit == 0 ? "%" PRIu64 : "%" PRIu64 "%c", size, units[unit]);
}

static int columns_of(double value, double most)
{
    int columns = most > 0 ? (int)(value / most * WIDTH + 0.5) : 0;
    return columns < 0 ? 0 : columns > WIDTH ? WIDTH : columns;
}

void tdc_plot_print(const struct tdc_plot_bar *bars, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = bars[i].value > most ? bars[i].value : most;
        most = bars[i].top > most ? bars[i].top : most;
    }
    printf("\nGB/s by tensor size: # compared, . bare read\n");
    for (size_t i = 0; i < count; i++) {
        char line[WIDTH + 1], size[24];
        int value = columns_of(bars[i].value, most), top = columns_of(bars[i].top, most);
        memset(line, ' ', WIDTH);
        line[WIDTH] = '\0';
        if (top > value)
            memset(line + value, '.', (size_t)(top - value));
        memset(line, '#', (size_t)value);
        tdc_size_text(bars[i].size, size);
        bool first = i == 0 || strcmp(bars[i].group, bars[i - 1].group) != 0;
        printf("%-9s %5s %s %6.2f of %.2f\n", first ? bars[i].group : "", size, line, bars[i].value,
               bars[i].top);
    }
}
