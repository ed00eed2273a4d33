#include "host/cli/compare/graph_output.h"

#include <stdio.h>
#include <string.h>

bool tdc_take_vis(const char *list, char rest[TDC_FORMATS_ROOM])
{
    bool found = false;
    size_t used = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        bool vis = length == 3 && strncmp(list, "vis", 3) == 0;
        found |= vis;
        if (!vis && used + length + 2 <= TDC_FORMATS_ROOM) {
            if (used != 0)
                rest[used++] = ',';
            memcpy(rest + used, list, length);
            used += length;
        }
        list += length + (list[length] == ',');
    }
    rest[used] = '\0';
    return found;
}

static void tell(void *context, tdc_message_level level, const char *text)
{
    const struct tdc_run_request *request = context;
    if (level != TDC_MESSAGE_INFO) {
        request->options.message(request->options.context, level, text);
        return;
    }
    FILE *out = request->stream != TDC_FORMAT_NONE ? stderr : stdout;
    fprintf(out, "%s%s\n", request->quiet ? "" : "graph database: ", tdc_shown(text));
}

bool tdc_write_graph(const struct tdc_run_request *request)
{
    struct tdc_options options = request->options;
    struct tdc_visual visual = {0};
    struct tdc_error error = {0};
    options.message = tell;
    options.context = (void *)request;
    options.progress = NULL;
    options.row = NULL;
    tdc_status status = tdc_visual_write(request->tasks, request->output, TDC_VISUAL_OVERFLOW,
                                         &options, &visual, sizeof visual, &error);
    if (status != TDC_OK)
        tdc_complain("graph database: %s", error.message);
    return status == TDC_OK && visual.failed == 0;
}
