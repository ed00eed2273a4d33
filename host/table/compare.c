/* compare.c - filling tables: files through the engine, statistics directly, colours at the end. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/api/options.h"
#include "host/engine/device.h"
#include "host/table/aligned.h"
#include "host/judge/third.h"
#include "host/share/share_pairs.h"
#include "host/judge/user_rules/user_rules.h"
#include "host/table/fields.h"
#include "host/table/table.h"
#include "io/base/error.h"
#include "io/base/team.h"
#include "io/file/out_file.h"
#include "kernels/dtype.h"

#define MESSAGE_LIMIT ((size_t)1 << 20)

static struct tdc_case case_of(const struct tdc_table *table, size_t index)
{
    const struct tdc_row *row = &table->rows[index];
    const struct tdc_row *source =
        table->sources != NULL ? &table->rows[table->sources[index]] : row;
    const struct tdc_record *n_source = tdc_row_npu(table, source);
    const struct tdc_record *b_source = tdc_row_bench(table, source);
    return (struct tdc_case){
        .match = table->match,
        .npu = tdc_row_npu(table, row),
        .bench = tdc_row_bench(table, row),
        .n_file = n_source != NULL ? n_source->data_name : "N/A",
        .b_file = b_source != NULL ? b_source->data_name : "N/A",
        .stat_columns = table->stat_columns,
        .scene = tdc_calls_scene(&table->calls, row),
        .tolerance =
            table->tolerance.elements || table->tolerance.use_cosine ? &table->tolerance : NULL,
    };
}

static bool has_files(const struct tdc_case *row_case)
{
    return strcmp(row_case->n_file, "-1") != 0 && strcmp(row_case->b_file, "-1") != 0 &&
           strcmp(row_case->n_file, "N/A") != 0 && strcmp(row_case->b_file, "N/A") != 0;
}

/* What cannot be read needs no engine to say so. */
static const char *refusal_of(const struct tdc_case *row_case)
{
    if (row_case->npu != NULL && row_case->npu->refusal != NULL)
        return row_case->npu->refusal;
    return row_case->bench != NULL ? row_case->bench->refusal : NULL;
}

/* Under the sound rules shapes that differ in the json need no file. */
static bool needs_engine(const struct tdc_table *table, size_t index,
                         const struct tdc_case *row_case)
{
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, index);
    if (aligned != NULL)
        return aligned->settled == 0;
    if (!has_files(row_case) || refusal_of(row_case) != NULL)
        return false;
    if (!table->rules->extended)
        return true;
    return row_case->npu != NULL && row_case->bench != NULL &&
           tdc_shapes_agree(row_case->npu, row_case->bench);
}

/* A row that is different by no more than the reference differs from itself is the same. */
static void judge_noise(const struct tdc_third_row *noise, struct tdc_row *row,
                        struct tdc_text *message)
{
    if (!noise->known || row->row_class != TDC_ROW_DIFFERENT)
        return;
    if (message->length != 0)
        tdc_text_addc(message, '\n');
    tdc_text_addf(message, "%.3g times what the reference differs from itself", noise->factor);
    if (noise->factor <= TDC_NOISE_LIMIT)
        row->row_class = TDC_ROW_SAME;
}

/* The rules of the user have the last word. */
static void tolerate(struct tdc_table *table, size_t index, const struct tdc_case *row_case,
                     const struct tdc_outcome *outcome, struct tdc_text *message)
{
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, index);
    const struct tdc_side_record *first = aligned != NULL ? aligned->first[0] : NULL;
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    const struct tdc_user_row judged = {
        .name = npu != NULL ? npu->name : bench->name,
        .kind_name = first != NULL ? first->name : NULL,
        .parameter = table->match->npu->kind == TDC_TENSORS_BY_NAME ||
                     (first != NULL && table->match->alignment->sides[0]->checkpoint),
        .dtypes = {npu != NULL ? npu->dtype : NULL, bench != NULL ? bench->dtype : NULL},
        .outcome = outcome,
    };
    tdc_user_rules_judge(table->user_rules, &judged, &table->rows[index], message);
}

