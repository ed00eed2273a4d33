#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/file/out_file.h"
#include "tests/support/temporary_folder.h"

static void appears_whole_with_its_mode(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "result.csv");
    for (int round = 0; round < 2; round++) { /* the second replaces the first */
        mode_t mask = umask(round == 0 ? 0077 : 0000);
        struct tdc_out_file file;
        struct tdc_error error;
        assert_int_equal(tdc_out_file_open(path, &file, &error), TDC_OK);
        assert_int_equal(write(file.fd, round == 0 ? "one" : "two", 3), 3);
        assert_int_equal(folder_entries(&folder), 1 + (size_t)round);
        assert_int_equal(access(path, F_OK), round == 0 ? -1 : 0);
        assert_int_equal(tdc_out_file_commit(&file, &error), TDC_OK);
        tdc_out_file_discard(&file); /* harmless */
        umask(mask);
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0640);
        assert_int_equal(folder_entries(&folder), 1);
        char *content = file_content(path, NULL);
        assert_string_equal(content, round == 0 ? "one" : "two");
        free(content);
    }
    folder_remove(&folder);
}

static void discard_leaves_nothing(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    struct tdc_out_file file;
    assert_int_equal(tdc_out_file_open(folder_file(&folder, "x"), &file, NULL), TDC_OK);
    assert_int_equal(folder_entries(&folder), 1);
    tdc_out_file_discard(&file);
    tdc_out_file_discard(&file);
    assert_int_equal(folder_entries(&folder), 0);
    folder_remove(&folder);
}

static void assert_refused(const char *path, const char *reason)
{
    struct tdc_out_file file;
    struct tdc_error error;
    assert_int_equal(tdc_out_file_open(path, &file, &error), TDC_ERR_WRITE);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, reason));
    tdc_out_file_discard(&file);
}

static void bad_targets_say_why(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    assert_refused(folder_file(&folder, "missing/x.csv"), "No such file or directory");
    assert_refused(folder.path, "Is a directory");
    close(open(folder_file(&folder, "plain"), O_CREAT | O_WRONLY, 0600));
    assert_refused(folder_file(&folder, "plain/x.csv"), "Not a directory");
    struct tdc_out_file file;
    assert_int_equal(tdc_out_file_open("", &file, NULL), TDC_ERR_ARGUMENT);
    assert_int_equal(folder_entries(&folder), 1);
    folder_remove(&folder);
}

static void failed_rename_removes_the_temporary(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    struct tdc_out_file file;
    struct tdc_error error;
    const char *path = folder_file(&folder, "result");
    assert_int_equal(tdc_out_file_open(path, &file, NULL), TDC_OK);
    assert_int_equal(mkdir(path, 0700), 0); /* comes into the way while it is written */
    assert_int_equal(tdc_out_file_commit(&file, &error), TDC_ERR_WRITE);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(folder_entries(&folder), 1);
    assert_int_equal(rmdir(path), 0);
    folder_remove(&folder);
}

static void long_names_and_many_files(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    struct tdc_out_file files[64];
    struct tdc_error error;
    for (int i = 0; i < 64; i++) {
        name[0] = (char)('0' + i);
        assert_int_equal(tdc_out_file_open(folder_file(&folder, name), &files[i], &error), TDC_OK);
    }
    struct tdc_out_file more;
    assert_int_equal(tdc_out_file_open(folder_file(&folder, "more"), &more, &error),
                     TDC_ERR_SYSTEM);
    assert_int_equal(tdc_out_file_commit(&files[7], &error), TDC_OK);
    assert_int_equal(tdc_out_file_open(folder_file(&folder, "more"), &more, &error), TDC_OK);
    tdc_out_files_remove();
    assert_int_equal(folder_entries(&folder), 1); /* the completed one */
    assert_int_equal(tdc_out_file_commit(&more, &error), TDC_ERR_WRITE);
    for (int i = 0; i < 64; i++)
        tdc_out_file_discard(&files[i]);
    assert_int_equal(folder_entries(&folder), 1);
    folder_remove(&folder);
}

static void stop(int number)
{
    tdc_out_files_remove();
    _exit(number);
}

static void interrupted_process_leaves_nothing(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGINT, stop);
        struct tdc_out_file files[3];
        for (int i = 0; i < 3; i++) {
            char name[8] = {(char)('a' + i)};
            if (tdc_out_file_open(folder_file(&folder, name), &files[i], NULL) != TDC_OK)
                _exit(99);
        }
        if (write(ready[1], "r", 1) != 1)
            _exit(98);
        for (;;)
            if (write(files[1].fd, "row\n", 4) < 0 || lseek(files[1].fd, 0, SEEK_SET) < 0)
                _exit(97);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(folder_entries(&folder), 3);
    assert_int_equal(kill(child, SIGINT), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), SIGINT);
    assert_int_equal(folder_entries(&folder), 0);
    close(ready[0]);
    close(ready[1]);
    folder_remove(&folder);
}

static void folders_are_made_with_parents(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    struct tdc_error error;
    struct stat status;
    mode_t mask = umask(0077);
    assert_int_equal(tdc_make_folders(folder_file(&folder, "a//b/c/"), &error), TDC_OK);
    umask(mask);
    assert_int_equal(stat(folder_file(&folder, "a/b/c"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0750);
    assert_int_equal(stat(folder_file(&folder, "a"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0750);
    assert_int_equal(chmod(folder_file(&folder, "a"), 0700), 0);
    assert_int_equal(tdc_make_folders(folder_file(&folder, "a/b"), &error), TDC_OK);
    assert_int_equal(stat(folder_file(&folder, "a"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700); /* what exists is left alone */
    assert_int_equal(tdc_make_folders("/", &error), TDC_OK);
    assert_int_equal(tdc_make_folders("", &error), TDC_ERR_ARGUMENT);
    close(open(folder_file(&folder, "file"), O_CREAT | O_WRONLY, 0600));
    assert_int_equal(tdc_make_folders(folder_file(&folder, "file"), &error), TDC_ERR_WRITE);
    assert_non_null(strstr(error.message, "in the way"));
    assert_int_equal(tdc_make_folders(folder_file(&folder, "file/x"), &error), TDC_ERR_WRITE);
    assert_non_null(strstr(error.message, "in the way"));
    assert_int_equal(symlink("nowhere", folder_file(&folder, "link")), 0);
    assert_int_equal(tdc_make_folders(folder_file(&folder, "link"), &error), TDC_ERR_WRITE);
    assert_int_equal(rmdir(folder_file(&folder, "a/b/c")), 0);
    assert_int_equal(rmdir(folder_file(&folder, "a/b")), 0);
    assert_int_equal(rmdir(folder_file(&folder, "a")), 0);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appears_whole_with_its_mode),
        cmocka_unit_test(discard_leaves_nothing),
        cmocka_unit_test(bad_targets_say_why),
        cmocka_unit_test(failed_rename_removes_the_temporary),
        cmocka_unit_test(long_names_and_many_files),
        cmocka_unit_test(interrupted_process_leaves_nothing),
        cmocka_unit_test(folders_are_made_with_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
