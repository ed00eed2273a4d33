/* overview.c - counts and origins of a table as members of a JSON object. */
#include "host/table/overview.h"

#include <inttypes.h>
#include <string.h>

#include "io/table/sink.h"

size_t tdc_table_origins(const tdc_table *table)
{
    return tdc_origins_count(table->origins);
}

const struct tdc_origin *tdc_table_origin(const tdc_table *table, size_t index)
{
    return tdc_origins_get(table->origins, index);
}

static void add_counts(const struct tdc_table *table, struct tdc_text *out)
{
    struct tdc_summary summary;
    tdc_table_count(table, &summary);
    tdc_text_addf(out, "\"counts\": {\"rows\": %" PRIu64, summary.rows);
    for (int i = 0; i < TDC_ROW_CLASSES; i++) {
        if (i == TDC_ROW_SAME)
            continue; /* the sound rules give levels */
        const char *name = tdc_level_text((tdc_row_class)i);
        tdc_text_addf(out, ", \"%s\": %" PRIu64, name, summary.classes[i]);
    }
    tdc_text_addf(out, ", \"origins\": %" PRIu64 ", \"entering not identical\": %" PRIu64 "}",
                  summary.origins, summary.entering);
}

static void add_number(struct tdc_text *out, const char *name, double value)
{
    tdc_text_addf(out, ", \"%s\": ", name);
    tdc_json_add_number(out, value);
}

static void add_origin(const struct tdc_table *table, size_t index, struct tdc_text *out)
{
    const struct tdc_origin *origin = tdc_table_origin(table, index);
    const struct tdc_row *row = &table->rows[origin->row];
    const struct tdc_record *npu = tdc_row_npu(table, row);
    const char *name = npu != NULL ? npu->name : tdc_row_bench(table, row)->name;
    tdc_text_addf(out, "%s\n{\"row\": %zu, \"name\": ", index != 0 ? "," : "", origin->row);
    tdc_json_add_string(out, name, strlen(name));
    tdc_text_addf(out, ", \"kind\": \"%s\", \"level\": \"%s\"", tdc_origin_text(origin->kind),
                  tdc_level_text((tdc_row_class)row->row_class));
    tdc_text_addf(out, ", \"backward\": %s, \"may be a consequence\": %s",
                  origin->backward ? "true" : "false", origin->consequence ? "true" : "false");
    add_number(out, "relative distance", origin->distance);
    add_number(out, "worst to largest", origin->worst);
    add_number(out, "inputs' relative distance", origin->input_distance);
    add_number(out, "inputs' worst to largest", origin->input_worst);
    tdc_text_addc(out, '}');
}

bool tdc_overview_json(const struct tdc_table *table, struct tdc_text *out)
{
    add_counts(table, out);
    tdc_text_adds(out, ",\n\"origins\": [");
    for (size_t i = 0; i < tdc_table_origins(table); i++)
        add_origin(table, i, out);
    tdc_text_addc(out, ']');
    return !out->failed;
}
