/* ut_config.h - the part of msprobe's config.json that run_ut reads. */
#ifndef TDC_CLI_UT_CONFIG_H
#define TDC_CLI_UT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct tdc_ut_config {
    char **white_list, **black_list; /* names of APIs */
    size_t white_count, black_count;
    char *error_data_path; /* NULL: not given */
};

/* Reads the section `name`: "run_ut", or "acc_check" of 26.2. False after msprobe's message. The
 * config is to be freed in any case. */
bool tdc_ut_config_read(const char *path, const char *name, struct tdc_ut_config *config);
void tdc_ut_config_free(struct tdc_ut_config *config);

#endif
