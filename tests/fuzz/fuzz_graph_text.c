/* Any text as a graph: it is read or refused, and what was read can be looked up. */
#include <stdlib.h>
#include <string.h>

#include "host/graph/graph_text.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    struct tdc_arena arena;
    struct tdc_graph graph;
    struct tdc_error error;
    tdc_arena_init(&arena, (size_t)64 << 20);
    if (tdc_graph_parse(&arena, (const char *)bytes, size, "text", &graph, &error) == TDC_OK)
        for (size_t i = 0; i < graph.count; i++) {
            const struct tdc_graph_op *op = &graph.ops[i];
            if (tdc_graph_find(&graph, op->name, strlen(op->name)) != op ||
                strpbrk(op->name, " ./\\") != NULL)
                abort();
            for (size_t k = 0; k < op->input_count; k++)
                if (op->inputs[k] == NULL)
                    abort();
            for (size_t k = 0; k < op->node_count; k++)
                if (op->nodes[k] == NULL)
                    abort();
        }
    tdc_graph_free(&graph);
    tdc_arena_free(&arena);
    return 0;
}
