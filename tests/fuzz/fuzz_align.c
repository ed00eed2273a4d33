/* Rule files: every tensor that was read has a name and entries with patterns; mistakes are told.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/align/rules/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_entries(const struct tdc_rule_entries *entries)
{
    struct tdc_captured captured;
    for (size_t i = 0; i < entries->count; i++) {
        require(entries->list[i]->match.count != 0);
        tdc_pattern_fits(entries->list[i]->match.list[0], "Module.layers.0.Linear.forward.0",
                         &captured);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdc_align_rules rules;
    struct tdc_error error = {0};
    tdc_status status = tdc_align_rules_parse((const char *)data, size, "f", &rules, &error);
    require(status == TDC_OK || (error.status == status && error.message[0] != '\0'));
    for (const struct tdc_rule_tensor *tensor = rules.tensors; tensor != NULL;
         tensor = tensor->next) {
        require(tensor->name != NULL);
        for (size_t i = 0; i < tensor->entry_count; i++)
            check_entries(&tensor->entries[i]);
    }
    tdc_align_rules_free(&rules);
    return 0;
}
