/* table.c - making a table from a match and filling it. */
#include "host/table/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/api/options.h"
#include "host/table/changes.h"
#include "host/table/columns.h"
#include "host/table/fields.h"
#include "host/judge/user_rules/user_rules.h"
#include "host/origin/origins.h"
#include "io/base/error.h"
#include "io/table/sink.h"
#include "io/table/json_object.h"

#define MESSAGES_LIMIT ((size_t)16 << 30)
#define MESSAGE_LIMIT  ((size_t)1 << 20)
#define ROW_LIMIT      ((size_t)1 << 28)
#define COMMAND_LIMIT  ((size_t)64 << 20)
#define WORST_ROOM     ((size_t)1 << 12) /* more than its few numbers take */

tdc_status tdc_match_new(const tdc_dump *npu, const tdc_dump *bench,
                         const struct tdc_options *options, tdc_match **match,
                         struct tdc_error *error)
{
    *match = NULL;
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status != TDC_OK)
        return status;
    return tdc_match_build(npu, bench, &tdc_rules_of(whole.rules)->match, &whole, match, error);
}

const char *tdc_table_keep(struct tdc_table *table, const char *text, size_t length)
{
    if (length == 0)
        return "";
    /* most rows say what others have said: those few are found without the lock */
    _Atomic(const char *) *recent = &table->recent[length % TDC_RECENT_MESSAGES];
    const char *said = atomic_load(recent);
    if (said != NULL && strlen(said) == length && memcmp(said, text, length) == 0)
        return said;
    pthread_mutex_lock(&table->lock);
    uint32_t known = tdc_names_find(&table->messages, text, length);
    if (known == TDC_NAME_NONE) {
        const char *copy = tdc_arena_text(&table->arena, text, length);
        bool fresh;
        if (copy != NULL)
            known = tdc_names_put(&table->messages, copy, length, &fresh);
    }
    const char *kept = known == TDC_NAME_NONE ? "" : table->messages.keys[known].text;
    if (known == TDC_NAME_NONE)
        atomic_store(&table->failed, true);
    else
        atomic_store(recent, kept);
    pthread_mutex_unlock(&table->lock);
    return kept;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The names by which a row finds the one whose files it is compared with. */
static bool lender_key(const struct tdc_table *table, const struct tdc_row *row,
                       struct tdc_text *key)
{
    const struct tdc_record *npu = tdc_row_npu(table, row), *bench = tdc_row_bench(table, row);
    tdc_text_clear(key);
    tdc_text_adds(key, npu != NULL ? npu->name : "N/A");
    if (table->rules->files == TDC_FILES_OF_LAST_PAIR)
        tdc_text_adds(key, bench != NULL ? bench->name : "N/A");
    return !key->failed;
}

/* Each row is compared with the files of the last row of the same name or names. */
static bool find_sources(struct tdc_table *table)
{
    struct tdc_name_table names;
    tdc_names_init(&names);
    table->sources = malloc((table->row_count + 1) * sizeof *table->sources);
    uint32_t *last = malloc((table->row_count + 1) * sizeof *last);
    struct tdc_text key;
    struct tdc_arena arena;
    tdc_text_init(&key, ROW_LIMIT);
    tdc_arena_init(&arena, MESSAGES_LIMIT);
    bool ok = table->sources != NULL && last != NULL, fresh;
    for (size_t i = 0; ok && i < table->row_count; i++) {
        ok = lender_key(table, &table->rows[i], &key);
        const char *copy = ok ? tdc_arena_text(&arena, tdc_text_get(&key), key.length) : NULL;
        uint32_t number =
            copy != NULL ? tdc_names_put(&names, copy, key.length, &fresh) : TDC_NAME_NONE;
        ok = number != TDC_NAME_NONE;
        if (ok) {
            last[number] = (uint32_t)i;
            table->sources[i] = number;
        }
    }
    for (size_t i = 0; ok && i < table->row_count; i++)
        table->sources[i] = last[table->sources[i]];
    free(last);
    tdc_names_free(&names);
    tdc_text_free(&key);
    tdc_arena_free(&arena);
    return ok;
}

static bool await_row(void *table, size_t row)
{
    return tdc_table_await(table, row);
}

static tdc_status allocate_rows(struct tdc_table *table, struct tdc_error *error)
{
    const struct tdc_match *match = table->match;
    table->row_count = match->count;
    table->rows = calloc(match->count + 1, sizeof *table->rows);
    bool extras = table->rules->extended && table->mode == TDC_MODE_TENSOR;
    if (extras)
        table->extras = calloc(match->count + 1, sizeof *table->extras);
    if (table->rows == NULL || (extras && table->extras == NULL))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu rows", match->count);
    for (size_t i = 0; i < match->count; i++) {
        table->rows[i].npu = match->pairs[i].npu;
        table->rows[i].bench = match->pairs[i].bench;
        table->rows[i].message = "";
    }
    if (table->rules->extended) {
        struct tdc_rows rows = tdc_rows_of(table);
        table->waiter = (struct tdc_row_waiter){await_row, table};
        /* with rules of the user verdicts are theirs, and where differences begin is not asked */
        if (!tdc_calls_make(&rows, &table->calls) ||
            (table->user_rules == NULL &&
             (table->origins = tdc_origins_new(&table->calls, &table->waiter)) == NULL))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu rows", match->count);
    }
    if (table->rules->files != TDC_FILES_OF_ITS_OWN && table->mode == TDC_MODE_TENSOR &&
        !find_sources(table))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu rows", match->count);
    return TDC_OK;
}

/* Stack lines that msprobe refuses, for the entries of either side. */
static tdc_status check_stacks(const struct tdc_table *table, const struct tdc_dump *dump,
                               struct tdc_error *error)
{
    for (size_t i = 0; i < dump->entry_count; i++) {
        const char *entry = dump->entries[i].name;
        const struct tdc_stack *stack = tdc_stacks_find(table->stacks, entry);
        if (stack != NULL && stack->not_a_list)
            return tdc_fail(error, TDC_ERR_REFUSED, "stack info of %s is not a list", entry);
        if (stack != NULL && stack->special)
            return tdc_fail(error, TDC_ERR_REFUSED,
                            "stack info of %s contains special characters, please check!", entry);
    }
    return TDC_OK;
}

/* From a file, or what the NPU's dump was loaded with. */
static tdc_status load_stacks(struct tdc_table *table, const char *path, struct tdc_error *error)
{
    const struct tdc_dump *npu = table->match->npu;
    tdc_status status =
        tdc_stacks_load_bytes(path != NULL ? path : "stack.json", path != NULL ? NULL : &npu->stack,
                              &table->stacks, error);
    if (status == TDC_OK && table->rules->match.refuse_content) {
        status = check_stacks(table, table->match->npu, error);
        if (status == TDC_OK)
            status = check_stacks(table, table->match->bench, error);
    }
    return status;
}

/* What result files say of where they come from. */
static bool keep_origin(struct tdc_table *table, const struct tdc_options *options,
                        const char *stack_json)
{
    struct tdc_text words;
    char folder[PATH_MAX];
    tdc_text_init(&words, COMMAND_LIMIT);
    for (size_t i = 0; i < options->command_words; i++) {
        tdc_text_adds(&words, i == 0 ? "[" : ", ");
        tdc_json_add_string(&words, options->command[i], strlen(options->command[i]));
    }
    tdc_text_adds(&words, options->command_words != 0 ? "]" : "null");
    bool kept = !words.failed;
    if (kept)
        table->command = tdc_arena_text(&table->arena, tdc_text_get(&words), words.length);
    if (kept && getcwd(folder, sizeof folder) != NULL)
        table->folder = tdc_arena_text(&table->arena, folder, strlen(folder));
    if (kept && stack_json != NULL)
        table->stack_path = tdc_arena_text(&table->arena, stack_json, strlen(stack_json));
    kept &= table->command != NULL && (stack_json == NULL || table->stack_path != NULL);
    table->allow_unmatched = (options->flags & TDC_OPTION_ALLOW_UNMATCHED) != 0;
    tdc_text_free(&words);
    return kept;
}

tdc_status tdc_table_new(const tdc_match *match, const struct tdc_options *options,
                         const char *stack_json, tdc_table **table, struct tdc_error *error)
{
    *table = NULL;
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status != TDC_OK)
        return status;
    bool toleranced = whole.tolerance.elements || whole.tolerance.use_cosine;
    if (toleranced && (match->mode != TDC_MODE_TENSOR || !tdc_rules_of(whole.rules)->extended))
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "limits for elements and cosines need tensors and the rules sound: these "
                        "dumps have %s",
                        match->mode == TDC_MODE_TENSOR ? "tensors" : "statistics");
    struct tdc_table *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    made->match = match;
    made->tolerance = whole.tolerance;
    made->rules = tdc_rules_of(whole.rules);
    made->mode = match->mode;
    made->highlight = (whole.flags & TDC_OPTION_HIGHLIGHT) != 0;
    made->highlight_cells = made->highlight && !made->rules->extended &&
                            made->rules->highlight != NULL && match->count <= TDC_SHEET_ROWS;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->progressed, NULL);
    atomic_init(&made->wanted, SIZE_MAX);
    tdc_arena_init(&made->arena, MESSAGES_LIMIT);
    tdc_names_init(&made->messages);
    tdc_text_init(&made->cell_texts, ROW_LIMIT);
    tdc_text_init(&made->worst, MESSAGE_LIMIT);
    if (whole.tolerance_file != NULL && !made->rules->extended)
        status = tdc_fail(error, TDC_ERR_ARGUMENT, "a tolerance file is for the rules sound alone");
    else if (whole.tolerance_file != NULL)
        status = tdc_user_rules_load(whole.tolerance_file, &made->user_rules, error);
    if (status == TDC_OK)
        status = allocate_rows(made, error);
    if (status == TDC_OK && (!tdc_text_reserve(&made->worst, WORST_ROOM) ||
                             (made->rules->extended && !keep_origin(made, &whole, stack_json))))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK && (stack_json != NULL || match->npu->stack.data != NULL))
        status = load_stacks(made, stack_json, error);
    if (status != TDC_OK) {
        tdc_table_free(made);
        return status;
    }
    if (made->rules->changes && match->mode == TDC_MODE_TENSOR) {
        status = tdc_changes_find(made, &whole, error);
        if (status != TDC_OK) {
            tdc_table_free(made);
            return status;
        }
    }
    bool typed = match->mode == TDC_MODE_STATISTICS ||
                 (made->rules->columns_of_26 && match->mode == TDC_MODE_TENSOR);
    if (typed && made->rules->survey != NULL) {
        struct tdc_rows rows = tdc_rows_of(made);
        made->rules->survey(&rows, made->stat_columns);
    }
    tdc_columns_choose(made);
    *table = made;
    return TDC_OK;
}

