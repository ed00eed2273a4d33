/* yaml_settings.h - a yaml file as a JSON tree, scalars as PyYAML takes them. */
#ifndef TDC_CONFIG_YAML_SETTINGS_H
#define TDC_CONFIG_YAML_SETTINGS_H

#include "io/text/json.h"
#include "tdcmp.h"

/* path NULL: the settings of verl that make a training repeatable. An empty file is an object. */
tdc_status tdc_yaml_settings(const char *path, struct tdc_arena *arena, struct tdc_json **settings,
                             struct tdc_error *error);

#endif
