#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/match/match.h"
#include "tests/support/temporary_folder.h"

#define MOST 64

/* A dump with these records and nothing else. */
struct made_dump {
    struct tdc_record records[MOST];
    char names[MOST][64];
    struct tdc_dump dump;
};

static void dump_clear(struct made_dump *made)
{
    memset(made, 0, sizeof *made);
    made->dump.records = made->records;
    made->dump.task = "tensor";
    made->dump.path = (char *)(uintptr_t) "dump.json";
}

static void dump_add(struct made_dump *made, const char *name, const char *shape, const char *dtype)
{
    size_t at = made->dump.record_count++;
    snprintf(made->names[at], sizeof made->names[at], "%s", name);
    made->records[at].name = made->names[at];
    made->records[at].shape = shape;
    made->records[at].dtype = dtype;
}

static void dump_fill(struct made_dump *made, const char *const *names)
{
    dump_clear(made);
    for (; *names != NULL; names++)
        dump_add(made, *names, "[2]", "torch.float32");
}

/* "0-1 1-. .-2": pairs in row order, a dot where a side is missing. */
static void pairs_text(const struct tdc_match *match, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < match->count && used < size; i++) {
        char sides[2][16] = {".", "."};
        if (match->pairs[i].npu != TDC_UNPAIRED)
            snprintf(sides[0], sizeof sides[0], "%u", match->pairs[i].npu);
        if (match->pairs[i].bench != TDC_UNPAIRED)
            snprintf(sides[1], sizeof sides[1], "%u", match->pairs[i].bench);
        used += (size_t)snprintf(text + used, size - used, "%s%s-%s", i == 0 ? "" : " ", sides[0],
                                 sides[1]);
    }
}

static void check_match(const struct made_dump *npu, const struct made_dump *bench,
                        struct tdc_match_rules rules, const struct tdc_options *options,
                        const char *expected)
{
    struct tdc_match *match;
    struct tdc_error error = {0};
    tdc_status status = tdc_match_build(&npu->dump, &bench->dump, &rules, options, &match, &error);
    if (status != TDC_OK)
        fail_msg("%s", error.message);
    char text[4096];
    pairs_text(match, text, sizeof text);
    assert_string_equal(text, expected);
    tdc_match_free(match);
}

/* ---- exact ----------------------------------------------------------------------------------- */

static const struct tdc_match_rules msprobe_rules = {
    .shape_in_key = true, .cross_product = true, .same_dtype_only = true, .fuzzy_drops_rest = true};
static const struct tdc_match_rules sound_rules = {.list_bench_only = true};

static void repeated_names_give_the_cross_product(void **state)
{
    (void)state;
    static struct made_dump npu, bench;
    struct tdc_options options = {0};
    dump_fill(&npu, (const char *const[]){"a", "b", "a", "c", NULL});
    dump_fill(&bench, (const char *const[]){"a", "c", "x", "a", NULL});
    /* the later a moves up to the first; bench-only rows are dropped */
    check_match(&npu, &bench, msprobe_rules, &options, "0-0 0-3 2-0 2-3 1-. 3-1");
    /* the k-th with the k-th, NPU order, bench-only rows at the end */
    check_match(&npu, &bench, sound_rules, &options, "0-0 1-. 2-3 3-1 .-2");
}

/* A dump of one name, many times. */
static void dump_repeat(struct tdc_dump *dump, size_t count)
{
    *dump = (struct tdc_dump){.record_count = count,
                              .records = calloc(count, sizeof *dump->records),
                              .task = "tensor",
                              .path = (char *)(uintptr_t) "dump.json"};
    assert_non_null(dump->records);
    for (size_t i = 0; i < count; i++) {
        dump->records[i].name = "a";
        dump->records[i].shape = "[2]";
        dump->records[i].dtype = "torch.float32";
    }
}

static void keep_message(void *context, tdc_message_level level, const char *text)
{
    assert_int_equal(level, TDC_MESSAGE_WARNING);
    snprintf(context, 256, "%s", text);
}