void tdc_table_free(tdc_table *table)
{
    if (table == NULL)
        return;
    pthread_mutex_destroy(&table->lock);
    pthread_cond_destroy(&table->progressed);
    tdc_stacks_free(table->stacks);
    tdc_names_free(&table->messages);
    tdc_arena_free(&table->arena);
    tdc_text_free(&table->cell_texts);
    tdc_text_free(&table->worst);
    free(table->rows);
    free(table->sources);
    free(table->changes);
    free(table->extras);
    free(table->calls.calls);
    tdc_origins_free(table->origins);
    free(table->advice);
    free(table->truth);
    free(table->noise);
    tdc_user_rules_free(table->user_rules);
    tdc_fields_free(table->fields);
    free(table);
}

/* ---- reading --------------------------------------------------------------------------------- */

size_t tdc_table_rows(const tdc_table *table)
{
    return table->row_count;
}

size_t tdc_table_columns(const tdc_table *table)
{
    return table->column_count;
}

const char *tdc_table_column(const tdc_table *table, size_t column)
{
    return tdc_column_name(table->columns[column]);
}

tdc_mode tdc_table_mode(const tdc_table *table)
{
    return table->mode;
}

const char *tdc_table_remark(const tdc_table *table, size_t row)
{
    return table->rows[row].message;
}

