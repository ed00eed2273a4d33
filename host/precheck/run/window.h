/* window.h - a stretch of calls checked at once, by threads or by lanes. */
#ifndef TDC_PRECHECK_WINDOW_H
#define TDC_PRECHECK_WINDOW_H

#include "host/precheck/check/found.h"

/* Calls between two writes: enough to keep threads busy, few enough to lose little. */
#define TDC_WINDOW 128

struct tdc_window {
    const struct tdc_calls *calls;
    const struct tdc_precheck_options *options;
    const char *error_folder; /* where tensors of failing calls go; NULL: nowhere */
    int threads, lanes;
    int apart;     /* threads the small calls had when more could not be started, else 0 */
    int together;  /* threads OpenMP may have at once for one call; 0: not known yet */
    size_t memory; /* that all checkers may take */
    struct tdc_checker *checkers; /* one per thread or lane */
    int checker_count;
};

tdc_status tdc_window_start(struct tdc_window *window, const struct tdc_calls *calls,
                            const struct tdc_precheck_options *options, const char *error_folder,
                            struct tdc_error *error);
void tdc_window_end(struct tdc_window *window);
/* The least that any part of the work had. */
int tdc_window_threads(const struct tdc_window *window);

/*
 * Checks the calls and fills found[0..count). Small calls are spread over the threads, large ones,
 * and those that need more memory than one of many may take, run one after another with all threads
 * and all memory; with lanes, call number i of the dump goes to lane i
 * modulo the number of lanes. The results are the same in each case.
 */
tdc_status tdc_window_run(struct tdc_window *window, const struct tdc_call *const *calls,
                          size_t count, struct tdc_found *found, struct tdc_error *error);

#endif
