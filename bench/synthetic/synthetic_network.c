/* synthetic_network.c - one layer as a table, and how layers follow each other. */
#include "bench/synthetic/synthetic_network.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct layer_call {
    const char *api; /* of modules: with %layer in place of its number */
    unsigned inputs, outputs, weights;
    const struct tdc_network_scalar *scalars;
    const char *axis;
    const char *line; /* of the model's source */
};

static const struct tdc_network_scalar no_scalars[] = {{NULL, NULL}};
static const struct tdc_network_scalar dropout_scalars[] = {
    {"float", "0.1"}, {"bool", "true"}, {"bool", "false"}, {NULL, NULL}};
static const struct tdc_network_scalar scale_scalars[] = {{"float", "0.125"}, {NULL, NULL}};

#define SOURCE(number, function, text)                                                             \
    "File model/transformer.py, line " #number ", in " function ", \\n " text

static const struct layer_call layer[] = {
    {"Functional.layer_norm", 3, 1, 2, no_scalars, NULL,
     SOURCE(88, "forward", "a = self.attention(self.norm1(x))")},
    {"Functional.linear", 3, 1, 2, no_scalars, NULL,
     SOURCE(41, "forward", "q, k, v = self.qkv(x).split(self.width, dim=-1)")},
    {"Tensor.split", 1, 3, 0, no_scalars, "-1",
     SOURCE(41, "forward", "q, k, v = self.qkv(x).split(self.width, dim=-1)")},
    {"Torch.matmul", 2, 1, 0, no_scalars, NULL,
     SOURCE(43, "forward", "s = torch.matmul(q, k.transpose(-2, -1)) * self.scale")},
    {"Tensor.__mul__", 1, 1, 0, scale_scalars, NULL,
     SOURCE(43, "forward", "s = torch.matmul(q, k.transpose(-2, -1)) * self.scale")},
    {"Functional.softmax", 1, 1, 0, no_scalars, "-1",
     SOURCE(44, "forward", "p = self.drop(F.softmax(s, dim=-1))")},
    {"Functional.dropout", 1, 1, 0, dropout_scalars, NULL,
     SOURCE(44, "forward", "p = self.drop(F.softmax(s, dim=-1))")},
    {"Torch.matmul", 2, 1, 0, no_scalars, NULL,
     SOURCE(45, "forward", "return self.project(torch.matmul(p, v))")},
    {"Functional.linear", 3, 1, 2, no_scalars, NULL,
     SOURCE(45, "forward", "return self.project(torch.matmul(p, v))")},
    {"Module.layers.%layer.attention.SelfAttention", 1, 1, 0, no_scalars, NULL,
     SOURCE(88, "forward", "a = self.attention(self.norm1(x))")},
    {"Tensor.__add__", 2, 1, 0, no_scalars, NULL, SOURCE(89, "forward", "x = x + a")},
    {"Functional.layer_norm", 3, 1, 2, no_scalars, NULL,
     SOURCE(90, "forward", "m = self.mlp(self.norm2(x))")},
    {"Functional.linear", 3, 1, 2, no_scalars, NULL,
     SOURCE(61, "forward", "h = F.gelu(self.up(x))")},
    {"Functional.gelu", 1, 1, 0, no_scalars, NULL, SOURCE(61, "forward", "h = F.gelu(self.up(x))")},
    {"Functional.linear", 3, 1, 2, no_scalars, NULL, SOURCE(62, "forward", "return self.down(h)")},
    {"Module.layers.%layer.mlp.FeedForward", 1, 1, 0, no_scalars, NULL,
     SOURCE(90, "forward", "m = self.mlp(self.norm2(x))")},
    {"Tensor.__add__", 2, 1, 0, no_scalars, NULL, SOURCE(91, "forward", "return x + m")},
    {"Module.layers.%layer.TransformerLayer", 1, 1, 0, no_scalars, NULL,
     SOURCE(120, "forward", "x = layer(x)")},
};

#define SLOTS (sizeof layer / sizeof *layer)

