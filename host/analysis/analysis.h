/* analysis.h - what the analyses share: messages, ranks below a folder, names of results. */
#ifndef TDC_ANALYSIS_H
#define TDC_ANALYSIS_H

#include "io/base/text.h"
#include "tdcmp.h"

/* Hands a formatted text to options->message, if there is one. */
void tdc_analysis_say(const struct tdc_options *options, tdc_message_level level,
                      const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A rank of one dump. */
struct tdc_rank_dump {
    long number;
    char *folder; /* that holds dump.json */
};

struct tdc_rank_dumps {
    struct tdc_rank_dump *ranks; /* ascending */
    size_t count;
};

/* The ranks of a step folder: `rank<N>` folders, `rank` being 0, or one process folder as rank 0; a
 * rank folder itself, or the only step of a dump root. Folders without a dump.json are named in a
 * message and left out. */
tdc_status tdc_rank_dumps_find(const char *path, const struct tdc_options *options,
                               struct tdc_rank_dumps *ranks, struct tdc_error *error);
void tdc_rank_dumps_free(struct tdc_rank_dumps *ranks);

/* folder/prefix<nanoseconds since the epoch>.json, allocated; NULL when out of memory. */
char *tdc_analysis_path(const char *folder, const char *prefix);
/* Writes a whole text under a name that nobody has; makes the folder. */
tdc_status tdc_analysis_write(const char *folder, const char *path, const struct tdc_text *text,
                              struct tdc_error *error);
/* The same under a name that is replaced. */
tdc_status tdc_analysis_replace(const char *folder, const char *path, const struct tdc_text *text,
                                struct tdc_error *error);

/* What the dumps of several ranks do not agree about, as messages. */
struct tdc_comm_result;
void tdc_analysis_say_links(const struct tdc_comm_result *result,
                            const struct tdc_options *options);

#endif
