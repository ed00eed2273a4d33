/* match_options.h - the options that say how names are matched, for the commands that match. */
#ifndef TDC_CLI_MATCH_OPTIONS_H
#define TDC_CLI_MATCH_OPTIONS_H

#include "tdcmp.h"

enum {
    TDC_WORD_FUZZY = 256,
    TDC_WORD_API_MAPPING,
    TDC_WORD_CELL_MAPPING,
    TDC_WORD_FIRST_FREE
};

#define TDC_MATCH_SHORT_OPTIONS "m:l::"

/* clang-format off */
#define TDC_MATCH_LONG_OPTIONS                                       \
    {"fuzzy", no_argument, NULL, TDC_WORD_FUZZY},                    \
    {"data-mapping", required_argument, NULL, 'm'},                  \
    {"layer-mapping", optional_argument, NULL, 'l'},                 \
    {"api-mapping", optional_argument, NULL, TDC_WORD_API_MAPPING}, \
    {"cell-mapping", optional_argument, NULL, TDC_WORD_CELL_MAPPING},

#define TDC_MATCH_OPTIONS_HELP                                                                     \
    "      --fuzzy              match calls whose numbers are shifted\n"                           \
    "  -m, --data-mapping FILE  yaml with lines `test row name: ref row name`\n"                   \
    "  -l, --layer-mapping [FILE]  match by the place in the network (stack.json, construct.json);\n" \
    "                           yaml sections `LayerType:` with lines `name: name`; auto: what\n"  \
    "                           `tdcmp match --suggest` finds\n"                                   \
    "      --api-mapping [FILE]    MindSpore API names to PyTorch names; FILE adds to the table\n" \
    "      --cell-mapping [FILE]   Cell names to Module names; FILE has lines `a.Dense: a.Linear`\n"
/* clang-format on */

/* What the rules decide where no option did, once all options are taken: names are translated
 * between frameworks by the sound rules alone. */
void tdc_settle_match_options(struct tdc_options *options);

/* True when the option was one of these. */
bool tdc_take_match_option(int option, const char *value, struct tdc_options *options);

#endif
