/* folders.h - looking into dump folders. Internal to host/find. */
#ifndef TDC_HOST_FOLDERS_H
#define TDC_HOST_FOLDERS_H

#include <sys/stat.h>

#include "tdcmp.h"

/* Names below a folder, sorted by the number behind their prefix; an entry without number is -1. */
struct tdc_names {
    struct tdc_numbered {
        char *name;
        long number;
    } * names;
    size_t count;
    /* first entry that is not `prefix` or `prefix<number>`, NULL if there is none */
    char *stranger;
};

tdc_status tdc_folder_names(const char *folder, const char *prefix, struct tdc_names *names,
                            struct tdc_error *error);
void tdc_folder_names_free(struct tdc_names *names);

/* One of these (S_IFDIR, S_IFREG), or something that does not answer: it is taken for what it would
 * be, and reading it tells. */
bool tdc_may_be(const char *path, mode_t kind);
/* folder/name, allocated; NULL when out of memory. */
char *tdc_path_join(const char *folder, const char *name);

/* Visits each step that two mixed dumps have in common; folder is "graph/step0". *mixed tells
 * whether they have graph or pynative folders in common at all. */
typedef tdc_status (*tdc_step_visit)(void *context, const char *npu, const char *bench,
                                     const char *folder, struct tdc_error *error);
tdc_status tdc_mixed_steps(const char *npu, const char *bench, tdc_step_visit visit, void *context,
                           bool *mixed, struct tdc_error *error);

/* Hands a text to options->message if there is one. */
void tdc_find_say(const struct tdc_options *options, tdc_message_level level, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

struct tdc_tasks {
    struct tdc_task *tasks;
    size_t count;
    size_t left_out; /* dumps of one side without a counterpart; each was named in a message */
    size_t empty;    /* rank, process and step folders without a dump; likewise */
    /* of dumps of graphs or kernels, whose tasks point into them; else NULL */
    struct tdc_graph_set *graphs;
    struct tdc_kernel_set *kernels;
};

/* Appends a comparison; takes copies. stack.json is looked for beside the NPU json. */
tdc_status tdc_tasks_add(struct tdc_tasks *list, const char *npu, const char *bench,
                         const char *rank, const char *step, const char *folder,
                         struct tdc_error *error);

#endif
