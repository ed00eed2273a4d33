/* check_team.h - a stretch of calls checked at once, by threads or by lanes. */
#ifndef TDC_PRECHECK_CHECK_TEAM_H
#define TDC_PRECHECK_CHECK_TEAM_H

#include "host/precheck/run/call_outcome.h"

/* Calls between two writes: enough to keep threads busy, few enough to lose little. */
#define TDC_CALLS_AT_ONCE 128

struct tdc_check_team {
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

tdc_status tdc_check_team_start(struct tdc_check_team *team, const struct tdc_calls *calls,
                                const struct tdc_precheck_options *options,
                                const char *error_folder, struct tdc_error *error);
void tdc_check_team_end(struct tdc_check_team *team);
/* The least that any part of the work had. */
int tdc_check_team_threads(const struct tdc_check_team *team);

/* Adds the seconds that the checkers spent, by tdc_precheck_work. */
void tdc_check_team_add_work(const struct tdc_check_team *team, double *work);

/* What the calling thread does first, while others have begun to check. */
struct tdc_check_behind {
    void (*write)(void *context);
    void *context;
};

/*
 * Checks the calls and fills outcomes[0..count). Small calls are spread over the threads, large
 * ones too where there are several for each thread; few large ones, and those that need more memory
 * than one of many may take, run one after another with all threads and all memory; with lanes,
 * call number i of the dump goes to lane i modulo the number of lanes. Files of large calls are
 * asked for before their turn. `behind` may be NULL. The results are the same in each case.
 */
tdc_status tdc_check_team_run(struct tdc_check_team *team, const struct tdc_call *const *calls,
                              size_t count, struct tdc_call_outcome *outcomes,
                              const struct tdc_check_behind *behind, struct tdc_error *error);

/* Elements of a call, guessed from the shapes in its records up to where it is a large one; wrong
 * guesses cost time, nothing else. Inside tdc_guard_begin. */
uint64_t tdc_call_elements(const struct tdc_call *call);

#endif
