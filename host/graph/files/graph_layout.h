/*
 * graph_layout.h - where the ranks of a TorchAir dump lie, and their graph texts.
 *
 * Newer versions have a folder for each rank below the dump, worldsize8_global_rank3; the graph
 * texts of all ranks lie beside them. Older ones have one rank and no such folder.
 */
#ifndef TDC_HOST_GRAPH_LAYOUT_H
#define TDC_HOST_GRAPH_LAYOUT_H

#include "host/graph/files/folder.h"

struct tdc_graph_rank {
    long rank;                 /* -1: the older layout */
    const char *mine, *golden; /* folders */
    const char **texts;        /* graph texts of my side, in the order of the graphs' numbers */
    size_t text_count, text_room;
};

struct tdc_graph_layout {
    bool ranked; /* the newer layout */
    bool fx;     /* the golden side is FX, not GE */
    struct tdc_graph_rank *ranks;
    size_t count, room;
};

/* Is there a graph text of GE below the folder? None in what is no folder. TDC_ERR_MEMORY. */
tdc_status tdc_graph_text_exists(const char *path, bool *exists, struct tdc_error *error);
/* The same where a failure counts as no. */
bool tdc_has_graph_text(const char *path);

/* rank < 0: all that both sides have. Texts live in the arena. TDC_ERR_NOT_FOUND when a graph text,
 * a rank or ranks in common are missing, in the words of the old tools. */
tdc_status tdc_graph_layout_find(struct tdc_arena *arena, const char *mine, const char *golden,
                                 long rank, const struct tdc_options *options,
                                 struct tdc_graph_layout *layout, struct tdc_error *error);

#endif
