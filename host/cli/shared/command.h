/*
 * command.h - the commands of the program and what they share.
 *
 * Commands use the public header alone. They return the exit code of the process: 0 all within
 * tolerance, 1 differences found, 2 could not do the work; in msprobe's form 0, 1 and 2 as msprobe
 * has them.
 */
#ifndef TDC_CLI_COMMAND_H
#define TDC_CLI_COMMAND_H

#include "host/terminal/message.h"
#include "tdcmp/share.h"

/* All of the program: the exit code of the process. */
int tdc_program(int argc, char **argv);

/* argv[0] is the name of the command. */
int tdc_command_compare(int argc, char **argv);
int tdc_command_match(int argc, char **argv);
int tdc_command_diff(int argc, char **argv);
int tdc_command_show(int argc, char **argv);
int tdc_command_devices(int argc, char **argv);
int tdc_command_precheck(int argc, char **argv);
int tdc_command_gradients(int argc, char **argv);
int tdc_command_kernels(int argc, char **argv);
int tdc_command_trace(int argc, char **argv);
int tdc_command_merge(int argc, char **argv);
int tdc_command_overflow(int argc, char **argv);
int tdc_command_inspect(int argc, char **argv);
int tdc_command_ranks(int argc, char **argv);
int tdc_command_convert(int argc, char **argv);
int tdc_command_align(int argc, char **argv);
/* `merge DIR` without a configuration: joins the parts that shards have left there. */
int tdc_merge_parts(const char *folder);
/* A command of which all is known from the parts in a folder; the words are as in argv. */
int tdc_compare_merged(int argc, char **argv, const char *folder);
int tdc_precheck_merged(int argc, char **argv, const char *folder);
int tdc_trace_merged(int argc, char **argv, const char *folder);
/* `llm compare ...`: the words of msit. */
int tdc_command_llm(int argc, char **argv);

/* `-f pytorch|mindspore COMMAND ...`; argv[0] is the program. */
int tdc_msprobe_form(int argc, char **argv);
/* `-f ... run_ut` and `multi_run_ut`; argv[0] is the first argument behind. */
int tdc_msprobe_precheck(int argc, char **argv, bool multi, bool pytorch);
/* `config_check A B`: two packed configurations or two checkpoints; and in the words of 2025. */
int tdc_command_config_check(int argc, char **argv);
int tdc_msprobe_config_check(int argc, char **argv, bool pytorch);
/* `-f pytorch api_precision_compare` */
int tdc_msprobe_precision_compare(int argc, char **argv);

/* The words of a command line, "tdcmp" in front: argc + 1 of them, in the order in which they were
 * given (parsing options changes it). The list is the caller's to free; NULL, complained about:
 * out of memory. */
const char **tdc_command_words(int argc, char **argv);

/* "tdcmp 1.0.0 (x86-64-v3 kernels)" on stdout. */
void tdc_print_version(void);

/* ---- messages and matching ------------------------------------------------------------------- */

/* Says on stderr what is wrong with a dump, or with two of them, which are named by their sides;
 * and the path that may have been meant. The paths are those the person gave. */
void tdc_complain_of_dump(const char *path, const struct tdc_error *error);
void tdc_complain_of_sides(const char *test, const char *ref, const struct tdc_error *error);

/* True for --layer-mapping=auto. */
bool tdc_mapping_is_auto(const struct tdc_options *options);
/* tdc_match_new, with what tdc_match_suggest finds applied where the options ask for it, which a
 * message tells. The match is to be freed in any case. */
tdc_status tdc_match_dumps(const tdc_dump *npu, const tdc_dump *bench,
                           const struct tdc_options *options, tdc_match **match,
                           struct tdc_error *error);

/* ---- one run over several dumps -------------------------------------------------------------- */

