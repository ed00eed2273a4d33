/* report.c - a run as one page: what is told besides the rows, and the writing. */
#include "host/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/base/team.h"
#include "io/file/out_file.h"
#include "io/html/page.h"

#define ARENA_LIMIT ((size_t)1 << 30)
#define JSON_LIMIT  ((size_t)256 << 20)
/* Starts of differences that a page tells; their number is told whatever it is. */
#define MOST_ORIGINS 5000u

/* ---- making ---------------------------------------------------------------------------------- */

void tdc_html_report_options_init(struct tdc_html_report_options *options, size_t size)
{
    const struct tdc_html_report_options defaults = {.size = size, .rows = TDC_REPORT_ROWS};
    tdc_sized_init(options, size, &defaults, sizeof defaults);
}

static bool keep_text(struct tdc_html_report *report, const char **text)
{
    if (*text != NULL)
        *text = tdc_arena_text(&report->arena, *text, strlen(*text));
    return *text != NULL;
}

static struct tdc_text *text_of(struct tdc_html_report *report, size_t index)
{
    struct tdc_text *const all[] = {&report->sources,     &report->failed, &report->starts,
                                    &report->suggestions, &report->trace,  &report->prechecks};
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

tdc_status tdc_html_report_new(const struct tdc_html_report_options *options,
                               tdc_html_report **report, struct tdc_error *error)
{
    *report = NULL;
    struct tdc_html_report_options whole;
    tdc_html_report_options_init(&whole, sizeof whole);
    tdc_status status = tdc_sized_read(options, offsetof(struct tdc_html_report_options, flags),
                                       &whole, sizeof whole, "tdc_html_report_options_init", error);
    if (status != TDC_OK)
        return status;
    struct tdc_html_report *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the page");
    made->options = whole;
    made->options.rows = whole.rows != 0 ? whole.rows : TDC_REPORT_ROWS;
    tdc_arena_init(&made->arena, ARENA_LIMIT);
    tdc_names_init(&made->modules);
    tdc_html_sheet_init(&made->rows, "rows");
    tdc_html_sheet_init(&made->slots, "slots");
    for (size_t i = 0; text_of(made, i) != NULL; i++)
        tdc_text_init(text_of(made, i), JSON_LIMIT);
    pthread_mutex_init(&made->lock, NULL);
    bool fresh; /* module 0 is where modules go that are too many to be told apart */
    bool kept = tdc_names_put(&made->modules, "", 0, &fresh) == 0;
    kept &= whole.command == NULL || keep_text(made, &made->options.command);
    kept &= whole.time == NULL || keep_text(made, &made->options.time);
    if (!kept) {
        tdc_html_report_free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the page");
    }
    *report = made;
    return TDC_OK;
}

void tdc_html_report_free(tdc_html_report *report)
{
    if (report == NULL)
        return;
    tdc_html_sheet_free(&report->rows);
    tdc_html_sheet_free(&report->slots);
    tdc_html_report_forget_slots(report);
    for (size_t i = 0; text_of(report, i) != NULL; i++)
        tdc_text_free(text_of(report, i));
    tdc_names_free(&report->modules);
    tdc_arena_free(&report->arena);
    pthread_mutex_destroy(&report->lock);
    free(report->left_out);
    free(report->marks);
    free(report);
}

/* ---- tables ---------------------------------------------------------------------------------- */

void tdc_html_report_begin(struct tdc_json_object *object, struct tdc_text *list)
{
    if (list->length != 0)
        tdc_text_adds(list, ",\n");
    tdc_object_begin(object, list);
}

static void put_classes(struct tdc_json_object *object, const char *name, const uint64_t *classes)
{
    struct tdc_text *out = object->out;
    tdc_object_key(object, name);
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < TDC_ROW_CLASSES; i++)
        tdc_text_addf(out, "%s%llu", i != 0 ? ", " : "", (unsigned long long)classes[i]);
    tdc_text_addc(out, ']');
}

static void put_task(struct tdc_json_object *object, const struct tdc_task *task)
{
    tdc_object_text(object, "test", task->npu);
    tdc_object_text(object, "ref", task->bench);
    tdc_object_text(object, "step", task->step);
    tdc_object_text(object, "rank", task->rank);
    tdc_object_text(object, "folder", task->folder);
    tdc_object_truth(object, "debug", task->debug);
}

