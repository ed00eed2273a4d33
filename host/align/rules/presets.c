/* presets.c - the rule files the program carries. */
#include <string.h>

#include "host/align/rules/rules.h"

/* Made from host/align/presets/NAME.yaml at build time. */
extern const char tdc_preset_llama[], tdc_preset_moe[], tdc_preset_transformer[], tdc_preset_verl[];

static const struct {
    const char *name, *text;
} presets[] = {
    {"llama", tdc_preset_llama},
    {"moe", tdc_preset_moe},
    {"transformer", tdc_preset_transformer},
    {"verl", tdc_preset_verl},
};

const char *tdc_preset_name(size_t index)
{
    return index < sizeof presets / sizeof *presets ? presets[index].name : NULL;
}

const char *tdc_preset_text(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].text;
    return NULL;
}