static void judge(struct tdc_table *table, size_t index, const struct tdc_outcome *outcome)
{
    struct tdc_row *row = &table->rows[index];
    struct tdc_case row_case = case_of(table, index);
    struct tdc_text message;
    tdc_text_init(&message, MESSAGE_LIMIT);
    row->reasons = 0;
    bool settled = tdc_aligned_judge(table, index, outcome, &message);
    switch (settled ? TDC_MODE_NONE : table->mode) {
    case TDC_MODE_NONE:
        break;
    case TDC_MODE_TENSOR:
        table->rules->judge_tensor(&row_case, outcome, row,
                                   table->extras != NULL ? &table->extras[index] : NULL, &message);
        break;
    case TDC_MODE_STATISTICS:
        table->rules->judge_statistics(&row_case, row, &message);
        break;
    case TDC_MODE_DIGEST:
        table->rules->judge_digest(&row_case, row, &message);
        break;
    }
    tdc_aligned_finish(table, index, outcome, &message);
    if (table->noise != NULL)
        judge_noise(&table->noise[index], row, &message);
    if (table->user_rules != NULL)
        tolerate(table, index, &row_case, outcome, &message);
    const bool *crowded = table->match->crowded;
    if (crowded != NULL && row->npu != TDC_UNPAIRED && crowded[row->npu])
        tdc_text_addf(&message, "%sThis name repeats too often: compared once.",
                      message.length != 0 ? " " : "");
    /* a row that lacks something for want of memory would pass for a finding */
    if (message.failed || (outcome != NULL && outcome->error.status == TDC_ERR_MEMORY))
        atomic_store(&table->failed, true);
    row->message = tdc_table_keep(table, tdc_text_get(&message), message.length);
    tdc_text_free(&message);
    if (table->row_done != NULL)
        table->row_done(table->row_context, table, index);
    atomic_store(&row->judged, true);
    if (atomic_load(&table->wanted) == index) {
        pthread_mutex_lock(&table->lock);
        pthread_cond_signal(&table->progressed);
        pthread_mutex_unlock(&table->lock);
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* For the order of work and the progress bar only: what claims an absurd size counts as nothing. */
static uint64_t estimated_bytes(const struct tdc_record *record)
{
    uint64_t bytes = tdc_record_bytes(record);
    return bytes < UINT64_MAX / 4 ? bytes : 0;
}

struct job_row {
    struct tdc_table *table;
    size_t index;
};

void tdc_table_work(const tdc_table *table, uint64_t *rows, uint64_t *bytes)
{
    *rows = *bytes = 0;
    if (table->mode != TDC_MODE_TENSOR)
        return;
    for (size_t i = 0; i < table->row_count; i++) {
        struct tdc_case row_case = case_of(table, i);
        if (!needs_engine(table, i, &row_case))
            continue;
        *rows += 1;
        *bytes += estimated_bytes(row_case.npu) +
                  (row_case.bench != NULL ? estimated_bytes(row_case.bench) : 0);
    }
}

static void judge_without_files(struct tdc_table *table, size_t index, const char *refusal)
{
    if (refusal == NULL) {
        judge(table, index, NULL);
        return;
    }
    struct tdc_outcome outcome = {.code = TDC_OUTCOME_UNREADABLE};
    tdc_fail(&outcome.error, TDC_ERR_FORMAT, "%s", refusal);
    judge(table, index, &outcome);
}

/* Judges the rows that need no file and lists the others as jobs. */
static size_t list_jobs(struct tdc_table *table, struct tdc_job *jobs, struct job_row *job_rows,
                        size_t first_order, struct tdc_pair_place *places, uint32_t unit)
{
    size_t count = 0;
    bool new_call = true; /* since the last job */
    for (size_t i = 0; i < table->row_count; i++) {
        struct tdc_case row_case = case_of(table, i);
        new_call |= row_case.npu != NULL && row_case.npu->first_of_entry;
        if (!needs_engine(table, i, &row_case)) {
            judge_without_files(table, i, refusal_of(&row_case));
            continue;
        }
        const struct tdc_aligned_row *aligned = tdc_table_aligned(table, i);
        job_rows[count] = (struct job_row){table, i};
        jobs[count] = (struct tdc_job){
            .n_folder = table->match->npu->data_folder,
            .n_file = row_case.n_file,
            .b_folder = table->match->bench->data_folder,
            .b_file = row_case.b_file,
            .n_change = table->changes != NULL ? table->changes[i].sides[0] : NULL,
            .b_change = table->changes != NULL ? table->changes[i].sides[1] : NULL,
            .n_logical = aligned != NULL ? aligned->sides[0] : NULL,
            .b_logical = aligned != NULL ? aligned->sides[1] : NULL,
            .series = aligned != NULL ? aligned->series : NULL,
            .n_tensor = row_case.npu->tensor,
            .b_tensor = row_case.bench != NULL ? row_case.bench->tensor : NULL,
            .squeeze = table->rules->squeeze,
            .any_shape = row_case.npu != NULL && row_case.npu->flat,
            .bytes = 2 * estimated_bytes(row_case.npu),
            .order = first_order + count,
            .row = &job_rows[count],
        };
        places[count] = (struct tdc_pair_place){unit, new_call || aligned != NULL};
        new_call = false;
        if (aligned != NULL)
            jobs[count].n_file = jobs[count].b_file = aligned->name;
        count++;
    }
    return count;
}

static void job_done(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    (void)context;
    const struct job_row *row = job->row;
    judge(row->table, row->index, outcome);
    if (outcome->code == TDC_OUTCOME_COMPARED) {
        pthread_mutex_lock(&row->table->lock);
        row->table->bytes += outcome->bytes;
        pthread_mutex_unlock(&row->table->lock);
    }
}

/* The engine on the device of the options. */
static tdc_status run_jobs(struct tdc_job *jobs, const struct tdc_pair_place *places, size_t count,
                           tdc_share *share, const struct tdc_options *options,
                           struct tdc_error *error)
{
    bool logical = false;
    for (size_t i = 0; i < count; i++)
        logical |= jobs[i].n_logical != NULL;
    struct tdc_engine engine = {
        .rule = tdc_rules_of(options->rules)->relative,
        .threads = options->threads,
        .io = options->io,
        .extremes = logical, /* no dump has them of a tensor that was put together */
        .options = options,
        .done = job_done,
    };
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(bytes, jobs[i].bytes, &bytes))
            bytes = UINT64_MAX;
    struct tdc_device_choice choice = {.backend = &tdc_backend_cpu};
    if (count != 0 && !logical) {
        tdc_status status = tdc_device_choose(options, engine.rule, bytes, &choice, error);
        if (status != TDC_OK)
            return status;
    }
    engine.backend = choice.backend;
    return tdc_device_finish(&choice, options,
                             tdc_share_run(share, &engine, jobs, places, count, error), error);
}

static tdc_status compare_files(tdc_table *const *tables, size_t count,
                                const struct tdc_options *options, struct tdc_error *error)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += tables[i]->mode == TDC_MODE_TENSOR ? tables[i]->row_count : 0;
    struct tdc_job *jobs = calloc(rows + 1, sizeof *jobs);
    struct job_row *job_rows = calloc(rows + 1, sizeof *job_rows);
    struct tdc_pair_place *places = calloc(rows + 1, sizeof *places);
    tdc_status status = TDC_OK;
    if (jobs == NULL || job_rows == NULL || places == NULL) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu rows", rows);
    } else {
        size_t used = 0;
        for (size_t i = 0; i < count; i++)
            if (tables[i]->mode == TDC_MODE_TENSOR)
                used += list_jobs(tables[i], jobs + used, job_rows + used, used, places + used,
                                  (uint32_t)i);
        double start = omp_get_wtime();
        tdc_share *share = count != 0 ? tables[0]->share : NULL;
        status = run_jobs(jobs, places, used, share, options, error);
        double seconds = omp_get_wtime() - start + tdc_share_seconds(share);
        for (size_t i = 0; i < count; i++)
            tables[i]->seconds = seconds;
    }
    free(jobs);
    free(job_rows);
    free(places);
    return status;
}

