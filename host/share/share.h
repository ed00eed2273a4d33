/*
 * share.h - what a run knows already, and where it keeps what it finds.
 *
 * Threads add records at any time; what is known does not change while they do.
 */
#ifndef TDC_HOST_SHARE_H
#define TDC_HOST_SHARE_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/share/known.h"

#define TDC_PART_ENDING    ".part"
#define TDC_JOURNAL_ENDING ".journal"

struct tdc_share {
    struct tdc_share_options options;
    struct tdc_part_head head;
    struct tdc_part_input *inputs;
    char *folder; /* that relative paths start from */
    char digest[17];
    char *path;      /* of this process's own part */
    uint64_t opened; /* nanoseconds of the clock that stamps files */
    double begun;    /* seconds of the clock that only goes forward */
    struct tdc_known known;
    size_t own_whole; /* bytes of the own part that are whole; 0: there is none */
    bool own_complete;

    pthread_mutex_t lock; /* of what follows */
    int fd;               /* of the own part, locked; -1: not open */
    bool given_up;        /* no part can be kept */
    struct tdc_text pending, gathered;
    double flushed;
    struct tdc_error failure; /* of a part that must be complete */

    struct tdc_share_sums sums; /* under the lock */
    struct tdc_share_work own;  /* of this process in this round; under the lock */
    double round_begun;         /* 0: none yet */
    uint64_t stage;             /* of a team: how often it has divided work */
};

/* Whether this process does all that is missing and hands it on. */
static inline bool tdc_share_delivers(const struct tdc_share *share)
{
    return share->options.kind != TDC_SHARE_PART &&
           (share->options.kind != TDC_SHARE_TEAM || share->options.index == 0);
}

/* Whether a record would be kept now; before a journal is begun it would not. */
bool tdc_share_wants(struct tdc_share *share);
/* Adds a record of what was found. A part that cannot be written is told by tdc_share_finish. */
void tdc_share_add(struct tdc_share *share, const struct tdc_part_record *record);
/* A file as it is now; all 0 when it cannot be told, or was changed while this run has lasted. */
struct tdc_file_mark tdc_share_mark(const struct tdc_share *share, const char *path);
bool tdc_marks_equal(const struct tdc_file_mark *left, const struct tdc_file_mark *right);
/* Begins a round (work.h). */
void tdc_share_round(struct tdc_share *share);
/* Adds up what this process found: pairs or calls known before, known but changed since, done. */
void tdc_share_count(struct tdc_share *share, uint64_t known, uint64_t changed, uint64_t done,
                     uint64_t bytes);
/* Seconds of kinds of work in this round, TDC_SHARE_TIMES at most. */
void tdc_share_times(struct tdc_share *share, const double *seconds, size_t count);
/* What the others have done of this round, as far as they told it. */
struct tdc_work_sums tdc_share_others(const struct tdc_share *share);
/* Of a team: what others have found becomes known to process 0. */
tdc_status tdc_share_gather(struct tdc_share *share, struct tdc_error *error);

/* ---- between the files of this folder -------------------------------------------------------- */

/* All parts of the folder that are of this command become known. */
tdc_status tdc_share_load(struct tdc_share *share, struct tdc_error *error);
/* Opens and locks the own part, made if there is none. */
tdc_status tdc_share_open_part(struct tdc_share *share, struct tdc_error *error);
/* Removes journals of this command that no process has open. */
void tdc_share_remove_journals(const struct tdc_share *share);

/* A whole file in memory, the caller's to free. */
tdc_status tdc_part_load(const char *path, unsigned char **bytes, size_t *size,
                         struct tdc_error *error);

/* The parts (or journals) in a folder by name, sorted; to be freed one by one. */
struct tdc_part_names {
    char **names;
    size_t count;
};
tdc_status tdc_part_names_list(const char *folder, struct tdc_part_names *list,
                               struct tdc_error *error);
void tdc_part_names_free(struct tdc_part_names *list);
char *tdc_part_path(const char *folder, const char *name);

#endif
