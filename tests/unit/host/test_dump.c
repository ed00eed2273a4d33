#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "host/dump/dump.h"
#include "io/base/text.h"
#include "tests/support/tensor_folder.h"

static void load_text(const char *name, const char *json, tdc_dump **dump)
{
    struct temporary_folder folder;
    folder_make(&folder);
    struct tdc_error error = {0};
    file_write(folder_file(&folder, name), json, strlen(json));
    if (tdc_dump_load(folder_file(&folder, name), dump, &error) != TDC_OK)
        fail_msg("%s", error.message);
    folder_remove(&folder);
}

static void describe_stat(struct tdc_text *text, const struct tdc_record *record, int which)
{
    switch ((enum tdc_stat_kind)record->stat_kinds[which]) {
    case TDC_STAT_FLOAT:
        tdc_text_addf(text, "f%g", record->stats[which].number);
        break;
    case TDC_STAT_INTEGER:
        tdc_text_addf(text, "i%g", record->stats[which].number);
        break;
    case TDC_STAT_BIG_INTEGER:
        tdc_text_addf(text, "b%s", record->stats[which].text);
        break;
    case TDC_STAT_TEXT:
        tdc_text_addf(text, "'%s'", record->stats[which].text);
        break;
    case TDC_STAT_FALSE:
    case TDC_STAT_TRUE:
        tdc_text_adds(text, record->stat_kinds[which] == TDC_STAT_TRUE ? "yes" : "no");
        break;
    }
}

/* name | dtype | shape | requires_grad | data_name | Max | digest; a line each. */
static void check_records(const char *name, const char *data, const char *expected)
{
    struct tdc_text json, found;
    tdc_text_init(&json, 1 << 20);
    tdc_text_init(&found, 1 << 20);
    tdc_text_addf(&json, "{\"task\": \"tensor\", \"data\": %s}", data);
    tdc_dump *dump;
    load_text(name, tdc_text_get(&json), &dump);
    for (size_t i = 0; i < tdc_dump_records(dump); i++) {
        const struct tdc_record *record = &dump->records[i];
        tdc_text_addf(&found, "%s|%s|%s|%s|%s|", record->name, record->dtype, record->shape,
                      record->requires_grad, record->data_name);
        describe_stat(&found, record, TDC_MAX);
        tdc_text_addf(&found, "|%s\n", record->digest);
    }
    assert_string_equal(tdc_text_get(&found), expected);
    tdc_dump_free(dump);
    tdc_text_free(&json);
    tdc_text_free(&found);
}

#define TENSOR(more)                                                                               \
    "{\"type\":\"torch.Tensor\",\"dtype\":\"torch.float32\",\"shape\":[2, 3]" more "}"

static void rows_of_an_entry_have_a_fixed_order(void **state)
{
    (void)state;
    /* the file has parameters first and input_args last */
    check_records(
        "dump.json",
        "{\"M.forward.0\":{\"parameters\":{\"w\":" TENSOR("") "},\"output\":[" TENSOR(
            "") "],\"input_kwargs\":{\"k\":" TENSOR("") "},\"input_args\":[" TENSOR("") "," TENSOR("") "]}}",
        "M.forward.0.input.0|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
        "M.forward.0.input.1|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
        "M.forward.0.input.k|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
        "M.forward.0.parameters.w|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
        "M.forward.0.output.0|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n");
}

