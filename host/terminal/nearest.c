#include "host/terminal/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MOST_LETTERS 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t tdc_word_distance(const char *a, const char *b)
{
    size_t rows[3][MOST_LETTERS + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > MOST_LETTERS || b_length > MOST_LETTERS)
        return SIZE_MAX;
    for (size_t k = 0; k <= b_length; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            size_t changed = above[k - 1] + (a[i - 1] != b[k - 1]);
            row[k] = least(changed, least(above[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = least(row[k], above_that[k - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *tdc_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t length = strlen(word), best = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t distance = tdc_word_distance(word, names[i]);
        bool begins = length >= 3 && strncmp(word, names[i], length) == 0;
        size_t allowed = strlen(names[i]) < length ? strlen(names[i]) : length;
        if (begins)
            distance = 1;
        else if (distance > (allowed + 2) / 3)
            continue;
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
