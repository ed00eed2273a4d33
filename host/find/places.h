/*
 * places.h - the dumps below a path: files, rank and process folders, steps, roots.
 *
 * A collector writes <root>/step<N>/rank<N>/dump.json, or <root>/step<N>/proc<pid>/dump.json for a
 * process without a rank; dumps of MindSpore that mix graphs and single calls have a folder `graph`
 * or `pynative` around the steps. Any of these folders may be what a person names.
 */
#ifndef TDC_HOST_PLACES_H
#define TDC_HOST_PLACES_H

#include "tdcmp.h"

/* What to look for. */
struct tdc_search {
    int step;   /* < 0: all steps */
    bool debug; /* a debug.json makes a dump as well, and a list of ATB */
};

/* A folder with a dump.json or debug.json, or one file. Names are "" where the path did not say. */
struct tdc_place {
    char *path;
    char *family;     /* "graph", "pynative" */
    char *step;       /* "step0" */
    char *rank;       /* "rank0", "rank", "proc4711" */
    long step_number; /* -1: none */
    long rank_number; /* of a rank folder; -1: none */
    bool process;     /* a process folder: its number means nothing to the other side */
    bool file;        /* the path is a file */
    bool empty;       /* a rank, process or step folder that holds no json */
};

struct tdc_places {
    struct tdc_place *places; /* in the order of their numbers */
    size_t count;
};

/* TDC_ERR_NOT_FOUND when there is nothing; the places without a dump are found all the same. The
 * places are to be freed in any case. */
tdc_status tdc_places_find(const char *path, const struct tdc_search *search,
                           struct tdc_places *places, struct tdc_error *error);
/* "path: no dump in it", for one that is empty. Returns how many there are. */
size_t tdc_places_name_empty(const struct tdc_places *places, const struct tdc_search *search,
                             const struct tdc_options *options);
void tdc_places_free(struct tdc_places *places);

#endif
