#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "io/file/unzip.h"
#include "tests/support/made_book.h"
#include "tests/support/temporary_folder.h"

static struct temporary_folder folder;
static struct tdc_arena arena;

static int start(void **state)
{
    (void)state;
    folder_make(&folder);
    tdc_arena_init(&arena, (size_t)16 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    tdc_arena_free(&arena);
    folder_remove(&folder);
    return 0;
}

static char long_text[5000];

/* Three deflated members, two of the same name. */
static const char *made(void)
{
    memset(long_text, 'x', sizeof long_text);
    const char *path = folder_file(&folder, "t.zip");
    const struct book_part parts[] = {
        {"pip", "first", 5}, {"weights/rank0", long_text, sizeof long_text}, {"pip", "last", 4}};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(make_book(fd, parts, 3));
    close(fd);
    return path;
}

static void members_are_read_by_name(void **state)
{
    (void)state;
    struct tdc_unzip zip;
    struct tdc_error error = {0};
    const char *content;
    size_t size;
    assert_int_equal(tdc_unzip_open(made(), &arena, &zip, &error), TDC_OK);
    assert_int_equal(zip.count, 3);
    assert_null(tdc_unzip_find(&zip, "weights"));
    assert_ptr_equal(tdc_unzip_find(&zip, "pip"), &zip.members[2]);
    assert_int_equal(tdc_unzip_read(&zip, &zip.members[2], &arena, &content, &size, &error),
                     TDC_OK);
    assert_string_equal(content, "last");
    assert_int_equal(tdc_unzip_read(&zip, tdc_unzip_find(&zip, "weights/rank0"), &arena, &content,
                                    &size, &error),
                     TDC_OK);
    assert_int_equal(size, sizeof long_text);
    assert_memory_equal(content, long_text, size);
}

/* One bit of the file changed: it is told or makes no difference. */
static void changed_bits_change_no_text(void **state)
{
    (void)state;
    size_t length = 0, told = 0;
    char *bytes = file_content(made(), &length);
    assert_non_null(bytes);
    for (size_t i = 0; i < length; i++) {
        bytes[i] ^= 4;
        struct tdc_arena own;
        tdc_arena_init(&own, (size_t)16 << 20);
        struct tdc_unzip zip;
        struct tdc_error error = {0};
        const char *content;
        size_t size;
        tdc_status status = tdc_unzip_start("t", bytes, length, &own, &zip, &error);
        if (status == TDC_OK && zip.count == 3)
            status = tdc_unzip_read(&zip, &zip.members[1], &own, &content, &size, &error);
        if (status != TDC_OK)
            told++;
        else if (zip.count == 3)
            assert_memory_equal(content, long_text, sizeof long_text);
        tdc_arena_free(&own);
        bytes[i] ^= 4;
    }
    assert_true(told > 40);
    free(bytes);
}

static void what_is_no_archive(void **state)
{
    (void)state;
    struct tdc_unzip zip;
    struct tdc_error error = {0};
    assert_int_equal(tdc_unzip_start("t", "PK", 2, &arena, &zip, &error), TDC_ERR_FORMAT);
    unsigned char end[22] = "PK\5\6";
    assert_int_equal(tdc_unzip_start("t", end, sizeof end, &arena, &zip, &error), TDC_OK);
    assert_int_equal(zip.count, 0);
    end[8] = end[10] = 1;
    assert_int_equal(tdc_unzip_start("t", end, sizeof end, &arena, &zip, &error), TDC_ERR_FORMAT);
    assert_int_equal(tdc_unzip_open(folder_file(&folder, "none"), &arena, &zip, &error),
                     TDC_ERR_NOT_FOUND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(members_are_read_by_name),
        TEST(changed_bits_change_no_text),
        TEST(what_is_no_archive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
