/*
 * similarity.h - how alike two texts are, as Python's difflib counts it.
 *
 * Ratcliff and Obershelp: the longest piece both have, then the same left and right of it; twice
 * the characters found over the characters of both. Like difflib, characters that make up more than
 * a hundredth of a second text of 200 and more do not begin a piece.
 */
#ifndef TDC_IO_SIMILARITY_H
#define TDC_IO_SIMILARITY_H

#include <stdbool.h>
#include <stddef.h>

/* The cost is cubic at worst: longer texts are alike (1) or not (0) by their bytes. */
#define TDC_SIMILARITY_CHARACTERS 1024u

/* 0 to 1; the order of the texts matters a little, as it does in Python. `fold` takes ASCII letters
 * in either case for the same. */
double tdc_similarity(const char *a, size_t a_length, const char *b, size_t b_length, bool fold);

#endif