/* Rows of one table, for whichever thread comes next. */
struct text_rows {
    struct tdc_table *table;
    atomic_size_t next;
};

#define TEXT_BLOCK ((size_t)1024)

static void judge_texts(void *argument, int member)
{
    (void)member;
    struct text_rows *rows = argument;
    size_t count = rows->table->row_count;
    for (size_t i; (i = atomic_fetch_add(&rows->next, TEXT_BLOCK)) < count;)
        for (size_t end = count - i < TEXT_BLOCK ? count : i + TEXT_BLOCK; i < end; i++)
            judge(rows->table, i, NULL);
}

static void compare_texts(struct tdc_table *table, const struct tdc_options *options)
{
    struct text_rows rows = {.table = table};
    size_t blocks = (table->row_count + TEXT_BLOCK - 1) / TEXT_BLOCK;
    int threads = tdc_team_size(options->threads);
    if ((size_t)threads > blocks)
        threads = (int)blocks; /* rows of texts are quick: no thread for nothing */
    tdc_team_say(options->message, options->context, threads,
                 tdc_team_run(threads, judge_texts, &rows));
}

/* ---- everything together --------------------------------------------------------------------- */

static void watch_rows(tdc_table *const *tables, size_t count, const struct tdc_options *options)
{
    for (size_t i = 0; i < count; i++) {
        tdc_fields_free(tables[i]->fields); /* of an earlier comparison */
        tables[i]->fields = NULL;
        tables[i]->row_done = options->row;
        tables[i]->row_context = options->context;
    }
}

