/*
 * ahead.h - files of remote storage that are opened, and read if they are small, before they are
 * wanted.
 *
 * A server takes its time for each answer, and no longer for many at once: of thousands of small
 * files each would be waited for several times. Who will open some begins with all of them.
 */
#ifndef TDC_IO_AHEAD_H
#define TDC_IO_AHEAD_H

#include "io/storage/storage_calls.h"

#define TDC_MOST_AHEAD  256                 /* files of the process */
#define TDC_AHEAD_BYTES ((size_t)256 << 10) /* of a file that is read, too */

/* Begins with a file. Where it is local, or many are begun, nothing is done: taking it says so.
 * `owner` is whoever ends it. */
void tdc_ahead_begin(const void *owner, const char *path);

struct tdc_ahead {
    struct tdc_opened opened;
    char *bytes; /* all of a small regular file, to be freed; NULL: to be read */
};

/* Waits for a file that was begun, and is the caller's then. 0, or no answer; -1 when there is
 * none, or opening it failed: it is to be opened as ever. */
int tdc_ahead_take(const char *path, struct tdc_ahead *ahead);
/* Lets go of what was begun and not taken. */
void tdc_ahead_end(const void *owner);

#endif
