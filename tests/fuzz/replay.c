/* Runs a fuzz target over every file of the folders given, in name order: a regression test without
 * a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    fseek(file, 0, SEEK_END);
    long end = ftell(file);
    rewind(file);
    size_t size = end > 0 ? (size_t)end : 0;
    /* exactly size bytes, so that a sanitizer sees the first byte read too far */
    uint8_t *data = malloc(size != 0 ? size : 1);
    int failed = data == NULL || fread(data, 1, size, file) != size;
    fclose(file);
    if (!failed)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    return failed;
}

int main(int argc, char **argv)
{
    int files = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        int count = scandir(argv[i], &entries, NULL, alphasort);
        if (count < 0) {
            perror(argv[i]);
            return 1;
        }
        for (int k = 0; k < count; k++) {
            if (entries[k]->d_name[0] != '.') {
                char path[4096];
                snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
                failed += run_file(path);
                files++;
            }
            free(entries[k]);
        }
        free(entries);
    }
    printf("%d files, %d unreadable\n", files, failed);
    return failed != 0 || files == 0;
}
