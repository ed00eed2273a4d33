/* names.c - one name for a parameter, whichever version of Megatron wrote it. */
#include <stdio.h>
#include <string.h>

#include "host/checkpoint/checkpoint.h"

/* Every occurrence of `from` becomes `to`. */
static char *replace(struct tdc_arena *arena, const char *text, const char *from, const char *to)
{
    size_t from_length = strlen(from), to_length = strlen(to), count = 0;
    for (const char *at = strstr(text, from); at != NULL; at = strstr(at + from_length, from))
        count++;
    size_t length = strlen(text);
    char *result = tdc_arena_take(arena, length + count * to_length + 1), *end = result;
    if (result == NULL)
        return NULL;
    for (const char *at; (at = strstr(text, from)) != NULL; text = at + from_length) {
        end = mempcpy(end, text, (size_t)(at - text));
        end = mempcpy(end, to, to_length);
    }
    strcpy(end, text);
    return result;
}

char *tdc_checkpoint_name(struct tdc_arena *arena, const char *name)
{
    /* in this order: later ones see what earlier ones made */
    static const char *const pairs[][2] = {
        {"self_attention.linear_qkv.layer_norm_", "input_layernorm."},
        {"language_model.", ""},
        {"encoder", "decoder"},
        {".input_norm.", ".input_layernorm."},
        {"query_key_value", "linear_qkv"},
        {".dense.", ".linear_proj."},
        {"post_attention_norm", "pre_mlp_layernorm"},
        {"dense_h_to_4h", "linear_fc1"},
        {"dense_4h_to_h", "linear_fc2"},
        {"mlp.local_experts", "mlp.experts.local_experts"},
        {"final_norm", "final_layernorm"},
        {"word_embeddings_for_head", "output_layer"},
    };
    char *result = tdc_arena_text(arena, name, strlen(name));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && result != NULL; i++)
        if (strstr(result, pairs[i][0]) != NULL)
            result = replace(arena, result, pairs[i][0], pairs[i][1]);
    return result;
}

bool tdc_checkpoint_number(const char *name, const char *word, uint64_t *number)
{
    size_t length = strlen(word);
    for (const char *at = strstr(name, word); at != NULL; at = strstr(at + 1, word)) {
        const char *digits = at + length;
        size_t count = digits[0] == '.' ? strspn(digits + 1, "0123456789") : 0;
        if (count == 0 || count > 9 || digits[1 + count] != '.')
            continue;
        *number = 0;
        for (size_t i = 1; i <= count; i++)
            *number = *number * 10 + (uint64_t)(digits[i] - '0');
        return true;
    }
    return false;
}

char *tdc_checkpoint_renumber(struct tdc_arena *arena, const char *name, const char *word,
                              uint64_t local, uint64_t global)
{
    char from[64], to[64];
    snprintf(from, sizeof from, "%s.%llu", word, (unsigned long long)local);
    snprintf(to, sizeof to, "%s.%llu", word, (unsigned long long)global);
    return replace(arena, name, from, to);
}