static void names_come_from_files_or_places(void **state)
{
    (void)state;
    check_records("dump.json",
                  "{\"a\":{\"input_args\":[" TENSOR(",\"data_name\":\"a.kwargs.x.pt\"") "," TENSOR(",\"data_name\":\"\"") ",[" TENSOR(
                      "") ",[" TENSOR("") "]],{\"p\":{\"q\":" TENSOR("") "}},null,[],{},3,\"x\"]},"
                                                                         "\"m.parameters_grad\":{"
                                                                         "\"w\":[" TENSOR(
                                                                             "") "]},"
                                                                                 "\"v.0.debug\":"
                                                                                 "[" TENSOR(
                                                                                     "") ",{\"z\":"
                                                                                         "null}]}",
                  "a.kwargs.x|torch.float32|[2, 3]|N/A|a.kwargs.x.pt|'None'|00000000\n"
                  "a.input.1|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
                  "a.input.2.0|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
                  "a.input.2.1.0|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
                  "a.input.3.p.q|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
                  "a.input.4|None|None|N/A|-1|'None'|N/A\n"
                  "a.input.7|<class 'int'>|[]|N/A|-1|i3|6dd28e9b\n"
                  "a.input.8|<class 'str'>|[]|N/A|-1|'x'|8cdc1683\n"
                  "m.parameters_grad.w|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
                  "v.0.debug.0|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n"
                  "v.0.debug.1.z|None|None|N/A|-1|'None'|N/A\n");
}

/* Leaves of every kind in the table of the specification. */
static void leaves_of_every_kind(void **state)
{
    (void)state;
    char expected[2048];
    static const char *const texts[] = {"3", "2.5",          "True",   "word",
                                        "",  "[0, 5, None]", "[2, 3]", "..."};
    unsigned long sums[8];
    for (size_t i = 0; i < 8; i++)
        sums[i] = crc32_z(0, (const Bytef *)texts[i], strlen(texts[i]));
    snprintf(expected, sizeof expected,
             "a.input.0|<class 'int'>|[]|N/A|-1|i3|%08lx\n"
             "a.input.1|<class 'float'>|[]|N/A|-1|f2.5|%08lx\n"
             "a.input.2|<class 'bool'>|[]|N/A|-1|yes|%08lx\n"
             "a.input.3|<class 'str'>|[]|N/A|-1|'word'|%08lx\n"
             "a.input.4|<class 'NoneType'>|[]|N/A|-1|'None'|%08lx\n"
             "a.input.5|slice|(3,)|N/A|-1|'None'|%08lx\n"
             "a.input.6|torch.Size|[2, 3]|N/A|-1|'None'|%08lx\n"
             "a.input.7|ellipsis|[]|N/A|-1|'...'|%08lx\n"
             "a.input.8|torch.ProcessGroup|[]|N/A|-1|'[0, 1]'|[0, 1]\n"
             "a.input.9|torch.bool|[4]|True|-1|'True'|00000000\n"
             "a.input.10|torch.float32|[2, 3]|False|-1|'Nan'|12345678\n"
             "a.input.11|torch.float32|[2, 3]|N/A|-1|finf|00000000\n"
             "a.input.12|<class 'int'>|[]|N/A|-1|b123456789012345678901234|%08lx\n"
             "a.input.dst|int|[]|N/A|-1|'7'|7\n",
             sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7],
             (unsigned long)crc32_z(0, (const Bytef *)"123456789012345678901234", 24));
    check_records(
        "dump.json",
        "{\"a\":{\"input_args\":[{\"type\":\"int\",\"value\":3},{\"type\":\"float\",\"value\":2.5},"
        "{\"type\":\"bool\",\"value\":true},{\"type\":\"str\",\"value\":\"word\"},"
        "{\"type\":\"torch.memory_format\",\"format\":\"torch.contiguous_format\"},"
        "{\"type\":\"slice\",\"value\":[0, 5, null]},{\"type\":\"torch.Size\",\"value\":[2, 3]},"
        "{\"type\":\"ellipsis\",\"value\":\"...\"},"
        "{\"type\":\"torch.ProcessGroup\",\"group_ranks\":[0, 1],\"group_id\":\"x\"},"
        "{\"type\":\"torch.Tensor\",\"dtype\":\"torch.bool\",\"shape\":[4],\"Max\":true,"
        "\"requires_grad\":true}," TENSOR(
            ",\"Max\":NaN,\"requires_grad\":false,\"md5\":"
            "\"12345678\"") "," TENSOR(",\"Max\":Infinity") ",{\"type\":\"int\",\"value\":"
                                                            "123456789012345678901234}],"
                                                            "\"input_kwargs\":{\"dst\":{\"type\":"
                                                            "\"int\",\"value\":7}}}}",
        expected);
}

