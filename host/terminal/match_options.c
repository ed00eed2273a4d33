#include "host/terminal/match_options.h"

void tdc_settle_match_options(struct tdc_options *options)
{
    struct tdc_options defaults;
    tdc_options_init(&defaults, sizeof defaults, options->rules);
    const unsigned automatic = TDC_OPTION_AUTO_MAPPING;
    options->flags = (options->flags & ~automatic) | (defaults.flags & automatic);
}

bool tdc_take_match_option(int option, const char *value, struct tdc_options *options)
{
    switch (option) {
    case TDC_WORD_FUZZY:
        options->flags |= TDC_OPTION_FUZZY;
        return true;
    case 'm':
        options->data_mapping = value;
        return true;
    case 'l':
        options->layer_mapping = (struct tdc_mapping){true, value};
        return true;
    case TDC_WORD_API_MAPPING:
        options->api_mapping = (struct tdc_mapping){true, value};
        return true;
    case TDC_WORD_CELL_MAPPING:
        options->cell_mapping = (struct tdc_mapping){true, value};
        return true;
    default:
        return false;
    }
}