/* Squares end somewhere: a name that would add more rows than a sheet holds is paired in order. */
static void repeated_names_are_bounded(void **state)
{
    (void)state;
    char said[256] = "";
    struct tdc_options options = {.message = keep_message, .context = said};
    const size_t sides[][2] = {{1000, 1000}, {3000, 2000}};
    for (size_t i = 0; i < 2; i++) {
        struct tdc_dump npu, bench;
        struct tdc_match *match;
        bool fits = i == 0;
        dump_repeat(&npu, sides[i][0]);
        dump_repeat(&bench, sides[i][1]);
        assert_int_equal(tdc_match_build(&npu, &bench, &msprobe_rules, &options, &match, NULL),
                         TDC_OK);
        assert_int_equal(match->count, fits ? 1000 * 1000 : 3000);
        assert_true((match->crowded != NULL) == !fits);
        for (uint32_t k = 0; !fits && k < 3000; k++) {
            assert_int_equal(match->pairs[k].npu, k);
            assert_int_equal(match->pairs[k].bench, k < 2000 ? k : TDC_UNPAIRED);
            assert_true(match->crowded[k]);
        }
        assert_true((strstr(said, "3000 records") != NULL) == !fits);
        tdc_match_free(match);
        free(npu.records);
        free(bench.records);
    }
}

static void shapes_are_part_of_the_key_for_msprobe(void **state)
{
    (void)state;
    static struct made_dump npu, bench;
    struct tdc_options options = {0};
    dump_clear(&npu);
    dump_clear(&bench);
    dump_add(&npu, "a", "[2]", "torch.float32");
    dump_add(&npu, "a", "[3]", "torch.float32");
    dump_add(&npu, "b", "[4]", "torch.float32");
    dump_add(&bench, "a", "[3]", "torch.float32");
    dump_add(&bench, "b", "[5]", "torch.float32");
    check_match(&npu, &bench, msprobe_rules, &options, "0-. 1-0 2-.");
    check_match(&npu, &bench, sound_rules, &options, "0-0 1-. 2-1");
}

static void types_take_pairs_apart(void **state)
{
    (void)state;
    static struct made_dump npu, bench;
    static const struct {
        const char *npu, *bench;
        bool agree;
    } cases[] = {
        {"torch.float16", "torch.float32", true},  {"torch.bfloat16", "torch.float16", true},
        {"torch.float64", "torch.float32", false}, {"torch.float64", "torch.float64", true},
        {"torch.int32", "torch.int64", false},     {"Float16", "BFloat16", true},
        {"Float32", "torch.float32", false},       {"<class 'int'>", "<class 'float'>", false},
        {"torch.float8", "torch.float8", true},
    };
    struct tdc_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tdc_dtypes_agree(cases[i].npu, cases[i].bench, false, false),
                         cases[i].agree);
        dump_clear(&npu);
        dump_clear(&bench);
        dump_add(&npu, "a", "[2]", cases[i].npu);
        dump_add(&bench, "a", "[2]", cases[i].bench);
        check_match(&npu, &bench, msprobe_rules, &options, cases[i].agree ? "0-0" : "0-.");
        check_match(&npu, &bench, sound_rules, &options, "0-0");
    }
}

static void empty_sides(void **state)
{
    (void)state;
    static struct made_dump npu, bench;
    struct tdc_options options = {0}, fuzzy = {.flags = TDC_OPTION_FUZZY};
    dump_fill(&npu, (const char *const[]){"a", "b", NULL});
    dump_fill(&bench, (const char *const[]){NULL});
    check_match(&npu, &bench, msprobe_rules, &options, "0-. 1-.");
    check_match(&bench, &npu, msprobe_rules, &options, "");
    check_match(&bench, &npu, sound_rules, &options, ".-0 .-1");
    check_match(&bench, &bench, sound_rules, &fuzzy, "");
}

/* ---- data mapping ---------------------------------------------------------------------------- */

