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

#include "io/text/yaml_map.h"
#include "tests/unit/arena_fixture.h"

static tdc_status parse_bytes(const char *bytes, size_t size, struct tdc_yaml **root)
{
    char *exact = malloc(size != 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    tdc_status status = tdc_yaml_parse(exact, size, "m.yaml", &arena, root, &error);
    free(exact);
    return status;
}

static struct tdc_yaml *parse(const char *text)
{
    struct tdc_yaml *root;
    if (parse_bytes(text, strlen(text), &root) != TDC_OK)
        fail_msg("%s", error.message);
    return root;
}

static void maps_and_lists_keep_order_and_lines(void **state)
{
    (void)state;
    const struct tdc_yaml *root = parse("# a comment\n"
                                        "first: one\n"
                                        "second:\n"
                                        "  - a\n"
                                        "  - {x: 1, 'y z': \"2\"}\n"
                                        "third: [p, q]\n"
                                        "1: yes\n"
                                        "<<: merged\n"
                                        "block: |\n"
                                        "  text\n");
    assert_int_equal(root->kind, TDC_YAML_MAP);
    assert_int_equal(root->children, 6);
    assert_int_equal(root->line, 2);
    const struct tdc_yaml *node = root->child;
    assert_string_equal(node->key, "first");
    assert_string_equal(node->text, "one");
    assert_int_equal(node->key_line, 2);
    assert_int_equal(node->line, 2);
    assert_false(node->quoted);
    node = node->next;
    assert_string_equal(node->key, "second");
    assert_int_equal(node->kind, TDC_YAML_LIST);
    assert_int_equal(node->key_line, 3);
    assert_int_equal(node->line, 4);
    assert_int_equal(node->children, 2);
    assert_string_equal(node->child->text, "a");
    assert_null(node->child->key);
    const struct tdc_yaml *flow = node->child->next;
    assert_int_equal(flow->kind, TDC_YAML_MAP);
    assert_string_equal(flow->child->key, "x");
    assert_string_equal(flow->child->text, "1");
    assert_string_equal(flow->child->next->key, "y z");
    assert_true(flow->child->next->quoted);
    assert_int_equal(flow->child->next->line, 5);
    node = node->next;
    assert_string_equal(node->key, "third");
    assert_int_equal(node->children, 2);
    node = node->next;
    assert_string_equal(node->key, "1");
    assert_string_equal(node->text, "yes");
    node = node->next;
    assert_string_equal(node->key, "<<");
    node = node->next;
    assert_string_equal(node->text, "text\n");
    assert_true(node->quoted);
    assert_null(node->next);
}

static void nulls_are_marked(void **state)
{
    (void)state;
    const struct tdc_yaml *root = parse("a: ~\nb: null\nc: Null\nd: NULL\ne:\nf: ''\ng: 'null'\n"
                                        "h: nULL\ni: none\nj: \"~\"\n");
    const char *expected = "1111100000";
    for (const struct tdc_yaml *node = root->child; node != NULL; node = node->next, expected++)
        assert_int_equal(node->is_null, *expected == '1');
    assert_string_equal(root->child->text, "~");
    assert_string_equal(root->child->next->next->next->next->text, "");
    assert_true(parse("---\n")->is_null);
    assert_string_equal(parse("~: x")->child->key, "~");
}

static void empty_file_has_no_root(void **state)
{
    (void)state;
    assert_null(parse(""));
    assert_null(parse("\n\n# only a comment\n"));
    struct tdc_yaml *root;
    assert_int_equal(tdc_yaml_parse(NULL, 0, "m.yaml", &arena, &root, &error), TDC_OK);
    assert_null(root);
    assert_string_equal(parse("one scalar")->text, "one scalar");
    assert_string_equal(parse("\xef\xbb\xbf"
                              "a: 1")
                            ->child->key,
                        "a");
}

static void unwanted_content_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        tdc_status status;
        const char *message;
    } cases[] = {
        {"a: 1\nb: &x 2\n", TDC_ERR_UNSUPPORTED, "m.yaml:2: anchors (&) are not supported"},
        {"a: &x [1]\n", TDC_ERR_UNSUPPORTED, "m.yaml:1: anchors (&) are not supported"},
        {"a:\n  &x b: c\n", TDC_ERR_UNSUPPORTED, "m.yaml:2: anchors (&) are not supported"},
        {"a: 1\nb: *x\n", TDC_ERR_UNSUPPORTED, "m.yaml:2: aliases (*) are not supported"},
        {"a: !!python/object:os.system 2\n", TDC_ERR_UNSUPPORTED,
         "m.yaml:1: tags (!) are not supported"},
        {"\n\n- !x {a: 1}\n", TDC_ERR_UNSUPPORTED, "m.yaml:3: tags (!) are not supported"},
        {"- !!seq []\n", TDC_ERR_UNSUPPORTED, "m.yaml:1: tags (!) are not supported"},
        {"a: ! b\n", TDC_ERR_UNSUPPORTED, "m.yaml:1: tags (!) are not supported"},
        {"a: 1\n---\nb: 2\n", TDC_ERR_UNSUPPORTED, "m.yaml:2: a second document begins"},
        {"? [a, b]\n: c\n", TDC_ERR_UNSUPPORTED, "m.yaml:1: a list or map as a key"},
        {"x: 1\n{a: b}: c\n", TDC_ERR_UNSUPPORTED, "m.yaml:2: a list or map as a key"},
        {"a: 1\nb: 2\na: 3\n", TDC_ERR_FORMAT, "m.yaml:3: key 'a' was given before, in line 1"},
        {"m: {a: 1,\n 'a': 2}\n", TDC_ERR_FORMAT, "m.yaml:2: key 'a' was given before, in line 1"},
        {"a: b: c\n", TDC_ERR_FORMAT, "m.yaml:1: mapping values are not allowed in this context"},
        {"a: 'b\n", TDC_ERR_FORMAT, "m.yaml:2: found unexpected end of stream"},
        {"a: [1, 2\n", TDC_ERR_FORMAT, "m.yaml:2: did not find expected ',' or ']'"},
        {"a:\n\t- b\n", TDC_ERR_FORMAT, "m.yaml:2: found character that cannot start any token"},
        {"a: b\n- c\n", TDC_ERR_FORMAT, "m.yaml:2: did not find expected key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_yaml *root;
        tdc_status status = parse_bytes(cases[i].yaml, strlen(cases[i].yaml), &root);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(status, cases[i].status);
        assert_null(root);
    }
}

