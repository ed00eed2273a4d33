/* graph_output.h - `--format vis`: the graph database beside the tables. */
#ifndef TDC_CLI_GRAPH_OUTPUT_H
#define TDC_CLI_GRAPH_OUTPUT_H

#include "host/cli/shared/command.h"

/* Takes `vis` out of a list of formats, which it shortens; true when it was there. */
bool tdc_take_vis(char *list);

/* Writes the database of the request's tasks and says its path on stdout, or on stderr where that
 * carries a table. False after a complaint. */
bool tdc_write_graph(const struct tdc_run_request *request);

#endif
