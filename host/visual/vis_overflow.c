/* vis_overflow.c - how bad NaN, infinities and leaps of the norm are in a call. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "host/visual/vis_item.h"

/* Of a norm that grows by more than this. */
#define LEAP 100.0

/* The dump's own numbers, or texts that say so. */
static bool is_abnormal_value(const struct tdc_json *value)
{
    if (value == NULL)
        return false;
    if (value->kind == TDC_JSON_FLOAT)
        return !isfinite(value->number);
    return value->kind == TDC_JSON_STRING &&
           (strcasecmp(value->text, "inf") == 0 || strcasecmp(value->text, "-inf") == 0 ||
            strcasecmp(value->text, "nan") == 0);
}

static bool is_abnormal_tensor(const struct tdc_json *value)
{
    return is_abnormal_value(tdc_json_get(value, "Max")) ||
           is_abnormal_value(tdc_json_get(value, "Min")) ||
           is_abnormal_value(tdc_json_get(value, "Mean"));
}

/* A tensor, or one in a list of any depth, which the JSON reader bounds. */
static bool is_abnormal(const struct tdc_json *value)
{
    if (value->kind != TDC_JSON_LIST)
        return is_abnormal_tensor(value);
    for (const struct tdc_json *at = value->child; at != NULL; at = at->next)
        if (is_abnormal(at))
            return true;
    return false;
}

/* Some element of a list, or some value of an object. */
static bool has_abnormal(const struct tdc_json *values, enum tdc_json_kind kind)
{
    if (values == NULL || values->kind != kind)
        return false;
    for (const struct tdc_json *at = values->child; at != NULL; at = at->next)
        if (is_abnormal(at))
            return true;
    return false;
}

/* The largest norm of tensors; false when there is none. */
static bool largest_norm(const struct tdc_json *values, double *largest)
{
    bool found = false;
    for (const struct tdc_json *at = values != NULL ? values->child : NULL; at != NULL;
         at = at->next) {
        const struct tdc_json *norm = tdc_json_get(at, "Norm");
        if (!tdc_json_is_text(tdc_json_get(at, "type"), "torch.Tensor") || norm == NULL ||
            (norm->kind != TDC_JSON_FLOAT && norm->kind != TDC_JSON_INTEGER) || isnan(norm->number))
            continue;
        if (!found || norm->number > *largest)
            *largest = norm->number;
        found = true;
    }
    return found;
}

static bool leaps(const struct tdc_json *args, const struct tdc_json *kwargs,
                  const struct tdc_json *output)
{
    double in = 0, named = 0, out = 0;
    bool has_in = largest_norm(args, &in), has_named = largest_norm(kwargs, &named);
    if (!largest_norm(output, &out) || (!has_in && !has_named))
        return false;
    if (has_named && (!has_in || named > in))
        in = named;
    return in == 0 ? out > LEAP : out / in > LEAP;
}

/* Calls that hand out memory as it is, or are about to overwrite it: what is abnormal there says
 * nothing. Each rule looks at its own side alone. */
struct excuse {
    const char *api;     /* the first two parts of the name, in small letters */
    bool output;         /* of output 0, else of input 0 */
    const char *keyword; /* or of the argument of this name; NULL: none */
};

static const struct excuse excuses[] = {
    {"torch.empty", true, NULL},
    {"torch.empty_like", true, NULL},
    {"torch.empty_strided", true, NULL},
    {"distributed.recv", false, "tensor"},
    {"distributed.all_gather", false, NULL},
    {"distributed.reduce_scatter", false, "output"},
    {"distributed._reduce_scatter_base", false, NULL},
    {"distributed.all_gather_into_tensor", false, NULL},
    {"distributed.reduce_scatter_tensor", false, NULL},
    {"tensor.masked_fill_", false, NULL},
};

static const struct excuse *find_excuse(const char *entry)
{
    const char *dot = strchr(entry, '.');
    size_t length = dot == NULL ? strlen(entry) : (size_t)(dot + 1 - entry) + strcspn(dot + 1, ".");
    for (size_t i = 0; i < sizeof excuses / sizeof *excuses; i++)
        if (strlen(excuses[i].api) == length && strncasecmp(excuses[i].api, entry, length) == 0)
            return &excuses[i];
    return NULL;
}

/* Every abnormal tensor of the places that the rule speaks about is the one it names. */
static bool is_excused(const struct excuse *excuse, const struct tdc_json *args,
                       const struct tdc_json *kwargs, const struct tdc_json *output)
{
    const struct tdc_json *list = excuse->output ? output : args;
    if (list != NULL && list->kind == TDC_JSON_LIST && list->child != NULL)
        for (const struct tdc_json *at = list->child->next; at != NULL; at = at->next)
            if (is_abnormal_tensor(at))
                return false;
    if (excuse->keyword == NULL || kwargs == NULL || kwargs->kind != TDC_JSON_OBJECT)
        return true;
    for (const struct tdc_json *at = kwargs->child; at != NULL; at = at->next)
        if (is_abnormal_tensor(at) && strcmp(at->key, excuse->keyword) != 0)
            return false;
    return true;
}

const char *tdc_vis_overflow_level(const char *entry, const struct tdc_json *value)
{
    const struct tdc_json *args = tdc_json_get(value, "input_args");
    const struct tdc_json *kwargs = tdc_json_get(value, "input_kwargs");
    const struct tdc_json *output = tdc_json_get(value, "output");
    if (args == NULL)
        args = tdc_json_get(value, "input");
    bool in = has_abnormal(args, TDC_JSON_LIST) || has_abnormal(kwargs, TDC_JSON_OBJECT);
    bool out = has_abnormal(output, TDC_JSON_LIST);
    const char *level = !in && out                    ? "critical"
                        : in && out                   ? "high"
                        : in                          ? "medium"
                        : leaps(args, kwargs, output) ? "high"
                                                      : NULL;
    const struct excuse *excuse = level != NULL ? find_excuse(entry) : NULL;
    return excuse != NULL && is_excused(excuse, args, kwargs, output) ? NULL : level;
}
