#include "bench/cases/two_networks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/base/error.h"
#include "io/file/out_file.h"

/* One call of a layer. Paths are below the layer; an empty one is the layer itself. */
struct call {
    const char *npu, *bench; /* path of a module, or name of a function */
    const char *class;       /* NULL: a function */
    int parent;              /* number of the call it is made in; -1: the encoder */
    unsigned inputs, weights, outputs;
    bool backward; /* has a backward call too, with the same number of tensors but the weights */
};

enum {
    LAYER,
    NORM,
    ATTENTION,
    QKV,
    MATMUL,
    OUT,
    ADD,
    MLP,
    MAPPING,
    GELU,
    PROJECTION,
    LAYER_CALLS
};

static const struct call layer_calls[LAYER_CALLS] = {
    [LAYER] = {"", "", "ParallelTransformerLayer", -1, 1, 0, 1, false},
    [NORM] = {"input_norm", "input_norm", "FusedRMSNorm", LAYER, 1, 1, 1, false},
    [ATTENTION] = {"attention", "self_attention", "ParallelAttention", LAYER, 1, 0, 1, false},
    [QKV] = {"attention.qkv_proj", "self_attention.query_key_value", "ColumnParallelLinear",
             ATTENTION, 1, 1, 1, true},
    [MATMUL] = {"matmul", "matmul", NULL, ATTENTION, 2, 0, 1, true},
    [OUT] = {"attention.out_proj", "self_attention.dense", "RowParallelLinear", ATTENTION, 1, 1, 1,
             true},
    [ADD] = {"add", "add", NULL, LAYER, 2, 0, 1, true},
    [MLP] = {"mlp", "mlp", "ParallelMLP", LAYER, 1, 0, 1, false},
    [MAPPING] = {"mlp.mapping", "mlp.dense_h_to_4h", "ColumnParallelLinear", MLP, 1, 1, 1, true},
    [GELU] = {"gelu", "gelu", NULL, MLP, 1, 0, 1, true},
    [PROJECTION] = {"mlp.projection", "mlp.dense_4h_to_h", "RowParallelLinear", MLP, 1, 1, 1, true},
};

static const struct call place_calls[] = {
    {"fc", "fc", "Dense", -1, 1, 1, 1, true},
    {"add", "add", NULL, -1, 2, 0, 1, true},
};

static const char layers_yaml[] = "TopLayer:\n"
                                  "  network_with_loss: module\n"
                                  "ParallelTransformerLayer:\n"
                                  "  attention: self_attention\n"
                                  "ParallelAttention:\n"
                                  "  qkv_proj: query_key_value\n"
                                  "  out_proj: dense\n"
                                  "ParallelMLP:\n"
                                  "  mapping: dense_h_to_4h\n"
                                  "  projection: dense_4h_to_h\n";

/* A side being written. */
struct writing {
    enum tdc_network_kind kind;
    bool mindspore;
    uint64_t shift; /* of the call numbers of functions */
    uint64_t rounds, records;
    const struct tdc_cancel *cancel;
    FILE *dump, *stack, *construct;
    bool dump_first, stack_first, construct_first;
};

static const char *comma(bool *first)
{
    const char *text = *first ? "\n" : ",\n";
    *first = false;
    return text;
}

/* The entry of a call: "Cell.network_with_loss.encoder.layers.3.mlp.ParallelMLP.forward.0". */
static void name_call(const struct writing *writing, const struct call *call, uint64_t round,
                      const char *state, char name[256])
{
    const char *root = writing->mindspore ? "Cell.network_with_loss" : "Module.module";
    const char *path = writing->mindspore ? call->npu : call->bench;
    if (call->class == NULL)
        snprintf(name, 256, "%s.%s.%" PRIu64 ".%s", writing->mindspore ? "Functional" : "Torch",
                 path, round + writing->shift, state);
    else if (writing->kind == TDC_NETWORK_PLACE)
        snprintf(name, 256, "%s.%s.%s.%s.%" PRIu64, root, path, call->class, state, round);
    else
        snprintf(name, 256, "%s.encoder.layers.%" PRIu64 "%s%s.%s.%s.0", root, round,
                 path[0] != '\0' ? "." : "", path, call->class, state);
}

static void name_parent(const struct writing *writing, const struct call *call, uint64_t round,
                        char name[256])
{
    if (call->parent >= 0)
        name_call(writing, &layer_calls[call->parent], round, "forward", name);
    else
        snprintf(name, 256, "%s.%s.forward.0",
                 writing->mindspore ? "Cell.network_with_loss" : "Module.module",
                 writing->kind == TDC_NETWORK_PLACE ? "Net" : "encoder.ParallelTransformer");
}

static void put_tensors(struct writing *writing, const char *list, unsigned count,
                        const struct call *call, bool last)
{
    fprintf(writing->dump, "\"%s\": [", list);
    for (unsigned i = 0; i < count; i++)
        fprintf(writing->dump,
                "%s{\"type\": \"%s\", \"dtype\": \"%s\", \"shape\": [%zu, %u], \"Max\": 1.0, "
                "\"Min\": -1.0, \"Mean\": 0.0, \"Norm\": 2.0}",
                i == 0 ? "" : ", ", writing->mindspore ? "mindspore.Tensor" : "torch.Tensor",
                writing->mindspore ? "Float32" : "torch.float32", strlen(call->bench) + 1, i + 1);
    fprintf(writing->dump, last ? "]" : "], ");
    writing->records += count;
}