static tdc_status fill_tables(tdc_table *const *tables, size_t count,
                              const struct tdc_options *options, struct tdc_error *error)
{
    watch_rows(tables, count, options);
    tdc_team_say(options->message, options->context, options->threads,
                 tdc_team_size(options->threads));
    tdc_status status = compare_files(tables, count, options, error);
    for (size_t i = 0; i < count && status == TDC_OK; i++)
        if (tables[i]->mode != TDC_MODE_TENSOR)
            compare_texts(tables[i], options);
    return status;
}

static void colour_table(struct tdc_table *table)
{
    struct tdc_highlighter highlighter;
    tdc_highlighter_init(&highlighter, table);
    for (size_t start = 0; start < table->row_count;) {
        size_t end = tdc_highlighter_block(&highlighter, start);
        if (!tdc_highlighter_run(&highlighter, start, end))
            break; /* out of memory: check_tables tells */
        start = end;
    }
    tdc_highlighter_finish(&highlighter);
    tdc_highlighter_free(&highlighter);
}

static tdc_status check_tables(tdc_table *const *tables, size_t count, struct tdc_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (atomic_load(&tables[i]->failed))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    return TDC_OK;
}

tdc_status tdc_compare(tdc_table *const *tables, size_t count, const struct tdc_options *options,
                       struct tdc_error *error)
{
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status == TDC_OK)
        status = fill_tables(tables, count, &whole, error);
    for (size_t i = 0; i < count && status == TDC_OK; i++)
        colour_table(tables[i]);
    return status == TDC_OK ? check_tables(tables, count, error) : status;
}

void tdc_table_share(tdc_table *table, tdc_share *share)
{
    table->share = share;
}

tdc_status tdc_compare_part(tdc_table *const *tables, size_t count,
                            const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status == TDC_OK && (count == 0 || tables[0]->share == NULL))
        status = tdc_fail(error, TDC_ERR_ARGUMENT, "no share to do");
    if (status == TDC_OK)
        status = compare_files(tables, count, &whole, error);
    return status;
}

/* Threads that write the tables in order while others fill them. */
struct writers {
    tdc_table *const *tables;
    size_t count;
    const struct tdc_output *outputs;
    size_t output_count;
    int threads;   /* of the run */
    bool *written; /* which outputs are complete; each is touched by one thread */
    atomic_size_t next;
    pthread_mutex_t lock;
    struct tdc_error error; /* the first one; under the lock */
};

