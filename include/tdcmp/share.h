/* share.h - one piece of work by several processes, or by one that may be ended and started again:
 * docs/cluster.md. */
#ifndef TDCMP_SHARE_H
#define TDCMP_SHARE_H

#include "tdcmp/precheck.h"
#include "tdcmp/table.h"
#include "tdcmp/trace.h"

TDC_INTERFACE_BEGIN

/*
 * What is found is kept in files, parts, in the folder of the results. A comparison or a precheck
 * that is given a share takes from them what is known, does its own share of the rest, and adds
 * what it finds. Parts of another version, other settings or inputs that have changed since are
 * refused. Not part of tdcmp.h: include tdcmp/share.h.
 */
typedef struct tdc_share tdc_share;

typedef enum {
    TDC_SHARE_NONE = 0,
    TDC_SHARE_WHOLE, /* does all that is missing; a part is a journal, which is begun when the run
                        lasts longer than `patience` and removed when it is complete */
    TDC_SHARE_PART,  /* does one share of the work and leaves a part of it */
    TDC_SHARE_MERGE, /* does nothing: all must be known */
    TDC_SHARE_TEAM   /* takes piece by piece together with others (tdc_share_team) */
} tdc_share_kind;

/* Processes that know each other: what tdcmp-mpi gives. */
struct tdc_share_team {
    void *context;
    /* The next number of a counter that all have in common: 0, 1, 2, ...; one counter per stage,
     * which all count alike. False when the others cannot be reached. */
    bool (*claim)(void *context, uint64_t stage, uint64_t *number);
    /* Waits for all; process 0 is handed what each of the others gives, in their order. */
    bool (*gather)(void *context, const void *bytes, size_t size,
                   bool (*take)(void *taker, const void *bytes, size_t size), void *taker);
    /* The sums over all processes, in process 0. */
    bool (*add)(void *context, uint64_t *numbers, size_t count);
};

struct tdc_share_options {
    size_t size; /* of this struct: set by tdc_share_options_init */
    tdc_share_kind kind;
    unsigned index, count;    /* process of so many: TDC_SHARE_PART and TDC_SHARE_TEAM */
    bool restart;             /* parts of earlier runs are removed and not looked at */
    double patience;          /* seconds before a journal is begun */
    const char *folder;       /* of the parts */
    const char *name;         /* "compare", "precheck": the beginning of their names */
    const char *settings;     /* what decides the results, in one form: equal for all processes */
    const char *const *words; /* of the command line, for tdc_parts_find */
    size_t word_count;
    const struct tdc_share_team *team;
    void *context;
    tdc_message_function message;
};

/* Everything zero but the size, kind TDC_SHARE_WHOLE and 2 seconds of patience. */
void tdc_share_options_init(struct tdc_share_options *options, size_t size);

/* What the options point to must outlive the share. */
tdc_status tdc_share_new(const struct tdc_share_options *options, tdc_share **share,
                         struct tdc_error *error);
void tdc_share_free(tdc_share *share);
/* A file that decides about the results, as it is now; NULL is none. */
tdc_status tdc_share_input(tdc_share *share, const char *path, struct tdc_error *error);
/* Reads the parts that there are. TDC_ERR_REFUSED: one of them is of something else. */
tdc_status tdc_share_start(tdc_share *share, struct tdc_error *error);
/* All is done: a part gets its end mark, a journal is removed. */
tdc_status tdc_share_finish(tdc_share *share, struct tdc_error *error);

/* Gives a table or a precheck its share before it is compared or run; NULL: none. All tables of one
 * run have the same. */
void tdc_table_share(tdc_table *table, tdc_share *share);
void tdc_precheck_share(tdc_precheck *precheck, tdc_share *share);
/* tdc_compare for a process that only does its share: the tables have no results. */
tdc_status tdc_compare_part(tdc_table *const *tables, size_t count,
                            const struct tdc_options *options, struct tdc_error *error);

/* tdc_trace_truth (tdcmp/trace.h) by several processes. One that only does its share of the
 * comparisons has no trace: *trace is NULL. Not for a team. */
tdc_status tdc_trace_shared(const tdc_tasks *tasks, const char *from, size_t top, const char *truth,
                            const struct tdc_options *options, tdc_html_report *report,
                            tdc_share *share, tdc_trace **trace, struct tdc_error *error);

/* What there was to do and who did it; whole after tdc_share_finish. */
struct tdc_share_sums {
    uint64_t units, pieces; /* pairs of dumps; what these were divided into */
    uint64_t known, done;   /* pairs of tensors, or calls: of earlier runs, by this process */
    uint64_t bytes;         /* read by this process, as the dumps state it */
    uint64_t changed;       /* known ones whose files have changed since: done again */
    const char *part;       /* the file of this process, NULL: none */
    /* Of a merge, and of process 0 of a team, `done` and `bytes` are those of all processes. */
    uint64_t processes;      /* that have told how long they took */
    double seconds, longest; /* of all of them, and of the one that took longest */
};
void tdc_share_tell(const tdc_share *share, struct tdc_share_sums *sums, size_t size);

/* ---- parts in a folder ----------------------------------------------------------------------- */

typedef struct tdc_parts tdc_parts;

/* The parts of one command. TDC_ERR_NOT_FOUND: there is none; TDC_ERR_REFUSED: they are of several
 * commands, or some are missing or not complete: the message says which. */
tdc_status tdc_parts_find(const char *folder, tdc_parts **parts, struct tdc_error *error);
void tdc_parts_free(tdc_parts *parts);
/* The words of the command and the folder in which it was given. */
size_t tdc_parts_words(const tdc_parts *parts);
const char *tdc_parts_word(const tdc_parts *parts, size_t index);
const char *tdc_parts_folder(const tdc_parts *parts);

TDC_INTERFACE_END
#endif
