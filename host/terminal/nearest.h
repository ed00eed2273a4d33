/* nearest.h - which name a person may have meant. */
#ifndef TDC_TERMINAL_NEAREST_H
#define TDC_TERMINAL_NEAREST_H

#include <stddef.h>

/* How many letters must be put in, left out, changed or swapped with their neighbour to turn one
 * word into the other; words of more than 63 letters are as far apart as can be. */
size_t tdc_word_distance(const char *a, const char *b);

/* The name nearest to the word: at most a third of its letters are wrong, or the word begins the
 * name and has at least three letters. NULL: none. */
const char *tdc_nearest(const char *word, const char *const *names, size_t count);

#endif
