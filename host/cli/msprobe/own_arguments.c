#include "host/cli/msprobe/own_arguments.h"

#include "host/terminal/parse.h"

bool tdc_apply_own_arguments(const struct tdc_own_arguments *own, struct tdc_run_request *request)
{
    struct tdc_options *options = &request->options;
    if ((own->rules->given && !tdc_parse_rules(own->rules->value, &options->rules)) ||
        (own->format->given && !tdc_parse_formats(own->format->value, &request->formats)) ||
        (own->threads->given && !tdc_parse_number(own->threads->value, 1, &options->threads)) ||
        (own->device->given && !tdc_device_valid(own->device->value))) {
        tdc_complain("wrong value for --rules, --format, --threads or --device (-h lists them)");
        return false;
    }
    options->device = own->device->value;
    if (own->no_fallback->given)
        options->flags |= TDC_OPTION_NO_FALLBACK;
    return true;
}

struct tdc_mapping tdc_mapping_of(const struct tdc_argument *argument)
{
    return (struct tdc_mapping){argument->given, argument->value};
}