static unsigned slot_tensors(size_t slot)
{
    return layer[slot].inputs + layer[slot].outputs;
}

static unsigned layer_tensors(void)
{
    unsigned sum = 0;
    for (size_t i = 0; i < SLOTS; i++)
        sum += slot_tensors(i);
    return sum;
}

/* The call that tensor number `tensor` of a layer belongs to; *first: its first tensor. */
static size_t slot_of(unsigned tensor, unsigned *first)
{
    size_t slot = 0;
    *first = 0;
    while (tensor >= *first + slot_tensors(slot))
        *first += slot_tensors(slot++);
    return slot;
}

static unsigned slot_first(size_t slot)
{
    unsigned sum = 0;
    for (size_t i = 0; i < slot; i++)
        sum += slot_tensors(i);
    return sum;
}

/* How many calls of a layer have this name, and how many of them come before the slot. */
static unsigned occurrences(size_t slot, unsigned *before)
{
    unsigned count = 0;
    *before = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        if (strcmp(layer[i].api, layer[slot].api) != 0)
            continue;
        *before += i < slot;
        count++;
    }
    return count;
}

uint64_t tdc_network_call_of(uint64_t tensors, uint64_t tensor)
{
    (void)tensors;
    unsigned first;
    return tensor / layer_tensors() * SLOTS + slot_of((unsigned)(tensor % layer_tensors()), &first);
}

uint64_t tdc_network_calls(uint64_t tensors)
{
    return tensors == 0 ? 0 : tdc_network_call_of(tensors, tensors - 1) + 1;
}

static void name_call(size_t slot, uint64_t number, char name[TDC_NETWORK_NAME])
{
    const char *api = layer[slot].api, *rest;
    int head = 0;
    for (rest = api; *rest != '\0' && *rest != '%'; rest++)
        head++;
    if (*rest == '%') {
        rest += sizeof "%layer" - 1;
        snprintf(name, TDC_NETWORK_NAME, "%.*s%" PRIu64 "%s.forward.0", head, api, number, rest);
        return;
    }
    unsigned before, count = occurrences(slot, &before);
    snprintf(name, TDC_NETWORK_NAME, "%s.%" PRIu64 ".forward", api, number * count + before);
}

static void name_remainder(struct tdc_network_call *description, unsigned left)
{
    description->outputs = 1;
    description->inputs = left - 1;
    description->weights = 0;
    description->module = false;
    description->scalars = no_scalars;
    description->axis = NULL;
    description->stack = SLOTS;
    snprintf(description->name, sizeof description->name, "Torch.%s.0.forward",
             left > 1 ? "stack" : "randn");
}

void tdc_network_call(uint64_t tensors, uint64_t call, struct tdc_network_call *description)
{
    uint64_t number = call / SLOTS;
    size_t slot = (size_t)(call % SLOTS);
    *description = (struct tdc_network_call){
        .first = number * layer_tensors() + slot_first(slot),
        .inputs = layer[slot].inputs,
        .outputs = layer[slot].outputs,
        .weights = layer[slot].weights,
        .scalars = layer[slot].scalars,
        .axis = layer[slot].axis,
        .stack = slot,
    };
    name_call(slot, number, description->name);
    description->module = description->name[0] == 'M';
    uint64_t left = tensors - description->first;
    if (left < slot_tensors(slot))
        name_remainder(description, (unsigned)left);
}

bool tdc_network_stack(size_t stack, const char *frames[TDC_NETWORK_FRAMES])
{
    if (stack > SLOTS)
        return false;
    frames[0] = stack < SLOTS ? layer[stack].line
                              : SOURCE(131, "forward", "return torch.stack(self.collected)");
    frames[1] = "File torch/nn/modules/module.py, line 1194, in _call_impl, "
                "\\n return forward_call(*input, **kwargs)";
    frames[2] = SOURCE(172, "train_step", "loss = self.model(tokens, labels)");
    frames[3] = "File train.py, line 30, in <module>, \\n main()";
    return true;
}
