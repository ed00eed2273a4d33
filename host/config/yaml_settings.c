#include "host/config/yaml_settings.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/base/error.h"
#include "io/text/pytext.h"
#include "io/text/yaml_map.h"

static const char repeatable[] = "trainer:\n"
                                 "  balance_batch: false\n"
                                 "critic:\n"
                                 "  shuffle: false\n"
                                 "  use_dynamic_bsz: false\n"
                                 "  model:\n"
                                 "    use_remove_padding: true\n"
                                 "data:\n"
                                 "  shuffle: false\n"
                                 "actor_rollout_ref:\n"
                                 "  actor:\n"
                                 "    shuffle: false\n"
                                 "    load_weight: true\n"
                                 "    use_dynamic_bsz: false\n"
                                 "    use_remove_padding: true\n"
                                 "    megatron:\n"
                                 "      override_transformer_config:\n"
                                 "        use_ascend_mc2: false\n"
                                 "    override_transformer_config:\n"
                                 "      calculate_per_token_loss: false\n"
                                 "  ref:\n"
                                 "    load_weight: true\n"
                                 "    log_prob_use_dynamic_bsz: false\n"
                                 "  rollout:\n"
                                 "    log_prob_use_dynamic_bsz: false\n"
                                 "  model:\n"
                                 "    use_remove_padding: true\n"
                                 "algorithm:\n"
                                 "  filter_groups:\n"
                                 "    enable: false\n"
                                 "VLLM_ASCEND_ENABLE_NZ: 0\n";

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

/* A float of yaml 1.1: a point is needed, and an exponent has a sign. 1e-5 is a text. */
static bool is_float(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    size_t whole = strspn(at, "0123456789");
    at += whole;
    if (*at != '.')
        return false;
    size_t fraction = strspn(at + 1, "0123456789");
    at += 1 + fraction;
    if (whole + fraction == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        if (at[1] != '-' && at[1] != '+')
            return false;
        size_t power = strspn(at + 2, "0123456789");
        at += 2 + power;
        return power != 0 && *at == '\0';
    }
    return *at == '\0';
}

/* Decimal numbers; one with a zero in front is octal there, and kept as a text here. */
static bool is_integer(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    return *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0' &&
           (digits[0] != '0' || digits[1] == '\0');
}

static void resolve(const char *text, struct tdc_json *value)
{
    static const char *const yes[] = {"yes",  "Yes", "YES", "true", "True",
                                      "TRUE", "on",  "On",  "ON",   NULL};
    static const char *const no[] = {"no",    "No",  "NO",  "false", "False",
                                     "FALSE", "off", "Off", "OFF",   NULL};
    value->kind = TDC_JSON_STRING;
    value->text = text;
    value->length = strlen(text);
    const char *number = text + (*text == '+');
    const char *word = number + (*number == '-');
    if (is_one_of(text, yes)) {
        value->kind = TDC_JSON_TRUE;
    } else if (is_one_of(text, no)) {
        value->kind = TDC_JSON_FALSE;
    } else if (is_integer(text) && tdc_float_parse(number, strlen(number), &value->number)) {
        value->kind = TDC_JSON_INTEGER;
        value->text = strcmp(number, "-0") == 0 ? "0" : number;
        value->length = strlen(value->text);
    } else if (is_float(text) && tdc_float_parse(number, strlen(number), &value->number)) {
        value->kind = TDC_JSON_FLOAT;
    } else if (strcasecmp(word, ".inf") == 0 || strcasecmp(text, ".nan") == 0) {
        value->kind = TDC_JSON_FLOAT;
        value->number = strcasecmp(text, ".nan") == 0 ? (double)NAN
                        : *number == '-'              ? -(double)INFINITY
                                                      : (double)INFINITY;
    }
}

/* Nesting is bounded by the reader. */
static struct tdc_json *convert(const struct tdc_yaml *node, struct tdc_arena *arena)
{
    struct tdc_json *value = tdc_arena_zeroed(arena, 1, sizeof *value);
    if (value == NULL)
        return NULL;
    if (node->kind == TDC_YAML_SCALAR) {
        if (node->is_null)
            value->kind = TDC_JSON_NULL;
        else if (!node->quoted)
            resolve(node->text, value);
        else
            *value = (struct tdc_json){
                .kind = TDC_JSON_STRING, .text = node->text, .length = strlen(node->text)};
        return value;
    }
    value->kind = node->kind == TDC_YAML_MAP ? TDC_JSON_OBJECT : TDC_JSON_LIST;
    struct tdc_json **end = &value->child;
    for (const struct tdc_yaml *child = node->child; child != NULL; child = child->next) {
        struct tdc_json *item = convert(child, arena);
        if (item == NULL)
            return NULL;
        item->key = node->kind == TDC_YAML_MAP ? child->key : NULL;
        item->key_length = item->key != NULL ? strlen(item->key) : 0;
        *end = item;
        end = &item->next;
        value->children++;
    }
    return value;
}

tdc_status tdc_yaml_settings(const char *path, struct tdc_arena *arena, struct tdc_json **settings,
                             struct tdc_error *error)
{
    struct tdc_yaml *root;
    tdc_status status = path != NULL ? tdc_yaml_load(path, arena, &root, error)
                                     : tdc_yaml_parse(repeatable, sizeof repeatable - 1,
                                                      "built-in settings", arena, &root, error);
    if (status != TDC_OK)
        return status;
    *settings = root != NULL ? convert(root, arena) : tdc_arena_zeroed(arena, 1, sizeof **settings);
    if (*settings == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (root == NULL)
        (*settings)->kind = TDC_JSON_OBJECT;
    return TDC_OK;
}
