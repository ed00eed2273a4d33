/*
 * config_check.h - two packed configurations compared item by item.
 *
 * A pack is a zip archive: env (JSON), pip (lines), hyperparameters/, weights/, dataset/, random/
 * (JSON). Each item that both packs have becomes a sheet; a checker fills it.
 */
#ifndef TDC_CONFIG_CHECK_H
#define TDC_CONFIG_CHECK_H

#include "io/base/text.h"
#include "io/file/unzip.h"
#include "io/text/json.h"
#include "tdcmp.h"

#define TDC_CONFIG_COLUMNS 8u

struct tdc_config_sheet {
    const char *name;
    const char *const *columns;
    size_t column_count;
    struct tdc_cell *cells; /* rows one after the other */
    size_t rows, room;
    tdc_config_level level;
};

struct tdc_config_work {
    struct tdc_arena arena; /* texts of cells, contents of members */
    struct tdc_unzip bench, cmp;
    const struct tdc_config_options *options;
    struct tdc_error *error;
};

/* ---- sheets ---------------------------------------------------------------------------------- */

/* A new row of blank cells, NULL when out of memory (told in work->error). `level` is that of what
 * the row shows; the worst is the sheet's. */
struct tdc_cell *tdc_config_row(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                                tdc_config_level level);
struct tdc_cell tdc_config_text(const char *text);
struct tdc_cell tdc_config_number(double value);
struct tdc_cell tdc_config_truth(bool value);
/* A JSON value as a data frame shows it: null and NaN are blank, lists and objects Python's text.
 */
struct tdc_cell tdc_config_value(struct tdc_config_work *work, const struct tdc_json *value);

/* ---- values ---------------------------------------------------------------------------------- */

/* Python's ==: 1 equals 1.0 and True, NaN nothing. */
bool tdc_config_equal(const struct tdc_json *a, const struct tdc_json *b);
/* "[config checking log] ..." */
void tdc_config_say(const struct tdc_config_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
tdc_status tdc_config_memory(struct tdc_config_work *work);
/* A member as JSON; an object, or TDC_ERR_FORMAT. */
tdc_status tdc_config_json(struct tdc_config_work *work, const struct tdc_unzip *zip,
                           const char *member, struct tdc_json **value);

/* ---- checkers: fill a sheet from what both packs have ---------------------------------------- */

tdc_status tdc_config_check_env(struct tdc_config_work *work, struct tdc_config_sheet *sheet);
tdc_status tdc_config_check_pip(struct tdc_config_work *work, struct tdc_config_sheet *sheet);
tdc_status tdc_config_check_hyperparameters(struct tdc_config_work *work,
                                            struct tdc_config_sheet *sheet);
tdc_status tdc_config_check_weights(struct tdc_config_work *work, struct tdc_config_sheet *sheet);
tdc_status tdc_config_check_dataset(struct tdc_config_work *work, struct tdc_config_sheet *sheet);
tdc_status tdc_config_check_random(struct tdc_config_work *work, struct tdc_config_sheet *sheet);

#endif
