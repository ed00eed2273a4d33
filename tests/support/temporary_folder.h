/* temporary_folder.h - a folder for one test, and what is in it. For cmocka programs. */
#ifndef TDC_TESTS_TEMPORARY_FOLDER_H
#define TDC_TESTS_TEMPORARY_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct temporary_folder {
    char path[512];
};

static inline void folder_make(struct temporary_folder *folder)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder->path, sizeof folder->path, "%s/tdcmp-test-XXXXXX",
             base == NULL || base[0] == '\0' ? "/tmp" : base);
    assert_non_null(mkdtemp(folder->path));
}

/* A name in the folder; good until the next call but three. */
static inline const char *folder_file(const struct temporary_folder *folder, const char *name)
{
    static char paths[4][1024];
    static size_t turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder->path, name);
    return path;
}

static inline size_t folder_entries(const struct temporary_folder *folder)
{
    DIR *directory = opendir(folder->path);
    assert_non_null(directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

/* With the files in it; folders in it must be gone. */
static inline void folder_remove(const struct temporary_folder *folder)
{
    DIR *directory = opendir(folder->path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(folder_file(folder, entry->d_name));
    closedir(directory);
    assert_int_equal(rmdir(folder->path), 0);
}

/* The whole file, terminated; the caller frees it. NULL when there is none. */
static inline char *file_content(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *content = malloc((size_t)size + 1);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, (size_t)size, file), size);
    content[size] = '\0';
    fclose(file);
    if (length != NULL)
        *length = (size_t)size;
    return content;
}

#endif
