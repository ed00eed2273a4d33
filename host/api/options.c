/* options.c - options and outputs as a caller gives them. */
#include "host/api/options.h"

#include "io/base/error.h"
#include "io/base/sized.h"

static void set_defaults(struct tdc_options *options, tdc_rules_id rules)
{
    *options = (struct tdc_options){.size = sizeof *options, .rules = rules};
    if (rules == TDC_RULES_SOUND)
        options->flags = TDC_OPTION_HIGHLIGHT | TDC_OPTION_AUTO_MAPPING;
}

void tdc_options_init(struct tdc_options *options, size_t size, tdc_rules_id rules)
{
    struct tdc_options defaults;
    set_defaults(&defaults, rules);
    defaults.size = size;
    tdc_sized_init(options, size, &defaults, sizeof defaults);
}

tdc_status tdc_options_read(const struct tdc_options *given, struct tdc_options *whole,
                            struct tdc_error *error)
{
    bool known = given->size >= offsetof(struct tdc_options, flags);
    set_defaults(whole, known ? given->rules : TDC_RULES_NONE);
    if (known && given->rules == TDC_RULES_NONE)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the options name no rules");
    return tdc_sized_read(given, offsetof(struct tdc_options, flags), whole, sizeof *whole,
                          "tdc_options_init", error);
}

void tdc_output_init(struct tdc_output *output, size_t size, tdc_table *table, tdc_format format,
                     const char *path)
{
    struct tdc_output made = {.size = size, .table = table, .format = format, .path = path};
    tdc_sized_init(output, size, &made, sizeof made);
}

tdc_status tdc_outputs_read(const struct tdc_output *given, size_t count, struct tdc_output *all,
                            struct tdc_error *error)
{
    const unsigned char *at = (const unsigned char *)given;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < count && status == TDC_OK; i++, at += given->size) {
        all[i] = (struct tdc_output){0};
        status = tdc_sized_read(at, offsetof(struct tdc_output, path) + sizeof given->path, &all[i],
                                sizeof all[i], "tdc_output_init", error);
    }
    return status;
}
