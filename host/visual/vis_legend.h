/* vis_legend.h - what the plugin is told about a mode: texts for columns, ranges of colours. */
#ifndef TDC_HOST_VIS_LEGEND_H
#define TDC_HOST_VIS_LEGEND_H

#include "host/visual/vis_compare.h"

/* "summary", "md5", "all", "structure". */
const char *tdc_vis_task_name(enum tdc_vis_mode mode);
/* JSON, as msprobe writes it. */
void tdc_vis_tool_tip(struct tdc_text *out, enum tdc_vis_mode mode);
void tdc_vis_colours(struct tdc_text *out, enum tdc_vis_mode mode);

#endif
