/* The result files of a precheck as its journal: whatever is left of them, a resumed run completes
 * them to the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/precheck/run/journal.h"

#define RESULT_HEADER  "API Name,Forward Test Success,Backward Test Success,Message\r\n"
#define DETAILS_HEADER "API Name,Bench Dtype,Status,Message\r\n"
#define MOST           4096

/* A run of seven calls; among them a SKIP, a quoted field with line ends, one name that begins
 * another, and calls without details at the end. */
static const struct {
    const char *name, *details[3], *result;
} calls[] = {
    {"Mint.a.0",
     {"Mint.a.0.forward.output.0,Float64,pass,\r\n",
      "Mint.a.0.backward.output.0,Float64,pass,\r\n"},
     "Mint.a.0,pass,pass,\r\n"},
    {"Mint.a.01", {NULL}, "Mint.a.01,SKIP,,unsupported api\r\n"},
    {"Mint.b.0",
     {"Mint.b.0.forward.output.0,Float64,error,\"one, \"\"two\"\"\r\nthree\"\r\n",
      "Mint.b.0.forward.output.1,Float64,pass,\r\n", "Mint.b.0.forward.output.2,Int64,pass,\r\n"},
     "Mint.b.0,error,,\"one, \"\"two\"\"\r\nthree\"\r\n"},
    {"\"Mint.c,d.0\"",
     {"\"Mint.c,d.0.forward.output.0\",Float64,pass,\r\n"},
     "\"Mint.c,d.0\",pass,,\r\n"},
    {"Mint.e.0",
     {"Mint.e.0.forward.output.0,Float64,pass,\r\n", "Mint.e.0.forward.output.1,Float64,pass,\r\n"},
     "Mint.e.0,pass,SKIP,no gradient\r\n"},
    {"Mint.f.0", {NULL}, "Mint.f.0,SKIP,,no input\r\n"},
    {"Mint.g.0", {NULL}, "Mint.g.0,,,\r\n"},
};
#define CALLS (sizeof calls / sizeof *calls)

struct bench {
    char folder[64], result_path[128], details_path[128];
    char result[MOST], details[MOST];
    size_t result_size, details_size;
};

static void append(char *to, size_t *size, const char *text)
{
    size_t length = strlen(text);
    assert_true(*size + length < MOST);
    memcpy(to + *size, text, length);
    *size += length;
}

static int start(void **state)
{
    static struct bench b;
    memset(&b, 0, sizeof b);
    /* thousands of files, each written to the disk before it gets its name: best where there is
     * no disk */
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
    snprintf(b.folder, sizeof b.folder, "%.40s/journal-XXXXXX", place != NULL ? place : "/tmp");
    assert_non_null(mkdtemp(b.folder));
    snprintf(b.result_path, sizeof b.result_path, "%s/result_1.csv", b.folder);
    snprintf(b.details_path, sizeof b.details_path, "%s/details_1.csv", b.folder);
    append(b.result, &b.result_size, "\xef\xbb\xbf" RESULT_HEADER);
    append(b.details, &b.details_size, "\xef\xbb\xbf" DETAILS_HEADER);
    for (size_t i = 0; i < CALLS; i++) {
        for (int k = 0; k < 3 && calls[i].details[k] != NULL; k++)
            append(b.details, &b.details_size, calls[i].details[k]);
        append(b.result, &b.result_size, calls[i].result);
    }
    *state = &b;
    return 0;
}

static int stop(void **state)
{
    struct bench *b = *state;
    unlink(b->result_path);
    unlink(b->details_path);
    return rmdir(b->folder);
}

