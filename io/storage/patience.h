/*
 * patience.h - calls of the system that may never return.
 *
 * Storage that does not answer holds the thread that asks, and no signal frees it. So a thread that
 * serves nothing else makes the call, and who wants the answer waits no longer than the patience of
 * the process. A call that is given up belongs to the thread that is held in it, with all memory it
 * uses, until it returns.
 *
 * Storage that has not answered several calls in a row, or holds many, is not asked any more until
 * one of them returns.
 */
#ifndef TDC_IO_PATIENCE_H
#define TDC_IO_PATIENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define TDC_MOST_IN_A_ROW                                                                          \
    4 /* calls of one mount given up without an answer to another: it is dead */
#define TDC_MOST_HELD    32  /* threads of the process that one mount may hold */
#define TDC_MOST_AT_ONCE 64  /* calls under way; others wait for their turn */
#define TDC_PATIENCE     300 /* seconds, unless told otherwise */

/* Storage whose calls are counted together; see mounts.h. */
struct tdc_mount {
    /* under the lock of patience.c: */
    unsigned held;     /* calls that were given up */
    unsigned in_a_row; /* and had no answer between them */
    bool any;          /* no storage in particular: it is never given up as a whole */
};

struct tdc_call {
    /* Makes the call, in another thread. Reads and writes nothing but what the call owns. */
    void (*run)(struct tdc_call *call);
    /* Frees a call whose answer nobody wants, with what it owns; any thread. */
    void (*drop)(struct tdc_call *call);
    struct tdc_mount *mount;

    /* of patience.c */
    int state;
    struct timespec began;
    pthread_cond_t answered;
    struct tdc_call *next;
};

/* How long is waited for an answer. 0: for ever, and no other thread makes the calls. */
void tdc_patience_set(double seconds);
double tdc_patience(void);

/* Hands a call over; run, drop and mount are set. Takes no memory. */
void tdc_call_begin(struct tdc_call *call);

/* Numbers beside those of errno. */
enum {
    TDC_NO_ANSWER = 1 << 20, /* in time */
    TDC_NOT_TRIED            /* too many have none */
};

/* Waits. 0: it has returned and is the caller's again. Else TDC_NO_ANSWER or TDC_NOT_TRIED: it is
 * freed, or will be, by `drop`. */
int tdc_call_end(struct tdc_call *call);
/* Begins a call that nobody waits for; where many such are held it is dropped without being made.
 */
void tdc_call_leave(struct tdc_call *call);
/* Of a call that was begun: nobody waits for it any more, and it is freed by `drop`. */
void tdc_call_forget(struct tdc_call *call);
/* Begins and ends. */
int tdc_call_make(struct tdc_call *call);

/* Calls that were given up and have not come back. */
unsigned tdc_calls_held(void);

/* The words for these numbers; NULL for any other. */
const char *tdc_patience_text(int number, char *text, size_t size);

#endif
