/* vis_mapping.c - which node a layer mapping leads to. */
#include "host/visual/vis_mapping.h"

#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"

/* What the records of two calls say that face each other. */
static void map_pairs(const struct tdc_vis_graph *npu, const struct tdc_vis_graph *bench,
                      const struct tdc_dump *npu_dump, const struct tdc_dump *bench_dump,
                      const tdc_match *match, uint32_t *mapping)
{
    for (size_t i = 0; i < tdc_match_pairs(match); i++) {
        size_t left, right;
        tdc_match_pair(match, i, &left, &right);
        if (left == TDC_NO_RECORD || right == TDC_NO_RECORD)
            continue;
        uint32_t from = tdc_vis_find(npu, npu_dump->entries[npu_dump->records[left].entry].name);
        uint32_t to =
            tdc_vis_find(bench, bench_dump->entries[bench_dump->records[right].entry].name);
        if (from != TDC_VIS_NONE && to != TDC_VIS_NONE)
            mapping[from] = to;
    }
}

tdc_status tdc_vis_map_layers(const struct tdc_vis_graph *npu, const struct tdc_vis_graph *bench,
                              const struct tdc_options *options, uint32_t *mapping,
                              struct tdc_error *error)
{
    for (uint32_t i = 0; i < npu->count; i++)
        mapping[i] = tdc_vis_find(bench, npu->nodes[i].name);
    struct tdc_options ours;
    tdc_options_init(&ours, sizeof ours, TDC_RULES_COMPAT);
    ours.framework = options->framework;
    ours.layer_mapping = options->layer_mapping;
    ours.message = options->message;
    ours.context = options->context;
    tdc_dump *npu_dump = NULL, *bench_dump = NULL;
    tdc_match *match = NULL;
    tdc_status status = tdc_dump_load(npu->path, &npu_dump, error);
    if (status == TDC_OK)
        status = tdc_dump_load(bench->path, &bench_dump, error);
    if (status == TDC_OK)
        status = tdc_match_new(npu_dump, bench_dump, &ours, &match, error);
    if (status == TDC_OK)
        map_pairs(npu, bench, npu_dump, bench_dump, match, mapping);
    tdc_match_free(match);
    tdc_dump_free(npu_dump);
    tdc_dump_free(bench_dump);
    return status;
}