/* What a command has decided before the work starts. */
struct tdc_run_request {
    struct tdc_options options;
    const tdc_tasks *tasks;
    const char *output; /* folder of the results */
    unsigned formats;   /* of tdc_format, TDC_FORMATS_PAGE for one page of all; 0: no files */
    const char *file;   /* the one file of the only comparison; NULL: names made in the folder */
    tdc_format stream;  /* the only comparison goes to stdout, too; TDC_FORMAT_NONE: it does not */
    bool advice;
    bool stacks;       /* look for stack.json beside the NPU json */
    const char *stack; /* or use this one for all */
    bool quiet;
    bool verbose;         /* speed and kernels in the summary */
    int top;              /* rows that a list of the summary shows; 0: as many as fit a screen */
    bool allow_unmatched; /* rows and dumps without a partner do not count */
    /* Logical tensors by rules, over whole inputs; NULL: ordinary rows. */
    const struct tdc_align_options *align;
    unsigned only; /* rows to write: bits 1 << tdc_row_class; 0: all */
    /* A dump that cannot be compared does not stop the others (several ranks). */
    bool skip_bad;
    /* Results that cannot be written do not keep the comparison from being done: its answer is in
     * the tables, the reason in tdc_run.unwritten. */
    bool answer_anyway;
    const char *truth, *noise; /* third runs; NULL: none */
    bool tensors;              /* the sides hold tensors by name and no json (tdc_tensors_load) */
    const char *key;           /* of torch files, with that */
    tdc_share *share;          /* NULL: none */
    bool part;                 /* it is one share of several: nothing is written but its part */
};

/* One comparison of the run and its results. */
struct tdc_run_comparison {
    const struct tdc_task *task;
    tdc_dump *npu, *bench;
    tdc_match *match;
    struct tdc_run_third { /* by tdc_third: the dump of a third run, matched with the test's */
        tdc_dump *dump;
        tdc_match *match;
    } third[3];
    tdc_table *table; /* NULL: not compared */
    char *files[12];  /* written: one per format, the advice, a data mapping, series, the truth */
    size_t file_count;
    struct tdc_error error; /* why it was not compared */
};

struct tdc_run {
    struct tdc_run_comparison *comparisons;
    size_t count;
    struct tdc_error unwritten; /* why there are no files although some were asked for */
    double seconds;             /* all in all */
    char *page;                 /* the HTML file that was written; NULL: none */
};

/* Loads, matches, compares and writes. The run is to be freed in any case. */
tdc_status tdc_run_all(const struct tdc_run_request *request, struct tdc_run *run,
                       struct tdc_error *error);
void tdc_run_free(struct tdc_run *run);
/* One page of all comparisons: OUTPUT/compare_report_STAMP.html. */
tdc_status tdc_run_write_page(const struct tdc_run_request *request, struct tdc_run *run,
                              const char *time_stamp, struct tdc_error *error);

/* The third runs of a request, before a comparison of its task is done; freed with the run. */
tdc_status tdc_run_take_third(const struct tdc_run_request *request,
                              struct tdc_run_comparison *comparison, struct tdc_error *error);
void tdc_run_third_free(struct tdc_run_comparison *comparison);
/* How many records are in no rule for logical tensors, a line a side. */
void tdc_print_rest(const struct tdc_run *run);
/* What they, series and a tolerance file have said, on stdout. */
void tdc_print_third(const struct tdc_run_request *request, const struct tdc_run *run);

/* What a run says on the whole: its first line, its counts and its exit code come from here. */
struct tdc_run_answer {
    struct tdc_summary total; /* over all comparisons */
    tdc_answer answer;
    size_t compared;     /* comparisons that were done */
    size_t failed;       /* those that were not, and dumps without data */
    size_t without_data; /* done, and nothing could be compared */
    size_t left_out;     /* dumps without a counterpart, unless they are allowed */
    int code;            /* TDC_EXIT_... */
};
void tdc_run_judge(const struct tdc_run_request *request, const struct tdc_run *run,
                   struct tdc_run_answer *answer);

/* The answer to a person or a script: the page, or the paths of the results, and what could not be
 * done. Gives the exit code. */
int tdc_run_show(const struct tdc_run_request *request, const struct tdc_run *run);
/* A mistake in a file of rules, on stderr. False: the error is another one. */
bool tdc_run_tell_mistake(const struct tdc_run_request *request, const struct tdc_error *error);

/* The page on stdout. False when out of memory, which is complained about. */
bool tdc_print_page(const struct tdc_run_request *request, const struct tdc_run *run);

#endif
