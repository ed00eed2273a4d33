#include "host/terminal/match_options.h"

void tdc_settle_match_options(struct tdc_options *options)
{
    struct tdc_options defaults;
    tdc_options_init(&defaults, options->rules);
    options->auto_mapping = defaults.auto_mapping;
}

bool tdc_take_match_option(int option, const char *value, struct tdc_options *options)
{
    switch (option) {
    case 'f':
        options->fuzzy = true;
        return true;
    case 'm':
        options->data_mapping = value;
        return true;
    case 'l':
        options->layer_mapping = (struct tdc_mapping){true, value};
        return true;
    case TDC_OPTION_API_MAPPING:
        options->api_mapping = (struct tdc_mapping){true, value};
        return true;
    case TDC_OPTION_CELL_MAPPING:
        options->cell_mapping = (struct tdc_mapping){true, value};
        return true;
    default:
        return false;
    }
}