static void invalid_bytes_are_refused(void **state)
{
    (void)state;
    struct tdc_yaml *root;
    assert_int_equal(parse_bytes("a: 1\nb: \xff\n", 10, &root), TDC_ERR_FORMAT);
    assert_non_null(strstr(error.message, "m.yaml:"));
    assert_non_null(strstr(error.message, "(byte 8)"));
    assert_int_equal(parse_bytes("a: \0b\n", 6, &root), TDC_ERR_FORMAT);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char text[200];
    struct tdc_yaml *root;
    for (size_t depth = 60; depth < 90; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        tdc_status status = parse_bytes(text, 2 * depth, &root);
        assert_int_equal(status, depth <= 64 ? TDC_OK : TDC_ERR_UNSUPPORTED);
    }
    assert_string_equal(error.message, "m.yaml:1: nested deeper than 64");
}

static void repeated_key_is_found_in_a_large_map(void **state)
{
    (void)state;
    const int members = 100000;
    char *text = malloc((size_t)members * 16 + 16);
    assert_non_null(text);
    size_t size = 0;
    for (int i = 1; i <= members; i++)
        size += (size_t)sprintf(text + size, "k%d: v\n", i);
    struct tdc_yaml *root;
    assert_int_equal(parse_bytes(text, size, &root), TDC_OK);
    assert_int_equal(root->children, members);
    size += (size_t)sprintf(text + size, "k777: w\n");
    assert_int_equal(parse_bytes(text, size, &root), TDC_ERR_FORMAT);
    assert_string_equal(error.message, "m.yaml:100001: key 'k777' was given before, in line 777");
    struct tdc_arena small;
    tdc_arena_init(&small, (size_t)1 << 20);
    assert_int_equal(tdc_yaml_parse(text, size, "m.yaml", &small, &root, &error), TDC_ERR_MEMORY);
    assert_string_equal(error.message, "m.yaml: too large for the memory limit");
    tdc_arena_free(&small);
    free(text);
}

static void files_are_loaded(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    char folder[2000], path[2100];
    snprintf(folder, sizeof folder, "%s/tdc_yaml_XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/map.yaml", folder);
    struct tdc_yaml *root;
    assert_int_equal(tdc_yaml_load(path, &arena, &root, &error), TDC_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("npu: bench\n", file);
    fclose(file);
    assert_int_equal(tdc_yaml_load(path, &arena, &root, &error), TDC_OK);
    assert_string_equal(root->child->key, "npu");
    assert_string_equal(root->child->text, "bench");
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(tdc_yaml_load(path, &arena, &root, &error), TDC_OK);
    assert_null(root);
    assert_int_equal(truncate(path, ((off_t)1 << 30) + 1), 0);
    assert_int_equal(tdc_yaml_load(path, &arena, &root, &error), TDC_ERR_MEMORY);
    assert_non_null(strstr(error.message, "larger than 1 GiB"));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tdc_yaml_load(path, &arena, &root, &error), TDC_ERR_READ);
    unlink(path);
    assert_int_equal(tdc_yaml_load(folder, &arena, &root, &error), TDC_ERR_READ);
    assert_non_null(strstr(error.message, "not a regular file"));
    rmdir(folder);
}

int main(void)
{
#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(maps_and_lists_keep_order_and_lines),
        WITH_ARENA(nulls_are_marked),
        WITH_ARENA(empty_file_has_no_root),
        WITH_ARENA(unwanted_content_is_refused_with_its_line),
        WITH_ARENA(invalid_bytes_are_refused),
        WITH_ARENA(depth_is_bounded),
        WITH_ARENA(repeated_key_is_found_in_a_large_map),
        WITH_ARENA(files_are_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