static void write_file(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void assert_content(const char *path, const char *want, size_t size, const char *what)
{
    char got[MOST];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(got, 1, sizeof got, file);
    fclose(file);
    if (length != size || memcmp(got, want, size) != 0)
        fail_msg("%s: %.*s", what, (int)length, got);
}

static void plain_name(size_t call, char name[64])
{
    size_t length = 0;
    for (const char *at = calls[call].name; *at != '\0'; at++)
        if (*at != '"')
            name[length++] = *at;
    name[length] = '\0';
}

static size_t rows_of(void *context, const char *call)
{
    ++*(int *)context;
    for (size_t i = 0; i < CALLS; i++) {
        char name[64];
        plain_name(i, name);
        size_t rows = 0;
        while (rows < 3 && calls[i].details[rows] != NULL)
            rows++;
        if (strcmp(name, call) == 0)
            return rows;
    }
    return TDC_ROWS_UNKNOWN;
}

/* Does the calls that the journal lacks, as a run does. Gives their number. */
static size_t go_on(struct tdc_journal *journal)
{
    size_t done = 0;
    struct tdc_error error = {0};
    for (size_t i = 0; i < CALLS; i++) {
        char name[64], details[512] = "";
        bool first;
        plain_name(i, name);
        if (tdc_journal_has(journal, name))
            continue;
        for (int k = 0; k < 3 && calls[i].details[k] != NULL; k++)
            strcat(details, calls[i].details[k]);
        assert_int_equal(tdc_journal_append(journal, details, strlen(details), calls[i].result,
                                            strlen(calls[i].result), &first, &error),
                         TDC_OK);
        done++;
    }
    assert_int_equal(tdc_journal_flush(journal, &error), TDC_OK);
    return done;
}

/* From the first bytes of each file on; gives the number of calls done again. */
static size_t resume(struct bench *b, size_t result_size, size_t details_size)
{
    char what[80];
    int asked = 0;
    struct tdc_journal journal;
    struct tdc_error error = {0};
    snprintf(what, sizeof what, "result cut at %zu, details at %zu", result_size, details_size);
    write_file(b->result_path, b->result, result_size);
    write_file(b->details_path, b->details, details_size);
    tdc_status status = tdc_journal_resume(&journal, b->result_path, RESULT_HEADER, DETAILS_HEADER,
                                           rows_of, &asked, &error);
    if (status != TDC_OK)
        fail_msg("%s: %s", what, error.message);
    assert_in_range(asked, 0, 1);
    size_t done = go_on(&journal);
    tdc_journal_close(&journal);
    assert_content(b->result_path, b->result, b->result_size, what);
    assert_content(b->details_path, b->details, b->details_size, what);
    return done;
}

/* The bytes in the order in which a run writes them. */
static void killed_at_any_byte(void **state)
{
    struct bench *b = *state;
    size_t sizes[2] = {strlen(DETAILS_HEADER) + 3, strlen(RESULT_HEADER) + 3};
    for (size_t cut = 0; cut <= sizes[0]; cut++)
        resume(b, 0, cut);
    for (size_t cut = 0; cut <= sizes[1]; cut++)
        resume(b, cut, sizes[0]);
    for (size_t i = 0; i < CALLS; i++) {
        size_t details = 0, result = strlen(calls[i].result);
        for (int k = 0; k < 3 && calls[i].details[k] != NULL; k++)
            details += strlen(calls[i].details[k]);
        for (size_t cut = 0; cut <= details; cut++)
            resume(b, sizes[1], sizes[0] + cut);
        sizes[0] += details;
        for (size_t cut = 0; cut <= result; cut++)
            resume(b, sizes[1] + cut, sizes[0]);
        sizes[1] += result;
    }
    assert_int_equal(sizes[0], b->details_size);
    assert_int_equal(sizes[1], b->result_size);
}

static void details_cut_at_any_byte(void **state)
{
    struct bench *b = *state;
    for (size_t cut = 0; cut <= b->details_size; cut++)
        resume(b, b->result_size, cut);
}

static void result_cut_at_any_byte(void **state)
{
    struct bench *b = *state;
    for (size_t cut = 0; cut <= b->result_size; cut++)
        resume(b, cut, b->details_size);
}

static void both_cut(void **state)
{
    struct bench *b = *state;
    for (size_t result = 0; result <= b->result_size; result += 7)
        for (size_t details = 0; details <= b->details_size; details += 11)
            resume(b, result, details);
}

static void a_finished_run_is_left_alone(void **state)
{
    struct bench *b = *state;
    struct stat before, after;
    assert_int_equal(resume(b, b->result_size, b->details_size), 0);
    assert_int_equal(stat(b->result_path, &before), 0);
    struct tdc_journal journal;
    struct tdc_error error = {0};
    int asked = 0;
    assert_int_equal(tdc_journal_resume(&journal, b->result_path, RESULT_HEADER, DETAILS_HEADER,
                                        rows_of, &asked, &error),
                     TDC_OK);
    tdc_journal_close(&journal);
    assert_int_equal(stat(b->result_path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(asked, 1);
}

static void only_what_is_missing_is_done(void **state)
{
    struct bench *b = *state;
    /* the last of Mint.b.0's three rows: that call and those behind it */
    const char *cut = strstr(b->details, "Mint.b.0.forward.output.2");
    assert_int_equal(resume(b, b->result_size, (size_t)(cut - b->details)), CALLS - 2);
    /* a boundary between calls */
    cut = strstr(b->details, "Mint.e.0.forward.output.0");
    assert_int_equal(resume(b, b->result_size, (size_t)(cut - b->details)), CALLS - 3);
}

static size_t unknown(void *context, const char *call)
{
    (void)context;
    (void)call;
    return TDC_ROWS_UNKNOWN;
}

/* A file of another dump: its rows stay. */
static void calls_that_cannot_be_asked_stay(void **state)
{
    struct bench *b = *state;
    struct tdc_journal journal;
    struct tdc_error error = {0};
    write_file(b->result_path, b->result, b->result_size);
    write_file(b->details_path, b->details, b->details_size);
    assert_int_equal(tdc_journal_resume(&journal, b->result_path, RESULT_HEADER, DETAILS_HEADER,
                                        unknown, NULL, &error),
                     TDC_OK);
    assert_true(tdc_journal_has(&journal, "Mint.e.0"));
    tdc_journal_close(&journal);
    assert_content(b->details_path, b->details, b->details_size, "unknown calls");
}

static void foreign_files_are_refused(void **state)
{
    struct bench *b = *state;
    static const char *const texts[] = {"a,b\r\n1,2\r\n", "nonsense", "\357\273\277API Name\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tdc_journal journal;
        struct tdc_error error = {0};
        write_file(b->result_path, texts[i], strlen(texts[i]));
        assert_int_equal(tdc_journal_resume(&journal, b->result_path, RESULT_HEADER, DETAILS_HEADER,
                                            unknown, NULL, &error),
                         TDC_ERR_REFUSED);
        tdc_journal_close(&journal);
        assert_content(b->result_path, texts[i], strlen(texts[i]), "a foreign file");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(killed_at_any_byte),
        TEST(details_cut_at_any_byte),
        TEST(result_cut_at_any_byte),
        TEST(both_cut),
        TEST(a_finished_run_is_left_alone),
        TEST(only_what_is_missing_is_done),
        TEST(calls_that_cannot_be_asked_stay),
        TEST(foreign_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
