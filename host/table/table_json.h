/*
 * table_json.h - a table of the sound rules as JSON: docs/schema/tdcmp.compare-1.json says what
 * stands in it. Pieces that other results share are in docs/schema/tdcmp.common-1.json.
 *
 * All append to a text, which is marked when memory is out.
 */
#ifndef TDC_HOST_TABLE_JSON_H
#define TDC_HOST_TABLE_JSON_H

#include "host/table/table.h"
#include "io/table/json_object.h"

#define TDC_COMPARE_SCHEMA "tdcmp.compare/1"

/* What is known before the first row: schema, version, command, the two sides, rules, tolerance. */
void tdc_table_json_head(const struct tdc_table *table, struct tdc_json_object *object);
/* What is known behind the last: answer, counts, origins. */
void tdc_table_json_tail(const struct tdc_table *table, struct tdc_json_object *object);
/* A row as an object, on one line. */
void tdc_table_json_row(const struct tdc_table *table, size_t row, struct tdc_text *out);

/* ---- shared with other results ---- */

/* "schema" and "version". */
void tdc_object_schema(struct tdc_json_object *object, const char *schema);
/* A dump as a member: where it is, and what it says of itself. */
void tdc_object_side(struct tdc_json_object *object, const char *name, const struct tdc_dump *dump);
/* The limits in force as a member "tolerance": those that were given, else (NULL too) those of the
 * sound rules. */
void tdc_object_tolerance(struct tdc_json_object *object, const struct tdc_tolerance *given);
/* "forward", "backward", or null for names that do not tell. */
const char *tdc_row_direction(const struct tdc_table *table, const struct tdc_row *row);

#endif
