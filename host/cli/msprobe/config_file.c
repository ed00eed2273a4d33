#include "host/cli/msprobe/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/cli/shared/command.h"

#define CONFIG_LIMIT ((size_t)16 << 20)

cJSON *tdc_config_file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        tdc_complain("%s: %s", path, strerror(errno));
        if (file != NULL)
            fclose(file);
        return NULL;
    }
    cJSON *config = NULL;
    if (!S_ISREG(info.st_mode) || (size_t)info.st_size > CONFIG_LIMIT) {
        tdc_complain("%s: not a small file", path);
    } else {
        size_t size = (size_t)info.st_size;
        char *text = malloc(size + 1);
        if (text != NULL && fread(text, 1, size, file) == size)
            config = cJSON_ParseWithLength(text, size);
        if (config == NULL)
            tdc_complain("%s: not a JSON file", path);
        free(text);
    }
    fclose(file);
    return config;
}