static void *write_tables(void *argument)
{
    struct writers *writers = argument;
    for (;;) {
        size_t index = atomic_fetch_add(&writers->next, 1);
        if (index >= writers->count)
            return NULL;
        struct tdc_error error = {0};
        if (tdc_table_follow(writers->tables[index], writers->outputs, writers->output_count,
                             writers->threads, writers->written, &error) == TDC_OK)
            continue;
        pthread_mutex_lock(&writers->lock);
        if (writers->error.status == TDC_OK)
            writers->error = error;
        pthread_mutex_unlock(&writers->lock);
    }
}

/* Wakes writers that wait for rows which will never come. */
static void abandon(tdc_table *const *tables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&tables[i]->lock);
        tables[i]->abandoned = true;
        pthread_cond_broadcast(&tables[i]->progressed);
        pthread_mutex_unlock(&tables[i]->lock);
    }
}

/* A table that is complete while another fails does not stay. */
static void remove_written(const struct writers *writers)
{
    for (size_t i = 0; i < writers->output_count; i++)
        if (writers->written[i] && (writers->outputs[i].flags & TDC_OUTPUT_STREAM) == 0)
            unlink(writers->outputs[i].path);
}

static tdc_status compare_and_write(struct writers *writers, const struct tdc_options *options,
                                    struct tdc_error *error)
{
    enum {
        MOST_WRITERS = 8
    };
    pthread_t threads[MOST_WRITERS];
    size_t started = 0, most = writers->count < MOST_WRITERS ? writers->count : MOST_WRITERS;
    /* with one thread there is nothing to overlap: the tables are written afterwards */
    while (options->threads != 1 && started < most &&
           pthread_create(&threads[started], NULL, write_tables, writers) == 0)
        started++;
    tdc_status status = fill_tables(writers->tables, writers->count, options, error);
    if (status != TDC_OK)
        abandon(writers->tables, writers->count);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (status == TDC_OK)
        write_tables(writers);
    if (status == TDC_OK && writers->error.status != TDC_OK) {
        status = writers->error.status;
        if (error != NULL)
            *error = writers->error;
    }
    return status == TDC_OK ? check_tables(writers->tables, writers->count, error) : status;
}

/* The outputs in this version's form, with the folders they ask for. */
static tdc_status take_outputs(const struct tdc_output *given, size_t count,
                               struct tdc_output *outputs, struct tdc_error *error)
{
    tdc_status status = tdc_outputs_read(given, count, outputs, error);
    for (size_t i = 0; i < count && status == TDC_OK; i++)
        if ((outputs[i].flags & TDC_OUTPUT_MAKE_FOLDERS) != 0)
            status = tdc_make_folder_of(outputs[i].path, error);
    return status;
}

tdc_status tdc_compare_to(tdc_table *const *tables, size_t count, const struct tdc_output *outputs,
                          size_t output_count, const struct tdc_options *options,
                          struct tdc_error *error)
{
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status != TDC_OK)
        return status;
    struct tdc_output *all = malloc((output_count + 1) * sizeof *all);
    struct writers writers = {.tables = tables,
                              .count = count,
                              .outputs = all,
                              .output_count = output_count,
                              .threads = tdc_team_size(whole.threads)};
    writers.written = calloc(output_count + 1, sizeof *writers.written);
    pthread_mutex_init(&writers.lock, NULL);
    if (writers.written == NULL || all == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu files", output_count);
    else
        status = take_outputs(outputs, output_count, all, error);
    if (status == TDC_OK) {
        status = compare_and_write(&writers, &whole, error);
        if (status != TDC_OK)
            remove_written(&writers);
    } else if (status == TDC_ERR_WRITE) { /* the tables can be filled all the same */
        struct tdc_error other = {0};
        tdc_status compared = tdc_compare(tables, count, &whole, &other);
        if (compared != TDC_OK && error != NULL)
            *error = other;
        status = compared != TDC_OK ? compared : status;
    }
    pthread_mutex_destroy(&writers.lock);
    free(writers.written);
    free(all);
    return status;
}
