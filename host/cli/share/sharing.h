/*
 * sharing.h - `--shard`, `--restart`, and what a command does with them.
 *
 * A command notes its options as it takes them (they become the settings that all processes must
 * agree in), then begins, adds the files that decide about its results, and starts.
 */
#ifndef TDC_CLI_SHARING_H
#define TDC_CLI_SHARING_H

#include <getopt.h>
#include <stdio.h>

#include "host/cli/shared/command.h"

struct tdc_sharing {
    bool shard;        /* one share of the work is wanted, */
    const char *value; /* "I/N"; NULL: as the environment says */
    bool restart;
    const char *merge; /* folder of parts that are joined; NULL: none */

    FILE *stream; /* into the settings, */
    char *settings;
    size_t settings_size;
    const char **words; /* of the command, without those that tell processes apart */
    size_t word_count;
    char *folder;
    tdc_share_kind kind;
    unsigned index, count;
    tdc_share *share; /* NULL: nothing is kept */
};

/* The options, for a command's list of long ones, and their numbers. */
#define TDC_SHARE_LONG_OPTIONS(shard_option, restart_option)                                       \
    {"shard", optional_argument, NULL, shard_option},                                              \
    {                                                                                              \
        "restart", no_argument, NULL, restart_option                                               \
    }

/* Takes --shard, whose value may stand behind a blank, too; false: complained about. */
bool tdc_sharing_take_shard(struct tdc_sharing *sharing, int argc, char **argv);
/* Notes an option that was taken, with optarg. False when out of memory. */
bool tdc_sharing_note(struct tdc_sharing *sharing, const struct option *options, int option);

/* Which share it is; the words are those of the command line, with argv[0] behind "tdcmp", the
 * sides what is compared. False: complained about. */
bool tdc_sharing_settle(struct tdc_sharing *sharing, const char *const *words, size_t count,
                        char *const *sides, int side_count);
/* Whether this process only does its share: there is nothing for it to write. */
bool tdc_sharing_is_part(const struct tdc_sharing *sharing);
/* Whether it is one of a team, and not the one who speaks. */
bool tdc_sharing_is_silent(void);

/* Parts lie in the folder of the results; `file`: the folder is that of this file. */
tdc_status tdc_sharing_begin(struct tdc_sharing *sharing, const char *name, const char *output,
                             const char *file, const struct tdc_options *options,
                             struct tdc_error *error);
/* After a run that went well: a part's last line, or the end of a journal; and what was done, on
 * stderr unless quiet. False: complained about. */
bool tdc_sharing_finish(struct tdc_sharing *sharing, bool quiet);
void tdc_sharing_free(struct tdc_sharing *sharing);

/* ---- a team of processes (tdcmp-mpi) --------------------------------------------------------- */

struct tdc_program_team {
    struct tdc_share_team team;
    unsigned index, count;
};
/* Set before the command is run by a program that has one; else NULL. */
extern const struct tdc_program_team *tdc_program_team;

#endif