static void point_to_point_operations(void **state)
{
    (void)state;
    check_records("dump.json",
                  "{\"a\":{\"input_args\":[{\"class_type\":\"torch.distributed.P2POp\",\"op\":"
                  "\"isend\",\"peer\":1,\"tensor\":" TENSOR(
                      ",\"data_name\":\"t.pt\"") "},{\"class_type\":\"torch.distributed.P2POp\","
                                                 "\"tensor\":null},{\"class_type\":\"other\","
                                                 "\"tensor\":" TENSOR("") "}]}}",
                  "t|torch.float32|[2, 3]|N/A|t.pt|'None'|00000000\n"
                  "a.input.0.op|<class 'str'>|[]|N/A|-1|'isend'|d43707f0\n"
                  "a.input.0.peer|<class 'int'>|[]|N/A|-1|i1|83dcefb7\n"
                  "a.input.1|None|None|N/A|-1|'None'|N/A\n"
                  "a.input.2.class_type|<class 'str'>|[]|N/A|-1|'other'|d9583520\n"
                  "a.input.2.tensor|torch.float32|[2, 3]|N/A|-1|'None'|00000000\n");
}

/* Python keeps the first place and the last value of a repeated key, at every level. */
static void repeated_keys(void **state)
{
    (void)state;
    check_records(
        "dump.json",
        "{\"a\":{\"output\":[" TENSOR(
            "") "]},\"b\":{\"output\":[null]},\"a\":{\"output\":"
                "[null,null]},\"c\":{\"input_args\":[null],\"output\":[null],\"input_args\":[]}}",
        "a.output.0|None|None|N/A|-1|'None'|N/A\n"
        "a.output.1|None|None|N/A|-1|'None'|N/A\n"
        "b.output.0|None|None|N/A|-1|'None'|N/A\n"
        "c.output.0|None|None|N/A|-1|'None'|N/A\n");
    tdc_dump *dump;
    load_text("dump.json",
              "{\"task\":\"x\",\"data\":{\"a\":{\"output\":[null]}},\"task\":\"tensor\","
              "\"data\":{\"b\":{\"output\":[null,null]}}}",
              &dump);
    assert_string_equal(tdc_dump_task(dump), "tensor");
    assert_int_equal(tdc_dump_records(dump), 2);
    assert_string_equal(tdc_dump_record_name(dump, 1), "b.output.1");
    assert_true(dump->records[0].first_of_entry && !dump->records[1].first_of_entry);
    tdc_dump_free(dump);
}

static void digests_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *name, *data;
        bool found;
    } cases[] = {
        {"dump.json", "{\"a\":{\"output\":[{\"type\":\"x\",\"md5\":\"1\"}]}}", true},
        {"dump.json", "{\"a\":{\"output\":[[{\"type\":\"x\",\"md5\":\"1\"}]]}}", false},
        {"dump.json", "{\"a\":{\"input_kwargs\":{\"md5\":null}}}", true},
        {"dump.json", "{\"a\":{\"output\":[null]}}", false},
        {"debug.json", "{\"x.0.debug\":[[{\"type\":\"x\",\"md5\":\"1\"}]]}", true},
        {"debug.json", "{\"x.0.debug\":[null]}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[256];
        snprintf(json, sizeof json, "{\"task\":\"statistics\",\"data\":%s}", cases[i].data);
        tdc_dump *dump;
        load_text(cases[i].name, json, &dump);
        assert_int_equal(dump->digests, cases[i].found);
        tdc_dump_free(dump);
    }
}