static void put_source(struct tdc_html_report *report, const struct tdc_task *task,
                       const struct tdc_table *table, const struct tdc_summary *summary,
                       const char *csv)
{
    static const char *const modes[] = {[TDC_MODE_TENSOR] = "tensor",
                                        [TDC_MODE_STATISTICS] = "statistics",
                                        [TDC_MODE_DIGEST] = "md5"};
    struct tdc_text *out = &report->sources;
    struct tdc_json_object object;
    tdc_html_report_begin(&object, out);
    put_task(&object, task);
    tdc_object_text(&object, "mode", modes[table->mode]);
    tdc_object_text(&object, "framework", tdc_dump_framework(table->match->npu));
    tdc_object_text(&object, "refFramework", tdc_dump_framework(table->match->bench));
    tdc_object_text(&object, "level", table->match->npu->level);
    tdc_object_text(&object, "refLevel", table->match->bench->level);
    tdc_object_text(&object, "csv", csv);
    tdc_object_whole(&object, "rows", summary->rows);
    tdc_object_whole(&object, "calls", summary->calls);
    tdc_object_whole(&object, "differentCalls", summary->different_calls);
    tdc_object_whole(&object, "tensors", summary->tensors);
    tdc_object_whole(&object, "noData", summary->no_data);
    tdc_object_whole(&object, "origins", summary->origins);
    put_classes(&object, "classes", summary->classes);
    tdc_object_end(&object);
}

static void put_origins(struct tdc_html_report *report, tdc_table *table, size_t source)
{
    struct tdc_text *out = &report->starts;
    for (size_t i = 0; i < tdc_table_origins(table) && report->origins < MOST_ORIGINS; i++) {
        const struct tdc_origin *origin = tdc_table_origin(table, i);
        const struct tdc_record *npu = tdc_row_npu(table, &table->rows[origin->row]);
        const struct tdc_record *bench = tdc_row_bench(table, &table->rows[origin->row]);
        report->origins++;
        struct tdc_json_object object;
        tdc_html_report_begin(&object, out);
        tdc_object_whole(&object, "source", source);
        tdc_object_whole(&object, "row", origin->row);
        tdc_object_text(&object, "name", npu != NULL ? npu->name : bench->name);
        tdc_object_text(&object, "call", tdc_table_call(table, origin->row));
        tdc_object_text(&object, "kind", tdc_origin_text(origin->kind));
        tdc_object_truth(&object, "backward", origin->backward);
        tdc_object_truth(&object, "consequence", origin->consequence);
        tdc_object_number(&object, "distance", origin->distance);
        tdc_object_number(&object, "worst", origin->worst);
        tdc_object_number(&object, "inputDistance", origin->input_distance);
        tdc_object_whole(&object, "explains", origin->explains);
        tdc_object_text(&object, "element", tdc_table_worst(table, origin->row));
        tdc_object_end(&object);
    }
}

static void add_summary(struct tdc_summary *total, const struct tdc_summary *one)
{
    total->rows += one->rows;
    total->origins += one->origins;
    total->entering += one->entering;
    total->tensors += one->tensors;
    total->no_data += one->no_data;
    total->bytes += one->bytes;
    total->seconds = one->seconds > total->seconds ? one->seconds : total->seconds;
    total->calls += one->calls;
    total->different_calls += one->different_calls;
    total->different_arguments += one->different_arguments;
    for (size_t i = 0; i < sizeof total->classes / sizeof *total->classes; i++)
        total->classes[i] += one->classes[i];
    for (size_t i = 0; i < sizeof total->coloured / sizeof *total->coloured; i++)
        total->coloured[i] += one->coloured[i];
}

tdc_status tdc_html_report_add_suggestion(tdc_html_report *report, const char *yaml,
                                          struct tdc_error *error)
{
    struct tdc_text *out = &report->suggestions;
    if (yaml[0] == '\0')
        return TDC_OK;
    if (out->length != 0)
        tdc_text_addc(out, ',');
    tdc_json_add_string(out, yaml, strlen(yaml));
    return out->failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the page") : TDC_OK;
}

tdc_status tdc_html_report_add_table(tdc_html_report *report, const struct tdc_task *task,
                                     tdc_table *table, const char *csv, struct tdc_error *error)
{
    struct tdc_summary summary;
    tdc_table_summary(table, &summary, sizeof summary);
    add_summary(&report->total, &summary);
    report->compat |= !table->rules->extended;
    put_source(report, task, table, &summary, csv);
    put_origins(report, table, report->tables);
    return tdc_html_report_take_rows(report, table, report->tables++, error);
}

