#include "host/cli/shared/page_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/cli/shared/command.h"
#include "host/terminal/command_line.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "io/storage/looking.h"

bool tdc_page_format(const char *value)
{
    return strcmp(value, "html") == 0 || tdc_wrong_value("--format", value, "html");
}

tdc_html_report *tdc_page_new(int argc, char **argv, int threads)
{
    struct tdc_html_report_options options;
    struct tdc_error error = {0};
    tdc_html_report *report = NULL;
    time_t now = time(NULL);
    struct tm local;
    char moment[32] = "";
    if (localtime_r(&now, &local) != NULL)
        strftime(moment, sizeof moment, "%Y%m%d%H%M%S", &local);
    const char **words = tdc_command_words(argc, argv);
    char *command = words != NULL ? tdc_command_line(words, (size_t)argc + 1) : NULL;
    tdc_html_report_options_init(&options, sizeof options);
    options.command = command;
    options.time = moment;
    options.threads = threads;
    if (tdc_html_report_new(&options, &report, &error) != TDC_OK)
        tdc_complain("%s", error.message);
    free(command);
    free(words);
    return report;
}

/* A name that nobody has; NULL when out of memory. */
static char *new_name(const char *folder, const char *stem, const tdc_stamp *stamp)
{
    char *path;
    if (asprintf(&path, "%s/%s_report_%s.html", folder, stem, tdc_stamp_text(stamp)) < 0)
        return NULL;
    return path;
}

static tdc_status write_page(tdc_html_report *report, const char *folder, const char *stem,
                             char **path, struct tdc_error *error)
{
    tdc_stamp *stamp = NULL;
    tdc_status status = tdc_stamp_new(folder, &stamp, error);
    while (status == TDC_OK) {
        *path = new_name(folder, stem, stamp);
        if (*path == NULL || !tdc_is_taken(*path))
            break;
        free(*path);
        *path = NULL;
        status = tdc_stamp_next(stamp, error);
    }
    if (status == TDC_OK && *path == NULL) {
        snprintf(error->message, sizeof error->message, "out of memory");
        status = error->status = TDC_ERR_MEMORY;
    }
    if (status == TDC_OK)
        status = tdc_html_report_write(report, *path, TDC_OUTPUT_EXCLUSIVE, error);
    tdc_stamp_free(stamp);
    return status;
}

bool tdc_page_write(tdc_html_report *report, const char *folder, const char *stem, bool quiet)
{
    char *path = NULL;
    struct tdc_error error = {0};
    tdc_status status = write_page(report, folder, stem, &path, &error);
    if (status != TDC_OK)
        tdc_complain("%s", error.message);
    else if (!quiet)
        printf("Wrote %s\n", tdc_shown(path));
    free(path);
    return status == TDC_OK;
}
