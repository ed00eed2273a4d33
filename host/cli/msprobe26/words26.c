#include "host/cli/msprobe26/words26.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct tdc_word26 words[] = {
    {"compare", tdc_word26_compare},
    {"merge_result", tdc_word26_merge_result},
    {"api_precision_compare", tdc_word26_precision_compare},
    {"config_check", tdc_word26_config_check},
    {"acc_check", tdc_word26_acc_check},
    {"multi_acc_check", tdc_word26_multi_acc_check},
    {"overflow_check", tdc_word26_overflow_check},
    {"graph_visualize", tdc_word26_graph_visualize},
};

/* `-tp`, `-tp=X`, or `--target_path` and whatever of its beginnings argparse would take. Its
 * shortest one, `--t`, is `--threads` of the friendly form. */
static bool is_path_option(const char *word, const char *brief, const char *full)
{
    size_t length = strcspn(word, "=");
    if (length == strlen(brief) && strncmp(word, brief, length) == 0)
        return true;
    return length > strlen("--t") && length <= strlen(full) && strncmp(word, full, length) == 0;
}

static bool says_path(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (is_path_option(argv[i], "-tp", "--target_path") ||
            is_path_option(argv[i], "-gp", "--golden_path"))
            return true;
    return false;
}

const struct tdc_word26 *tdc_word26_find(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, argv[0]) != 0)
            continue;
        bool compare = words[i].run == tdc_word26_compare;
        return compare && !says_path(argc, argv) ? NULL : &words[i];
    }
    return NULL;
}