static void mapped_names(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    char path[600];
    snprintf(path, sizeof path, "%s/map.yaml", folder.path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a: x\nb: x\nc: nobody\nunknown: y\n", file);
    fclose(file);
    static struct made_dump npu, bench;
    dump_fill(&npu, (const char *const[]){"a", "b", "c", "d", "e", NULL});
    dump_fill(&bench, (const char *const[]){"e", "x", "y", "c", NULL});
    /* neither shape nor type is looked at */
    bench.records[1].shape = "[7, 7]";
    bench.records[1].dtype = "torch.int8";
    struct tdc_options options = {.data_mapping = path, .flags = TDC_OPTION_FUZZY};
    check_match(&npu, &bench, msprobe_rules, &options, "0-1 1-1 2-. 3-. 4-0");
    check_match(&npu, &bench, sound_rules, &options, "0-1 1-1 2-. 3-. 4-0 .-2 .-3");
    folder_remove(&folder);
}

/* ---- fuzzy: the procedure of the specification, step by step --------------------------------- */

/* The name without call number, as the specification words it. */
static void reduce(const char *name, char *out)
{
    const char *direction = strstr(name, "forward") != NULL ? "forward" : "backward";
    const char *at = strstr(name, direction);
    if (at == NULL) {
        strcpy(out, name);
        return;
    }
    char pieces[2][64] = {"", ""};
    memcpy(pieces[0], name, (size_t)(at - name));
    const char *rest = at + strlen(direction), *again = strstr(rest, direction);
    memcpy(pieces[1], rest, again == NULL ? strlen(rest) : (size_t)(again - rest));
    for (int i = 0; i < 2; i++) {
        char *dot = strrchr(pieces[0], '.');
        if (dot != NULL)
            *dot = '\0';
    }
    sprintf(out, "%s.%s%s", pieces[0], direction, pieces[1]);
}

static void reduced_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Functional.conv2d.3.forward.input.0", "Functional.conv2d.forward.input.0"},
        {"Module.a.Conv2d.forward.1.input.0", "Module.a.forward.1.input.0"},
        {"Tensor.add.0.backward.output.1", "Tensor.add.backward.output.1"},
        {"x.0.debug", "x.0.debug"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[160];
        reduce(cases[i][0], out);
        /* "Module.a.Conv2d." is cut at its last two dots like any other */
        assert_string_equal(out, cases[i][1]);
    }
}