tdc_status tdc_html_report_add_failure(tdc_html_report *report, const struct tdc_task *task,
                                       const char *reason, struct tdc_error *error)
{
    struct tdc_text *out = &report->failed;
    struct tdc_json_object object;
    tdc_html_report_begin(&object, out);
    put_task(&object, task);
    tdc_object_text(&object, "reason", reason);
    tdc_object_end(&object);
    report->failures++;
    return out->failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the page") : TDC_OK;
}

bool tdc_html_report_set_trace(struct tdc_html_report *report, const char *elements)
{
    tdc_text_clear(&report->trace);
    return tdc_text_adds(&report->trace, elements);
}

/* ---- prechecks ------------------------------------------------------------------------------- */

static void put_apis(struct tdc_json_object *parent, const tdc_precheck *precheck)
{
    struct tdc_text *out = parent->out;
    tdc_object_key(parent, "apis");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < tdc_precheck_apis(precheck); i++) {
        const struct tdc_precheck_api *api = tdc_precheck_api(precheck, i);
        struct tdc_json_object object;
        tdc_text_adds(out, i != 0 ? ",\n" : "");
        tdc_object_begin(&object, out);
        tdc_object_text(&object, "name", api->name);
        tdc_object_whole(&object, "calls", api->calls);
        tdc_object_whole(&object, "failing", api->failing);
        tdc_object_whole(&object, "skipped", api->skipped);
        if (api->worst_ulp >= 0)
            tdc_object_number(&object, "ulp", api->worst_ulp);
        if (api->worst_abs >= 0)
            tdc_object_number(&object, "abs", api->worst_abs);
        tdc_object_text(&object, "call", api->worst_call);
        tdc_object_text(&object, "reason", api->skip_reason);
        tdc_object_end(&object);
    }
    tdc_text_addc(out, ']');
    tdc_object_key(parent, "gaps");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < tdc_precheck_gaps(precheck); i++) {
        const struct tdc_precheck_gap *gap = tdc_precheck_gap(precheck, i);
        struct tdc_json_object object;
        tdc_text_adds(out, i != 0 ? ",\n" : "");
        tdc_object_begin(&object, out);
        tdc_object_text(&object, "reason", gap->reason);
        tdc_object_text(&object, "first", gap->first);
        tdc_object_whole(&object, "records", gap->forward + gap->backward);
        tdc_object_truth(&object, "module", gap->is_module);
        tdc_object_end(&object);
    }
    tdc_text_addc(out, ']');
}

tdc_status tdc_html_report_add_precheck(tdc_html_report *report, const char *dump,
                                        const tdc_precheck *precheck, struct tdc_error *error)
{
    struct tdc_precheck_summary summary;
    struct tdc_text *out = &report->prechecks;
    tdc_precheck_summary(precheck, &summary, sizeof summary);
    struct tdc_json_object object;
    tdc_html_report_begin(&object, out);
    tdc_object_text(&object, "dump", dump);
    tdc_object_text(&object, "csv", tdc_precheck_file(precheck, TDC_FILE_DETAILS));
    tdc_object_text(&object, "executor", summary.executor);
    tdc_object_truth(&object, "drawn", summary.drawn);
    tdc_object_whole(&object, "calls", summary.calls);
    tdc_object_whole(&object, "slots", summary.slots);
    tdc_object_whole(&object, "failedSlots", summary.failed_slots);
    tdc_object_whole(&object, "resumed", summary.resumed);
    tdc_object_whole(&object, "pass", summary.verdicts[TDC_CHECK_PASS]);
    tdc_object_whole(&object, "warning", summary.verdicts[TDC_CHECK_WARNING]);
    tdc_object_whole(&object, "error", summary.verdicts[TDC_CHECK_ERROR]);
    tdc_object_whole(&object, "skip", summary.verdicts[TDC_CHECK_SKIP]);
    tdc_object_whole(&object, "none", summary.verdicts[TDC_CHECK_NONE]);
    put_apis(&object, precheck);
    tdc_object_end(&object);
    bool room = tdc_html_report_take_slots(report, report->precheck_count++) && !out->failed;
    return room ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the page");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_list(struct tdc_json_object *object, const char *name,
                     const struct tdc_text *elements)
{
    tdc_object_key(object, name);
    tdc_text_addf(object->out, "[%s]", tdc_text_get(elements));
}

