/* graph_output.h - `--format vis`: the graph database beside the tables. */
#ifndef TDC_CLI_GRAPH_OUTPUT_H
#define TDC_CLI_GRAPH_OUTPUT_H

#include "host/cli/shared/command.h"

/* Room for a list of all formats. */
#define TDC_FORMATS_ROOM 128
/* Whether `vis` is in a list of formats, of which the rest is as much as there is room for. */
bool tdc_take_vis(const char *list, char rest[TDC_FORMATS_ROOM]);

/* Writes the database of the request's tasks and says its path on stdout, or on stderr where that
 * carries a table. False after a complaint. */
bool tdc_write_graph(const struct tdc_run_request *request);

#endif
