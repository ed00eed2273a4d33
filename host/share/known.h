/* known.h - the records of all parts of one command, found by their keys. */
#ifndef TDC_SHARE_KNOWN_H
#define TDC_SHARE_KNOWN_H

#include "host/share/work.h"

struct tdc_known {
    struct tdc_part_record *records;
    size_t count, room;
    size_t *slots; /* open addressing: number of a record + 1, 0 is free */
    size_t mask;
    unsigned char **blocks; /* the bytes that records point into; owned */
    size_t block_count;
    struct tdc_works works; /* of all processes that told it */
};

/* Takes over the bytes (malloc), also when it fails; records are those from `at` on. */
bool tdc_known_add(struct tdc_known *known, unsigned char *bytes, size_t size, size_t at);
/* The last record that was added of that key, NULL when there is none. */
const struct tdc_part_record *tdc_known_find(const struct tdc_known *known, enum tdc_part_kind kind,
                                             const struct tdc_share_key *key);
void tdc_known_free(struct tdc_known *known);

#endif