tdc_row_class tdc_table_class(const tdc_table *table, size_t row)
{
    return (tdc_row_class)table->rows[row].row_class;
}

tdc_colour tdc_table_colour(const tdc_table *table, size_t row)
{
    return (tdc_colour)table->rows[row].colour;
}

tdc_severity tdc_table_severity(const tdc_table *table, size_t row)
{
    const struct tdc_row *held = &table->rows[row];
    const struct tdc_coloured_row seen = {held, tdc_row_npu(table, held),
                                          tdc_row_bench(table, held)};
    if (table->rules->extended)
        return tdc_sound_severity(&seen);
    return held->colour == TDC_COLOUR_RED      ? TDC_SEVERITY_DIFFERENT
           : held->colour == TDC_COLOUR_YELLOW ? TDC_SEVERITY_LOOK
                                               : TDC_SEVERITY_NONE;
}

const char *tdc_table_call(const tdc_table *table, size_t row)
{
    const struct tdc_row *held = &table->rows[row];
    const struct tdc_record *npu = tdc_row_npu(table, held), *bench = tdc_row_bench(table, held);
    return npu != NULL ? table->match->npu->entries[npu->entry].name
                       : table->match->bench->entries[bench->entry].name;
}

size_t tdc_sheet_row(size_t row)
{
    return row + 2;
}
