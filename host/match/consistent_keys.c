/* consistent_keys.c - the names of modules of training and inference in one form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/match/consistent.h"

#define KEY_LIMIT ((size_t)1 << 24)

static bool is_part(const char *part, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(part, word, length) == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* An entry name without its last two parts, which are call number and direction. */
struct entry_parts {
    const char *name;
    size_t base;               /* length */
    const char *last, *before; /* parts */
    size_t last_length, before_length;
    const char *third; /* part from the end */
    size_t third_length;
};

static bool split_entry(const char *name, struct entry_parts *parts)
{
    const char *ends[3], *starts[3];
    const char *end = name + strlen(name);
    for (int i = 0; i < 3; i++) {
        const char *start = end;
        while (start > name && start[-1] != '.')
            start--;
        starts[i] = start;
        ends[i] = end;
        if (start == name && i < 2)
            return false;
        end = start > name ? start - 1 : name;
    }
    *parts = (struct entry_parts){.name = name,
                                  .base = (size_t)(ends[2] - name),
                                  .last = starts[0],
                                  .before = starts[1],
                                  .third = starts[2]};
    parts->last_length = (size_t)(ends[0] - starts[0]);
    parts->before_length = (size_t)(ends[1] - starts[1]);
    parts->third_length = (size_t)(ends[2] - starts[2]);
    return true;
}

/* Where the last "layers.<number>." of the text ends; NULL when there is none. */
static const char *behind_layers(const char *text, size_t length)
{
    const char *found = NULL;
    for (size_t i = 0; i + 8 < length; i++) {
        if (strncmp(text + i, "layers.", 7) != 0)
            continue;
        size_t digits = i + 7;
        while (digits < length && text[digits] >= '0' && text[digits] <= '9')
            digits++;
        if (digits > i + 7 && digits < length && text[digits] == '.')
            found = text + digits + 1;
    }
    return found;
}

/* The number behind the first "layers.", -1 without one. */
static long layer_of(const char *text, size_t length)
{
    for (size_t i = 0; i + 7 < length; i++)
        if (strncmp(text + i, "layers.", 7) == 0 && text[i + 7] >= '0' && text[i + 7] <= '9')
            return strtol(text + i + 7, NULL, 10);
    return -1;
}

/* The last occurrence of a pattern in which '?' stands for any character; NULL when there is none.
 */
static const char *last_of(const char *text, size_t length, const char *pattern)
{
    size_t size = strlen(pattern);
    for (size_t i = length >= size ? length - size + 1 : 0; i-- > 0;) {
        size_t k = 0;
        while (k < size && (pattern[k] == '?' || pattern[k] == text[i + k]))
            k++;
        if (k == size)
            return text + i;
    }
    return NULL;
}

/* What of the base names the module and its class. */
static void find_module(tdc_consistent backend, bool training, const char **text, size_t *length)
{
    const char *end = *text + *length, *cut = NULL;
    if (training && backend == TDC_CONSISTENT_FSDP) {
        cut = last_of(*text, *length, "_fsdp_wrapped_module.");
        cut = cut != NULL ? cut + strlen("_fsdp_wrapped_module.") : NULL;
    } else {
        cut = behind_layers(*text, *length);
    }
    if (cut != NULL)
        *text = cut;
    const char *prefix = NULL;
    if (training) {
        prefix = last_of(*text, (size_t)(end - *text), "module?module.");
        prefix = prefix != NULL ? prefix + strlen("module.module.") : NULL;
    } else if ((size_t)(end - *text) > strlen("Module.model.") &&
               strncmp(*text, "Module", 6) == 0 && strncmp(*text + 7, "model.", 6) == 0) {
        prefix = *text + strlen("Module.model.");
    }
    if (prefix != NULL)
        *text = prefix;
    *length = (size_t)(end - *text);
}

static const char *translated(tdc_consistent backend, const char *part, size_t length)
{
    static const char *const fsdp[][2] = {
        {"q_proj", "qkv_proj"},        {"k_proj", "qkv_proj"},      {"v_proj", "qkv_proj"},
        {"gate_proj", "gate_up_proj"}, {"up_proj", "gate_up_proj"}, {NULL, NULL}};
    static const char *const megatron[][2] = {{"word_embeddings", "embed_tokens"},
                                              {"self_attention", "self_attn"},
                                              {"linear_qkv", "qkv_proj"},
                                              {"q_layernorm", "q_norm"},
                                              {"k_layernorm", "k_norm"},
                                              {"core_attention", "attn"},
                                              {"linear_proj", "o_proj"},
                                              {"router", "gate"},
                                              {"linear_fc1", "gate_up_proj"},
                                              {"linear_fc2", "down_proj"},
                                              {NULL, NULL}};
    const char *const(*map)[2] = backend == TDC_CONSISTENT_FSDP ? fsdp : megatron;
    for (; (*map)[0] != NULL; map++)
        if (is_part(part, length, (*map)[0]))
            return (*map)[1];
    return NULL;
}

/* The key of the module: its path without the first part, translated; of an inference run beside
 * FSDP the last part of its path. */
static void add_module_key(struct tdc_text *key, tdc_consistent backend, bool training,
                           const char *text, size_t length)
{
    find_module(backend, training, &text, &length);
    const char *class = memrchr(text, '.', length);
    size_t path = class != NULL ? (size_t)(class - text) : 0;
    const char *dot = !training && backend == TDC_CONSISTENT_FSDP ? memrchr(text, '.', path)
                                                                  : memchr(text, '.', path);
    if (dot != NULL) {
        path -= (size_t)(dot + 1 - text);
        text = dot + 1;
    }
    /* a name of one part is looked up only where another has several; these are what the map holds
     */
    const char *other =
        (training || backend == TDC_CONSISTENT_MEGATRON) ? translated(backend, text, path) : NULL;
    if (other != NULL)
        tdc_text_adds(key, other);
    else
        tdc_text_add(key, text, path);
}