static void content_that_msprobe_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *data, *refusal;
    } cases[] = {
        {"{\"=a\":{}}", "api name contains special characters, please check!"},
        {"{\"a\":{\"input_args\":[{\"type\":\"str\",\"value\":\"-1\"}]}}",
         "data info of a contains special characters, please check!"},
        {"{\"a\":{\"input_args\":[{\"type\":\"str\",\"value\":\"x;=1\"}]}}",
         "data info of a contains special characters, please check!"},
        {"{\"a\":{\"input_args\":[{\"type\":\"str\",\"value\":\"\xef\xbc\x9d\"}]}}",
         "data info of a contains special characters, please check!"},
        {"{\"a\":{\"output\":[{\"type\":\"x\",\"shape\":null}]}}",
         "shape of input or output of a is not list or tuple, please check!"},
        {"{\"a\":{\"output\":[{\"type\":\"x\",\"requires_grad\":null}]}}",
         "requires_grad of input or output of a is not bool, please check!"},
        /* lists inside objects and parameters are not looked at */
        {"{\"a\":{\"input_kwargs\":{\"k\":[\"=1\"]},\"parameters\":{\"w\":{\"type\":\"=\"}}}}",
         NULL},
        {"{\"a\":{\"input_args\":[{\"type\":\"str\",\"value\":\"a-1\"}]}}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"task\":\"tensor\",\"data\":%s}", cases[i].data);
        tdc_dump *dump;
        load_text("dump.json", json, &dump);
        if (cases[i].refusal == NULL)
            assert_null(dump->refusal);
        else
            assert_string_equal(dump->refusal, cases[i].refusal);
        tdc_dump_free(dump);
        /* never in a debug.json */
        load_text("debug.json", json, &dump);
        assert_null(dump->refusal);
        tdc_dump_free(dump);
    }
}

/* ---- calls that are read as they are written ------------------------------------------------- */

static const char *const leaves[] = {
    "{\"type\":\"torch.Tensor\",\"dtype\":\"torch.float32\",\"shape\":[2, 3],\"Max\":2.5,\"Min\":"
    "-1e-3,\"Mean\":0.1,\"Norm\":3,\"requires_grad\":true}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"torch.bool\",\"shape\":[],\"Max\":null,\"Min\":null,"
    "\"Mean\":null,\"Norm\":null,\"requires_grad\":false,\"data_name\":\"a.b.npy\"}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"torch.int64\",\"shape\":[ 1,2 ],\"Max\":"
    "9007199254740993,\"Min\":-0,\"Mean\":NaN,\"Norm\":Infinity,\"requires_grad\":true}",
    "{\"type\":\"mindspore.Tensor\",\"dtype\":\"Float32\",\"shape\":[7],\"Max\":1,\"Min\":1,"
    "\"Mean\":1,\"Norm\":1,\"md5\":\"0a1b2c3d\"}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"t\",\"shape\":[7],\"Max\":1,\"Min\":1,\"Mean\":1,"
    "\"Norm\":1,\"md5\":\"\"}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"\",\"shape\":[7],\"Max\":1,\"Min\":true,\"Mean\":1,"
    "\"Norm\":\"x\"}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"t\",\"shape\":[1.5],\"Max\":1,\"Min\":1,\"Mean\":1,"
    "\"Norm\":1,\"place\":\"npu:0\"}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"t\",\"shape\":4,\"Max\":1,\"Min\":1,\"Mean\":1,"
    "\"Norm\":1}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"=t\",\"shape\":[4],\"Max\":1,\"Min\":1,\"Mean\":1,"
    "\"Norm\":1,\"requires_grad\":true}",
    "{\"type\":\"torch.Tensor\",\"dtype\":\"t\",\"shape\":[4],\"Max\":1,\"Min\":1,\"Mean\":1,"
    "\"Norm\":1,\"requires_grad\":null}",
    "{\"type\":\"float\",\"value\":1e-05}",
    "{\"type\":\"int\",\"value\":12}",
    "{\"type\":\"str\",\"value\":\"mean\"}",
    "{\"type\":\"str\",\"value\":\"+mean\"}",
    "{\"type\":\"bool\",\"value\":true}",
    "{\"type\":\"NoneType\",\"value\":null}",
    "{\"type\":\"torch.Size\",\"value\":[1, 2]}",
    "{\"type\":\"slice\",\"value\":[1, null, 2]}",
    "{\"value\":3,\"type\":4}",
    "{\"type\":\"a\\u0062\",\"value\":\"\xc3\xa4\"}",
    "{\"weight\":{\"type\":\"int\",\"value\":1,\"value\":2}}",
    "[{\"type\":\"int\",\"value\":1},null]",
    "null",
    "{}",
    "3",
};

