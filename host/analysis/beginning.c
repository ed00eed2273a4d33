#include "host/analysis/beginning.h"

#include <stdlib.h>
#include <string.h>

#include "host/analysis/communication/comm_graph.h"

tdc_beginning *tdc_beginning_new(const struct tdc_comm_result *result)
{
    tdc_beginning *beginning = calloc(1, sizeof *beginning);
    if (beginning == NULL)
        return NULL;
    beginning->count = result->count;
    beginning->rank = result->count != 0 ? result->findings[0].rank : -1;
    if (result->count != 0)
        beginning->call = strdup(result->findings[0].name);
    if (result->count != 0 && beginning->call == NULL) {
        free(beginning);
        return NULL;
    }
    return beginning;
}

void tdc_beginning_free(tdc_beginning *beginning)
{
    if (beginning == NULL)
        return;
    free(beginning->call);
    free(beginning->file);
    free(beginning);
}

size_t tdc_beginning_count(const tdc_beginning *beginning)
{
    return beginning->count;
}

const char *tdc_beginning_call(const tdc_beginning *beginning)
{
    return beginning->call;
}

long tdc_beginning_rank(const tdc_beginning *beginning)
{
    return beginning->rank;
}

const char *tdc_beginning_file(const tdc_beginning *beginning)
{
    return beginning->file;
}