static void put_left_out(const struct tdc_html_report *report, struct tdc_json_object *parent)
{
    struct tdc_text *out = parent->out;
    tdc_object_key(parent, "leftOut");
    tdc_text_addc(out, '[');
    const char *comma = "";
    for (uint32_t i = 0; report->left_out != NULL && i < report->modules.count; i++) {
        const struct tdc_left_out *left_out = &report->left_out[i];
        uint64_t sum = 0;
        for (size_t k = 0; k < TDC_ROW_CLASSES; k++)
            sum += left_out->classes[k];
        if (sum == 0)
            continue;
        struct tdc_json_object object;
        tdc_text_adds(out, comma);
        tdc_object_begin(&object, out);
        tdc_object_text(&object, "module", report->modules.keys[i].text);
        put_classes(&object, "classes", left_out->classes);
        tdc_object_end(&object);
        comma = ",\n";
    }
    tdc_text_addc(out, ']');
}

static void put_levels(struct tdc_json_object *object)
{
    struct tdc_text *out = object->out;
    tdc_object_key(object, "levels");
    tdc_text_addc(out, '[');
    for (int i = 0; i < TDC_ROW_CLASSES; i++) {
        const char *word = i == TDC_ROW_SAME ? "same" : tdc_level_text((tdc_row_class)i);
        tdc_text_addf(out, "%s\"%s\"", i != 0 ? ", " : "", word);
    }
    tdc_text_addc(out, ']');
}

static void put_facts(const struct tdc_html_report *report, struct tdc_text *out)
{
    const struct tdc_summary *total = &report->total;
    bool allow = (report->options.flags & TDC_REPORT_ALLOW_UNMATCHED) != 0;
    struct tdc_json_object object;
    tdc_object_begin_bare(&object, out);
    tdc_object_text(&object, "version", tdc_version());
    tdc_object_text(&object, "command", report->options.command);
    tdc_object_text(&object, "time", report->options.time);
    tdc_object_text(&object, "answer",
                    report->tables != 0 ? tdc_answer_text(tdc_summary_answer(total, allow)) : NULL);
    tdc_object_whole(&object, "rows", total->rows);
    tdc_object_whole(&object, "chosen", report->seen); /* rows of the classes asked for */
    tdc_object_whole(&object, "calls", total->calls);
    tdc_object_whole(&object, "differentCalls", total->different_calls);
    tdc_object_whole(&object, "tensors", total->tensors);
    tdc_object_whole(&object, "noData", total->no_data);
    tdc_object_whole(&object, "bytes", total->bytes);
    tdc_object_number(&object, "seconds", total->seconds);
    tdc_object_whole(&object, "originCount", total->origins);
    tdc_object_whole(&object, "yellow", total->coloured[TDC_COLOUR_YELLOW]);
    tdc_object_whole(&object, "red", total->coloured[TDC_COLOUR_RED]);
    put_classes(&object, "classes", total->classes);
    put_levels(&object);
    tdc_object_truth(&object, "compat", report->compat);
    put_list(&object, "sources", &report->sources);
    put_list(&object, "failures", &report->failed);
    put_list(&object, "origins", &report->starts);
    put_list(&object, "trace", &report->trace);
    put_list(&object, "suggestions", &report->suggestions);
    put_list(&object, "prechecks", &report->prechecks);
    put_left_out(report, &object);
    tdc_object_end_bare(&object);
}

tdc_status tdc_html_report_write(tdc_html_report *report, const char *path, unsigned flags,
                                 struct tdc_error *error)
{
    struct tdc_text members;
    tdc_text_init(&members, 4 * JSON_LIMIT);
    bool room = tdc_html_report_trim(report);
    for (size_t i = 0; text_of(report, i) != NULL; i++)
        room &= !text_of(report, i)->failed;
    put_facts(report, &members);
    tdc_status status = TDC_OK;
    if (!room || members.failed)
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (status == TDC_OK && (flags & TDC_OUTPUT_MAKE_FOLDERS) != 0)
        status = tdc_make_folder_of(path, error);
    if (status == TDC_OK) {
        const struct tdc_html_sheet *sheets[] = {&report->rows, &report->slots};
        const struct tdc_html_page page = {
            .path = path,
            .exclusive = (flags & TDC_OUTPUT_EXCLUSIVE) != 0,
            .members = tdc_text_get(&members),
            .sheets = sheets,
            .sheet_count = 2,
            .threads = tdc_team_size(report->options.threads),
        };
        status = tdc_html_write(&page, error);
    }
    tdc_text_free(&members);
    return status;
}
