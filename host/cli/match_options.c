#include "host/cli/match_options.h"

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
