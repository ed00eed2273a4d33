#include "host/cli/share/place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/terminal/message.h"
#include "host/terminal/parse.h"

/* Processes that one command may have. */
#define MOST_PROCESSES 65536

static bool take_digits(const char **text, unsigned *number)
{
    *number = 0;
    const char *start = *text;
    for (; isdigit((unsigned char)**text) && *number <= MOST_PROCESSES; ++*text)
        *number = *number * 10 + (unsigned)(**text - '0');
    return *text != start && *number <= MOST_PROCESSES;
}

bool tdc_parse_place(const char *text, unsigned *index, unsigned *count)
{
    return take_digits(&text, index) && *text++ == '/' && take_digits(&text, count) &&
           *text == '\0' && *index < *count;
}

/* A number of the environment; false when there is none of that name. */
static bool variable(const char *name, unsigned *number)
{
    const char *text = getenv(name);
    unsigned value;
    if (text == NULL || !take_digits(&text, &value) || *text != '\0')
        return false;
    *number = value;
    return true;
}

/* Tasks of an array: 5-11:2 are four. */
static bool array_place(unsigned *index, unsigned *count)
{
    unsigned id, least = 0, step = 1;
    if (!variable("SLURM_ARRAY_TASK_ID", &id) || !variable("SLURM_ARRAY_TASK_COUNT", count))
        return false;
    variable("SLURM_ARRAY_TASK_MIN", &least);
    variable("SLURM_ARRAY_TASK_STEP", &step);
    *index = id >= least && step != 0 ? (id - least) / step : UINT32_MAX;
    return true;
}

static bool inner_place(unsigned *index, unsigned *count)
{
    static const struct {
        const char *index, *count, *condition;
    } places[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
        {"PMI_RANK", "PMI_SIZE", NULL},
        /* a batch script has a number among its tasks, too, and is none of them */
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
        {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if ((places[i].condition == NULL || getenv(places[i].condition) != NULL) &&
            variable(places[i].index, index) && variable(places[i].count, count))
            return true;
    return false;
}

bool tdc_find_place(unsigned *index, unsigned *count)
{
    const char *given = getenv("TDC_SHARD");
    if (given != NULL) {
        if (tdc_parse_place(given, index, count))
            return true;
        tdc_complain("TDC_SHARD '%s': expected I/N, I from 0 to N - 1", tdc_shown(given));
        return false;
    }
    unsigned outer = 0, outers = 1, inner = 0, inners = 1;
    bool array = array_place(&outer, &outers), process = inner_place(&inner, &inners);
    if (!array && !process) {
        tdc_complain("--shard: no number given, and neither TDC_SHARD nor Slurm, Open MPI or PMI "
                     "tells one");
        return false;
    }
    if (outer >= outers || inner >= inners || outers > MOST_PROCESSES / inners) {
        tdc_complain("--shard: what the environment says does not fit: %u of %u, %u of %u", outer,
                     outers, inner, inners);
        return false;
    }
    *index = outer * inners + inner;
    *count = outers * inners;
    return true;
}