#define LEAVES (sizeof leaves / sizeof *leaves)

static void describe_text(struct tdc_text *text, const char *name, const char *value)
{
    tdc_text_addf(text, "%s=%s ", name, value != NULL ? value : "NULL");
}

static void describe_dump(struct tdc_text *text, const struct tdc_dump *dump)
{
    tdc_text_addf(text, "digests %d %d repeated %zu ", dump->digests, dump->digest_records,
                  dump->repeated);
    describe_text(text, "first", dump->first_repeated);
    describe_text(text, "framework", dump->seen_framework);
    describe_text(text, "refusal", dump->refusal);
    for (size_t i = 0; i < dump->record_count; i++) {
        const struct tdc_record *record = &dump->records[i];
        const bool flags[] = {record->first_of_entry, record->scalar,       record->sound_only,
                              record->since_26,       record->undirected,   record->no_dtype,
                              record->no_shape,       record->digest_given, record->digest_number};
        tdc_text_addf(text, "\n%u %d ", record->entry, record->state);
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
            tdc_text_addc(text, flags[k] ? '1' : '0');
        describe_text(text, " name", record->name);
        describe_text(text, "dtype", record->dtype);
        describe_text(text, "shape", record->shape);
        describe_text(text, "grad", record->requires_grad);
        describe_text(text, "file", record->data_name);
        describe_text(text, "digest", record->digest);
        describe_text(text, "keyword", record->keyword);
        for (int which = 0; which < TDC_STATISTICS; which++) {
            describe_stat(text, record, which);
            tdc_text_addc(text, ' ');
        }
    }
}

/* A dump of calls with these two leaves among others; the reader of all entries reads those whose
 * output comes first. */
static void describe_calls(const char *one, const char *other, bool output_first,
                           struct tdc_text *text)
{
    struct tdc_text json;
    tdc_text_init(&json, 1 << 20);
    tdc_text_adds(&json, "{\"data\": {");
    for (int i = 0; i < 4; i++) {
        struct tdc_text output, rest;
        tdc_text_init(&output, 1 << 20);
        tdc_text_init(&rest, 1 << 20);
        tdc_text_addf(&output, "\"output\": [%s]", i % 2 != 0 ? one : other);
        tdc_text_addf(&rest,
                      "\"input_args\": [\n %s,\n %s , %s\n], \"input_kwargs\": {\"k\": %s}, "
                      "\"is_recompute\": false, \"parameters\": {\"w\": %s}",
                      one, other, one, other, one);
        tdc_text_addf(&json, "%s\n\"Torch.f.%d.forward\": {%s, %s}", i != 0 ? "," : "", i,
                      tdc_text_get(output_first ? &output : &rest),
                      tdc_text_get(output_first ? &rest : &output));
        tdc_text_free(&output);
        tdc_text_free(&rest);
    }
    tdc_text_adds(&json, "}}");
    tdc_dump *dump;
    load_text("dump.json", tdc_text_get(&json), &dump);
    describe_dump(text, dump);
    tdc_dump_free(dump);
    tdc_text_free(&json);
}

static void calls_written_in_order_give_the_same_records(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEAVES; i++)
        for (size_t k = 0; k < LEAVES; k++) {
            struct tdc_text plain, other;
            tdc_text_init(&plain, 1 << 20);
            tdc_text_init(&other, 1 << 20);
            describe_calls(leaves[i], leaves[k], false, &plain);
            describe_calls(leaves[i], leaves[k], true, &other);
            assert_string_equal(tdc_text_get(&plain), tdc_text_get(&other));
            tdc_text_free(&plain);
            tdc_text_free(&other);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_an_entry_have_a_fixed_order),
        cmocka_unit_test(names_come_from_files_or_places),
        cmocka_unit_test(leaves_of_every_kind),
        cmocka_unit_test(point_to_point_operations),
        cmocka_unit_test(repeated_keys),
        cmocka_unit_test(digests_are_found),
        cmocka_unit_test(content_that_msprobe_refuses),
        cmocka_unit_test(calls_written_in_order_give_the_same_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
