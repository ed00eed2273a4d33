#include "bench/cases/rank_steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/file/out_file.h"

#define GROUP 8u
/* The calls of a layer: the last but one and the last reduce. */
#define LAYER_CALLS 10u
/* All ranks reduce in every so many layers. */
#define COMMON_LAYERS 20u

static const char *const operators[LAYER_CALLS] = {
    "Functional.layer_norm",  "Functional.linear",  "Tensor.view",  "Tensor.transpose",
    "Torch.matmul",           "Functional.softmax", "Torch.matmul", "Functional.linear",
    "Distributed.all_reduce", "Tensor.__add__"};

struct making {
    const char *folder;
    unsigned ranks, calls;
    unsigned bad_rank, bad_call;
};

static bool is_bad(const struct making *making, unsigned call, bool output)
{
    unsigned reduction = making->bad_call - making->bad_call % LAYER_CALLS + LAYER_CALLS - 2;
    if (call == making->bad_call)
        return output;
    return call > making->bad_call && call <= reduction;
}

static void name_call(unsigned call, char name[128])
{
    unsigned kind = call % LAYER_CALLS, layer = call / LAYER_CALLS;
    /* operators that a layer has twice are numbered over all */
    unsigned number = kind == 4 || kind == 1   ? 2 * layer
                      : kind == 6 || kind == 7 ? 2 * layer + 1
                                               : layer;
    snprintf(name, 128, "%s.%u.forward", operators[kind], number);
}

static void put_tensor(FILE *file, unsigned seed, bool bad)
{
    double size = 1 + (double)(seed * 2654435761u % 1000) / 1000;
    fprintf(file,
            "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.bfloat16\", \"shape\": [8, 1024], ");
    if (bad)
        fputs("\"Max\": NaN, \"Min\": NaN, \"Mean\": NaN, \"Norm\": NaN, ", file);
    else
        fprintf(file, "\"Max\": %.6f, \"Min\": %.6f, \"Mean\": %.8f, \"Norm\": %.6f, ", 3 * size,
                -2.5 * size, size / 100, 90 * size);
    fputs("\"requires_grad\": true}", file);
}

static void put_group(FILE *file, const struct making *making, unsigned first)
{
    fputs("\"group\": {\"type\": \"torch.ProcessGroup\", \"group_ranks\": [", file);
    for (unsigned i = first; i < first + GROUP && i < making->ranks; i++)
        fprintf(file, "%s%u", i != first ? ", " : "", i);
    fputs("], \"group_id\": \"g\"}", file);
}

static void put_call(FILE *file, const struct making *making, unsigned call, unsigned group,
                     bool bad)
{
    char name[128];
    name_call(call, name);
    unsigned kind = call % LAYER_CALLS, layer = call / LAYER_CALLS;
    bool reduces = kind == LAYER_CALLS - 2;
    fprintf(file, "%s\n  \"%s\": {\"input_args\": [", call != 0 ? "," : "", name);
    put_tensor(file, call, bad && is_bad(making, call, false));
    if (!reduces) {
        fputs(", ", file);
        put_tensor(file, call + 7, false);
    }
    fputs("], \"input_kwargs\": {", file);
    if (reduces && layer % COMMON_LAYERS != COMMON_LAYERS - 1)
        put_group(file, making, group);
    fputs("}, \"output\": [", file);
    put_tensor(file, call + 1, bad && is_bad(making, call, true));
    fputs("]}", file);
}

static tdc_status close_file(FILE *file, const char *path, struct tdc_error *error)
{
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    return failed ? tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path) : TDC_OK;
}

static tdc_status write_dump(const struct making *making, const char *path, unsigned group,
                             bool bad, struct tdc_error *error)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    fputs("{\n \"task\": \"statistics\",\n \"level\": \"L1\",\n \"framework\": \"pytorch\",\n "
          "\"dump_data_dir\": null,\n \"data\": {",
          file);
    for (unsigned call = 0; call < making->calls; call++)
        put_call(file, making, call, group, bad);
    fputs("\n }\n}\n", file);
    return close_file(file, path, error);
}

static tdc_status write_construct(const struct making *making, const char *path,
                                  struct tdc_error *error)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    fputs("{", file);
    for (unsigned call = 0; call < making->calls; call++) {
        char name[128];
        name_call(call, name);
        fprintf(file, "%s\n \"%s\": \"Module.model.layers.%u.Layer.forward.0\"",
                call != 0 ? "," : "", name, call / LAYER_CALLS);
    }
    fputs("\n}\n", file);
    return close_file(file, path, error);
}

static tdc_status link_file(const char *from, const char *folder, const char *name,
                            struct tdc_error *error)
{
    char path[4608];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return link(from, path) == 0 ? TDC_OK : tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
}

/* The two folders of a rank, with links to its group's dump or with a dump of its own. */
static tdc_status make_rank(const struct making *making, unsigned rank, const char *dump,
                            const char *construct, struct tdc_error *error)
{
    static const char *const sides[] = {"npu", "bench"};
    tdc_status status = TDC_OK;
    for (int side = 0; side < 2 && status == TDC_OK; side++) {
        char folder[4352], path[4608];
        snprintf(folder, sizeof folder, "%s/%s/rank%u", making->folder, sides[side], rank);
        snprintf(path, sizeof path, "%s/dump.json", folder);
        status = tdc_make_folders(folder, error);
        if (status == TDC_OK && side == 0 && rank == making->bad_rank)
            status = write_dump(making, path, rank - rank % GROUP, true, error);
        else if (status == TDC_OK)
            status = link_file(dump, folder, "dump.json", error);
        if (status == TDC_OK)
            status = link_file(construct, folder, "construct.json", error);
    }
    return status;
}

tdc_status tdc_rank_steps_make(const char *folder, unsigned ranks, unsigned calls,
                               char culprit[128], uint64_t *json_bytes,
                               const struct tdc_cancel *cancel, struct tdc_error *error)
{
    /* a product in the middle, of a rank in the middle */
    const struct making making = {.folder = folder,
                                  .ranks = ranks,
                                  .calls = calls,
                                  .bad_rank = ranks / 2,
                                  .bad_call = calls / 2 - calls / 2 % LAYER_CALLS + 1};
    char construct[4352], dump[4352];
    struct stat state;
    *json_bytes = 0;
    name_call(making.bad_call, culprit);
    snprintf(construct, sizeof construct, "%s/construct.json", folder);
    tdc_status status = write_construct(&making, construct, error);
    for (unsigned rank = 0; rank < ranks && status == TDC_OK; rank++) {
        if (tdc_cancel_is_set(cancel))
            return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
        snprintf(dump, sizeof dump, "%s/group%u.json", folder, rank / GROUP);
        if (rank % GROUP == 0)
            status = write_dump(&making, dump, rank, false, error);
        if (status == TDC_OK)
            status = make_rank(&making, rank, dump, construct, error);
        if (status == TDC_OK && stat(dump, &state) == 0)
            *json_bytes += 2 * (uint64_t)state.st_size;
    }
    return status;
}