/* ---- one side -------------------------------------------------------------------------------- */

static bool stops(tdc_consistent backend, const struct entry_parts *parts)
{
    static const char *const fsdp[] = {"Qwen2Model", "Qwen3Model", "Qwen3MoeModel"};
    if (!is_part(parts->before, parts->before_length, "backward"))
        return false;
    if (backend == TDC_CONSISTENT_MEGATRON)
        return is_part(parts->third, parts->third_length, "GPTModel");
    for (size_t i = 0; i < 3; i++)
        if (is_part(parts->third, parts->third_length, fsdp[i]))
            return true;
    return false;
}

static bool begins(tdc_consistent backend, const struct entry_parts *parts)
{
    const char *module =
        backend == TDC_CONSISTENT_MEGATRON ? "VocabParallelEmbedding" : "Embedding";
    char part[64];
    if (!is_part(parts->before, parts->before_length, "forward") ||
        parts->third_length >= sizeof part)
        return false;
    memcpy(part, parts->third, parts->third_length);
    part[parts->third_length] = '\0';
    return strstr(module, part) != NULL;
}

/* Direction and number of the call; forward calls of a training run by their order. */
static void add_call(struct tdc_text *key, const struct entry_parts *parts, bool renumber,
                     uint32_t number)
{
    bool digits_last =
        parts->last_length != 0 && strspn(parts->last, "0123456789") >= parts->last_length;
    if (!renumber)
        tdc_text_addf(key, "%.*s.%.*s", (int)parts->before_length, parts->before,
                      (int)parts->last_length, parts->last);
    else if (digits_last)
        tdc_text_addf(key, "%.*s.%u", (int)parts->before_length, parts->before, number);
    else
        tdc_text_addf(key, "%u.%.*s", number, (int)parts->last_length, parts->last);
}

static bool is_either(const struct entry_parts *parts, const char *word)
{
    return is_part(parts->last, parts->last_length, word) ||
           is_part(parts->before, parts->before_length, word);
}

static bool key_entry(struct tdc_arena *arena, struct tdc_consistent_side *side,
                      tdc_consistent backend, const struct tdc_match_rules *rules,
                      const struct tdc_dump_entry *entry, const struct entry_parts *parts,
                      uint32_t number)
{
    struct tdc_text key;
    tdc_text_init(&key, KEY_LIMIT);
    bool ok = true;
    size_t entry_length = strlen(entry->name);
    bool gradient = is_either(parts, "parameters_grad");
    bool forward = !gradient && is_either(parts, "forward");
    bool numbered = strspn(parts->last, "0123456789") >= parts->last_length ||
                    strspn(parts->before, "0123456789") >= parts->before_length;
    for (size_t i = entry->first; i < entry->first + entry->count && ok; i++) {
        const struct tdc_record *record = &side->dump->records[i];
        if (!tdc_match_takes(rules, record))
            continue;
        tdc_text_clear(&key);
        if (gradient)
            tdc_text_adds(&key, "parameters_grad");
        else
            add_call(&key, parts, side->training && forward && numbered, number);
        tdc_text_addc(&key, '\n');
        const char *rest = record->name;
        for (const char *at; (at = strstr(rest, entry->name)) != NULL; rest = at + entry_length)
            tdc_text_add(&key, rest, (size_t)(at - rest));
        tdc_text_adds(&key, rest);
        tdc_text_addf(&key, "\n%ld\n", layer_of(entry->name, parts->base));
        add_module_key(&key, backend, side->training, entry->name, parts->base);
        side->keys[i] = key.failed ? NULL : tdc_arena_text(arena, tdc_text_get(&key), key.length);
        ok = side->keys[i] != NULL;
    }
    tdc_text_free(&key);
    return ok;
}

bool tdc_consistent_keys(struct tdc_arena *arena, struct tdc_consistent_side *side,
                         tdc_consistent backend, const struct tdc_match_rules *rules)
{
    const struct tdc_dump *dump = side->dump;
    struct tdc_name_table bases;
    tdc_names_init(&bases);
    side->keys = tdc_arena_zeroed(arena, dump->record_count + 1, sizeof *side->keys);
    uint32_t *counts = calloc(dump->entry_count + 1, sizeof *counts);
    bool ok = side->keys != NULL && counts != NULL, reading = true;
    for (size_t e = 0; e < dump->entry_count && ok; e++) {
        const struct tdc_dump_entry *entry = &dump->entries[e];
        struct entry_parts parts;
        if (!split_entry(entry->name, &parts))
            continue;
        if (side->training && stops(backend, &parts))
            reading = false;
        else if (side->training && begins(backend, &parts))
            reading = true;
        if (!reading)
            continue;
        bool fresh, gradient = is_either(&parts, "parameters_grad");
        if (gradient) /* its base has the part parameters_grad where a number follows */
            parts.base = (size_t)(parts.last - 1 - entry->name);
        uint32_t base = tdc_names_put(&bases, entry->name, parts.base, &fresh), number = 0;
        ok = base != TDC_NAME_NONE;
        if (ok && !gradient && is_either(&parts, "forward"))
            number = counts[base]++;
        ok = ok && key_entry(arena, side, backend, rules, entry, &parts, number);
    }
    free(counts);
    tdc_names_free(&bases);
    return ok;
}
