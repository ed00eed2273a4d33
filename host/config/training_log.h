/*
 * training_log.h - the settings that a training has printed into its log, as a JSON tree.
 *
 * verl prints one Python dict over many lines, each behind a prefix, other output in between; slime
 * prints `name ....... value` between two markers.
 */
#ifndef TDC_CONFIG_TRAINING_LOG_H
#define TDC_CONFIG_TRAINING_LOG_H

#include "io/text/json.h"
#include "tdcmp.h"

/* `path` is for messages. The tree and its texts are in the arena. */
tdc_status tdc_slime_settings(const char *path, const char *log, size_t size,
                              struct tdc_arena *arena, struct tdc_json **settings,
                              struct tdc_error *error);
/* *found: how many times the log has settings; the last ones count. */
tdc_status tdc_verl_settings(const char *path, const char *log, size_t size,
                             struct tdc_arena *arena, struct tdc_json **settings, size_t *found,
                             struct tdc_error *error);

#endif
