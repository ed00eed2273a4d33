/* vis_mapping.h - which node a layer mapping leads to. */
#ifndef TDC_HOST_VIS_MAPPING_H
#define TDC_HOST_VIS_MAPPING_H

#include "host/visual/vis_graph.h"

/* By node of npu: the node of bench that the mapping of the options leads to, that of the same name
 * where it leads nowhere, or TDC_VIS_NONE. mapping has npu->count places. */
tdc_status tdc_vis_map_layers(const struct tdc_vis_graph *npu, const struct tdc_vis_graph *bench,
                              const struct tdc_options *options, uint32_t *mapping,
                              struct tdc_error *error);

#endif