/* Across frameworks the kind of number counts, by the names that both have. */
static void kinds_agree_across_frameworks(void **state)
{
    (void)state;
    static const struct {
        const char *npu, *bench;
        bool agree;
    } cases[] = {
        {"Float32", "torch.float64", true}, {"Int8", "torch.uint64", true},
        {"Bool", "torch.bool", true},       {"Complex64", "torch.complex128", true},
        {"Bool", "torch.uint8", false},     {"Float32", "torch.complex64", false},
        {"Float16", "float", true},         {"torch.float8_e5m2", "Float32", false},
        {"torch.int4", "torch.int4", true}, {"Int4", "torch.int8", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tdc_dtypes_agree(cases[i].npu, cases[i].bench, true, false),
                         cases[i].agree);
}

static bool agree(const struct tdc_record *n, const struct tdc_record *b)
{
    char reduced[2][160];
    reduce(n->name, reduced[0]);
    reduce(b->name, reduced[1]);
    return strcmp(reduced[0], reduced[1]) == 0 && strcmp(n->shape, b->shape) == 0;
}

struct queue {
    const struct made_dump *dump;
    size_t head, fed;
};

static bool find(const struct queue *n, const struct queue *b, size_t *a, size_t *c)
{
    const struct tdc_record *npu = n->dump->records, *bench = b->dump->records;
    for (size_t i = b->head; i + 1 < b->fed; i++)
        if (agree(&npu[n->fed - 1], &bench[i])) {
            *a = n->fed - 1;
            *c = i;
            return true;
        }
    *a = n->fed - 1;
    *c = b->fed - 1;
    if (agree(&npu[*a], &bench[*c]))
        return true;
    for (size_t i = n->head; i + 1 < n->fed; i++)
        if (agree(&npu[i], &bench[b->fed - 1])) {
            *a = i;
            return true;
        }
    return false;
}

static void naive_fuzzy(const struct made_dump *npu, const struct made_dump *bench, bool drops_rest,
                        bool same_dtype, struct tdc_pairing *pairs, size_t *count)
{
    struct queue n = {.dump = npu}, b = {.dump = bench};
    size_t most = npu->dump.record_count > bench->dump.record_count ? npu->dump.record_count
                                                                    : bench->dump.record_count;
    *count = 0;
    for (size_t i = 0; i < most; i++) {
        n.fed += n.fed < npu->dump.record_count;
        b.fed += b.fed < bench->dump.record_count;
        if ((n.head == n.fed) != (b.head == b.fed))
            break;
        size_t a, c;
        if (n.head == n.fed || !find(&n, &b, &a, &c))
            continue;
        for (; n.head < a; n.head++)
            pairs[(*count)++] = (struct tdc_pairing){(uint32_t)n.head, TDC_UNPAIRED};
        bool kept = !same_dtype ||
                    tdc_dtypes_agree(npu->records[a].dtype, bench->records[c].dtype, false, false);
        pairs[(*count)++] = (struct tdc_pairing){(uint32_t)a, kept ? (uint32_t)c : TDC_UNPAIRED};
        n.head = a + 1;
        b.head = c + 1;
    }
    for (; n.head < (drops_rest ? n.fed : npu->dump.record_count); n.head++)
        pairs[(*count)++] = (struct tdc_pairing){(uint32_t)n.head, TDC_UNPAIRED};
}

static void random_dump(struct made_dump *made, unsigned *seed, unsigned apis)
{
    static const char *const shapes[] = {"[2]", "[3]"};
    static const char *const types[] = {"torch.float32", "torch.float16", "torch.int64"};
    dump_clear(made);
    size_t count = (size_t)rand_r(seed) % 14;
    for (size_t i = 0; i < count; i++) {
        char name[64];
        unsigned api = (unsigned)rand_r(seed) % apis;
        snprintf(name, sizeof name, "Functional.f%u.%d.%s.input.%d", api, rand_r(seed) % 3,
                 rand_r(seed) % 4 == 0 ? "backward" : "forward", rand_r(seed) % 2);
        dump_add(made, name, shapes[rand_r(seed) % 8 == 0], types[rand_r(seed) % 8 % 3]);
    }
}

static void fuzzy_is_the_procedure_of_the_specification(void **state)
{
    (void)state;
    static struct made_dump npu, bench;
    unsigned seed = 20240229;
    size_t paired = 0;
    for (int trial = 0; trial < 20000; trial++) {
        unsigned apis = 1 + (unsigned)trial % 5;
        random_dump(&npu, &seed, apis);
        random_dump(&bench, &seed, apis);
        struct tdc_match_rules rules = {.fuzzy_drops_rest = trial % 2 == 0,
                                        .same_dtype_only = trial % 3 == 0};
        struct tdc_options options = {.flags = TDC_OPTION_FUZZY};
        struct tdc_match *match;
        assert_int_equal(tdc_match_build(&npu.dump, &bench.dump, &rules, &options, &match, NULL),
                         TDC_OK);
        struct tdc_pairing expected[MOST];
        size_t count;
        naive_fuzzy(&npu, &bench, rules.fuzzy_drops_rest, rules.same_dtype_only, expected, &count);
        assert_int_equal(match->count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(match->pairs[i].npu, expected[i].npu);
            assert_int_equal(match->pairs[i].bench, expected[i].bench);
            paired += expected[i].bench != TDC_UNPAIRED;
        }
        tdc_match_free(match);
    }
    assert_true(paired > 20000);
}

/* ---- mode ------------------------------------------------------------------------------------ */

static void modes(void **state)
{
    (void)state;
    static const struct {
        const char *npu, *bench;
        bool npu_digests, bench_digests;
        tdc_status status;
        tdc_mode mode;
    } cases[] = {
        {"tensor", "tensor", true, false, TDC_OK, TDC_MODE_TENSOR},
        {"statistics", "statistics", false, false, TDC_OK, TDC_MODE_STATISTICS},
        {"statistics", "statistics", true, true, TDC_OK, TDC_MODE_DIGEST},
        {"statistics", "statistics", true, false, TDC_ERR_MISMATCH, TDC_MODE_TENSOR},
        {"tensor", "statistics", false, false, TDC_ERR_MISMATCH, TDC_MODE_TENSOR},
        {"structure", "structure", false, false, TDC_ERR_MISMATCH, TDC_MODE_TENSOR},
        {NULL, "tensor", false, false, TDC_ERR_MISMATCH, TDC_MODE_TENSOR},
        {"tensor", NULL, false, false, TDC_ERR_MISMATCH, TDC_MODE_TENSOR},
    };
    static struct made_dump npu, bench;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dump_clear(&npu);
        dump_clear(&bench);
        npu.dump.task = cases[i].npu;
        bench.dump.task = cases[i].bench;
        npu.dump.digests = cases[i].npu_digests;
        bench.dump.digests = cases[i].bench_digests;
        tdc_mode mode;
        struct tdc_error error = {0};
        struct tdc_match_rules rules = {.msprobe_records = true};
        assert_int_equal(tdc_match_find_mode(&npu.dump, &bench.dump, &rules, &mode, &error),
                         cases[i].status);
        if (cases[i].status == TDC_OK)
            assert_int_equal(mode, cases[i].mode);
        else
            assert_int_not_equal(error.message[0], '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_agree_across_frameworks),
        cmocka_unit_test(repeated_names_give_the_cross_product),
        cmocka_unit_test(repeated_names_are_bounded),
        cmocka_unit_test(shapes_are_part_of_the_key_for_msprobe),
        cmocka_unit_test(types_take_pairs_apart),
        cmocka_unit_test(empty_sides),
        cmocka_unit_test(mapped_names),
        cmocka_unit_test(reduced_names),
        cmocka_unit_test(fuzzy_is_the_procedure_of_the_specification),
        cmocka_unit_test(modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
