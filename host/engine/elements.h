/*
 * elements.h - a pair element by element, for what one pass of the kernels cannot tell.
 *
 * One thread, some hundred million elements a second: for a second look at pairs that are worth it.
 */
#ifndef TDC_HOST_ELEMENTS_H
#define TDC_HOST_ELEMENTS_H

#include "host/engine/engine.h"

/* `count` elements of both sides from `first` on, dense and native, of the types of the plan. */
typedef void tdc_visit_block(void *context, uint64_t first, size_t count, const unsigned char *n,
                             const unsigned char *b);

/* Visits all elements in order. The visitor takes no memory and no lock: it is left at once when
 * the mapped data vanishes, which is false. */
bool tdc_pair_visit(const struct tdc_open_pair *pair, tdc_visit_block *visit, void *context);

/* Two elements that face each other. */
struct tdc_faced {
    bool equal;        /* the same value, or both NaN, or the same infinity */
    bool apart;        /* a NaN or an infinity that does not face its like */
    double difference; /* |n - b|, complex numbers by modulus; in float64, for 64-bit integers
                          rounded once */
    double size;       /* |b| */
};
struct tdc_faced tdc_face(tdc_dtype n_dtype, const unsigned char *n, tdc_dtype b_dtype,
                          const unsigned char *b);

#endif