static void put_call(struct writing *writing, const struct call *call, uint64_t round,
                     const char *state)
{
    char name[256], parent[256];
    name_call(writing, call, round, state, name);
    name_parent(writing, call, round, parent);
    bool forward = strcmp(state, "forward") == 0;
    fprintf(writing->dump, "%s \"%s\": {", comma(&writing->dump_first), name);
    put_tensors(writing, forward ? "input_args" : "input", call->inputs, call, false);
    put_tensors(writing, "output", call->outputs, call, !forward || call->weights == 0);
    if (forward && call->weights != 0) {
        fputs("\"parameters\": {\"weight\": {\"type\": \"Parameter\", \"dtype\": \"float32\", "
              "\"shape\": [64, 64], \"Max\": 1.0, \"Min\": -1.0, \"Mean\": 0.0, \"Norm\": 2.0}}",
              writing->dump);
        writing->records++;
    }
    fputs("}", writing->dump);
    fprintf(writing->construct, "%s \"%s\": \"%s\"", comma(&writing->construct_first), name,
            parent);
    if (call->class != NULL || !forward)
        return;
    const char *path = writing->mindspore ? call->npu : call->bench;
    fprintf(writing->stack,
            "%s \"%s\": [\n  \"File site-packages/%s/functional.py, line 5, in %s_impl, \\n return "
            "x\",\n  \"File train/model.py, line 33, in %s, \\n h\"\n ]",
            comma(&writing->stack_first), name, writing->mindspore ? "mindspore" : "torch", path,
            writing->mindspore ? "construct" : "forward");
}

/* The layer that numbers the others: its class makes layer mapping count them from 0. */
static void put_encoder(struct writing *writing)
{
    static const struct call encoder = {"", "", "ParallelTransformer", -1, 1, 0, 1, false};
    char name[256];
    name_parent(writing, &encoder, 0, name);
    fprintf(writing->dump, "%s \"%s\": {", comma(&writing->dump_first), name);
    put_tensors(writing, "input_args", 1, &encoder, false);
    put_tensors(writing, "output", 1, &encoder, true);
    fputs("}", writing->dump);
    fprintf(writing->construct, "%s \"%s\": null", comma(&writing->construct_first), name);
}

static tdc_status put_network(struct writing *writing, uint64_t least_records,
                              struct tdc_error *error)
{
    const struct call *calls = writing->kind == TDC_NETWORK_LAYERS ? layer_calls : place_calls;
    size_t count = writing->kind == TDC_NETWORK_LAYERS ? LAYER_CALLS : 2;
    put_encoder(writing);
    for (uint64_t round = 0; writing->records < least_records; round++) {
        if (round % 256 == 0 && tdc_cancel_is_set(writing->cancel))
            return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
        for (size_t i = 0; i < count; i++)
            put_call(writing, &calls[i], round, "forward");
        for (size_t i = count; i-- > 0;)
            if (calls[i].backward)
                put_call(writing, &calls[i], round, "backward");
    }
    return TDC_OK;
}

static FILE *create(const char *folder, const char *side, const char *name, char path[4352],
                    struct tdc_error *error)
{
    snprintf(path, 4352, "%s/%s%s%s", folder, side, side[0] != '\0' ? "/" : "", name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    return file;
}

static tdc_status finish(FILE *file, const char *end, const char *path, tdc_status status,
                         struct tdc_error *error)
{
    if (file == NULL)
        return status != TDC_OK ? status : error->status;
    bool ok = fputs(end, file) >= 0 && ferror(file) == 0;
    ok = fclose(file) == 0 && ok;
    if (status != TDC_OK || ok)
        return status;
    return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
}

static tdc_status make_side(struct writing *writing, const char *folder, const char *side,
                            uint64_t least_records, struct tdc_error *error)
{
    char dump[4352], stack[4352], construct[4352];
    snprintf(dump, sizeof dump, "%s/%s", folder, side);
    struct tdc_error local = {0};
    tdc_status status = tdc_make_folders(dump, error);
    if (status != TDC_OK)
        return status;
    writing->dump = create(folder, side, "dump.json", dump, &local);
    writing->stack = create(folder, side, "stack.json", stack, &local);
    writing->construct = create(folder, side, "construct.json", construct, &local);
    writing->dump_first = writing->stack_first = writing->construct_first = true;
    if (local.status == TDC_OK) {
        fprintf(writing->dump,
                "{\"task\": \"statistics\", \"level\": \"mix\", \"framework\": \"%s\", "
                "\"dump_data_dir\": null, \"data\": {",
                writing->mindspore ? "mindspore" : "pytorch");
        fputs("{", writing->stack);
        fputs("{", writing->construct);
        status = put_network(writing, least_records, &local);
    }
    status = finish(writing->dump, "\n}}\n", dump, status, &local);
    status = finish(writing->stack, "\n}\n", stack, status, &local);
    status = finish(writing->construct, "\n}\n", construct, status, &local);
    if (status != TDC_OK)
        *error = local;
    return status;
}

tdc_status tdc_two_networks_make(const char *folder, enum tdc_network_kind kind,
                                 uint64_t least_records, uint64_t *records,
                                 const struct tdc_cancel *cancel, struct tdc_error *error)
{
    static const struct {
        const char *name;
        bool mindspore;
        uint64_t shift;
    } sides[] = {{"npu", true, 0}, {"bench", false, 0}, {"shifted", true, 3}};
    char path[4352];
    struct tdc_error local = {0};
    FILE *yaml = create(folder, "", "layers.yaml", path, &local);
    tdc_status status = finish(yaml, layers_yaml, path, TDC_OK, &local);
    if (status != TDC_OK)
        *error = local;
    for (size_t i = 0; i < 3 && status == TDC_OK; i++) {
        struct writing writing = {.kind = kind,
                                  .mindspore = sides[i].mindspore,
                                  .shift = sides[i].shift,
                                  .cancel = cancel};
        status = make_side(&writing, folder, sides[i].name, least_records, error);
        *records = writing.records;
    }
    return status;
}
