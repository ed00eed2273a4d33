#include "host/analysis/overflow/abnormal.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool abnormal_value(const struct tdc_json *value)
{
    if (value == NULL)
        return false;
    if (value->kind == TDC_JSON_FLOAT)
        return !isfinite(value->number);
    if (value->kind != TDC_JSON_STRING)
        return false;
    /* tables write a tab behind them, so that spreadsheets take them as texts */
    static const char *const words[] = {"nan", "inf", "-inf", "nan\t", "inf\t", "-inf\t"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value->text, words[i]) == 0)
            return true;
    return false;
}

bool tdc_abnormal_members(const struct tdc_json *members)
{
    if (members == NULL || (members->kind != TDC_JSON_LIST && members->kind != TDC_JSON_OBJECT))
        return false;
    for (const struct tdc_json *member = members->child; member != NULL; member = member->next)
        if (abnormal_value(tdc_json_get(member, "Max")) ||
            abnormal_value(tdc_json_get(member, "Min")))
            return true;
    return false;
}

struct tdc_abnormal_call tdc_abnormal_call_of(const struct tdc_json *call)
{
    struct tdc_abnormal_call found;
    found.arguments = tdc_abnormal_members(tdc_json_get(call, "input_args")) ||
                      tdc_abnormal_members(tdc_json_get(call, "input_kwargs"));
    found.input = found.arguments || tdc_abnormal_members(tdc_json_get(call, "input"));
    found.output = tdc_abnormal_members(tdc_json_get(call, "output"));
    return found;
}

bool tdc_abnormal_ignored(const char *name)
{
    return strstr(name, "Torch.empty") != NULL || strstr(name, "Torch.fill") != NULL;
}
