#include "host/terminal/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/terminal/next_option.h"

/* Where a name stands among those of an enumeration, which may have gaps. */
static bool find_name(const char *const *names, size_t count, const char *name, size_t *at)
{
    for (*at = 0; *at < count; (*at)++)
        if (names[*at] != NULL && strcmp(name, names[*at]) == 0)
            return true;
    return false;
}

const struct tdc_format_name tdc_format_names[TDC_FORMAT_NAMES] = {
    {TDC_FORMAT_XLSX, "xlsx"},
    {TDC_FORMAT_CSV, "csv"},
    {TDC_FORMAT_JSON, "json"},
    {TDC_FORMAT_JSONL, "jsonl"},
};

static unsigned format_named(const char *name, size_t length)
{
    static const char page[] = "html";
    if (length == sizeof page - 1 && strncmp(name, page, length) == 0)
        return TDC_FORMATS_PAGE;
    for (size_t i = 0; i < TDC_FORMAT_NAMES; i++)
        if (strlen(tdc_format_names[i].name) == length &&
            strncmp(tdc_format_names[i].name, name, length) == 0)
            return (unsigned)tdc_format_names[i].format;
    return 0;
}

bool tdc_parse_formats(const char *list, unsigned *formats)
{
    *formats = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        unsigned format = format_named(list, length);
        if (format == 0)
            return false;
        *formats |= format;
        list += length + (list[length] == ',');
    }
    return *formats != 0;
}

unsigned tdc_format_of_file(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (dot == NULL || (slash != NULL && slash > dot))
        return 0;
    return format_named(dot + 1, strlen(dot + 1));
}

static const char *const rules_names[] = {[TDC_RULES_COMPAT] = "msprobe",
                                          [TDC_RULES_SOUND] = "sound",
                                          [TDC_RULES_COMPAT26] = "msprobe26"};
static const char *const older_rules_names[] = {
    [TDC_RULES_COMPAT] = "compat", [TDC_RULES_COMPAT26] = "compat26"};

bool tdc_parse_rules(const char *name, tdc_rules_id *rules)
{
    size_t at;
    bool found = find_name(rules_names, sizeof rules_names / sizeof *rules_names, name, &at) ||
                 find_name(older_rules_names, sizeof older_rules_names / sizeof *older_rules_names,
                           name, &at);
    if (found)
        *rules = (tdc_rules_id)at;
    return found;
}

const char *tdc_name_of_rules(tdc_rules_id rules)
{
    return rules_names[rules];
}

bool tdc_parse_io(const char *name, tdc_io *io)
{
    static const char *const names[] = {[TDC_IO_AUTO] = "auto",
                                        [TDC_IO_MMAP] = "mmap",
                                        [TDC_IO_PREAD] = "pread",
                                        [TDC_IO_DIRECT] = "direct"};
    size_t at;
    bool found = find_name(names, sizeof names / sizeof *names, name, &at);
    if (found)
        *io = (tdc_io)at;
    return found;
}

bool tdc_parse_precheck_rules(const char *name, struct tdc_precheck_options *options)
{
    tdc_rules_id rules = TDC_RULES_SOUND;
    if (strcmp(name, "extended") != 0 && !tdc_parse_rules(name, &rules))
        return false;
    options->profile = rules == TDC_RULES_SOUND ? TDC_PROFILE_EXTENDED : TDC_PROFILE_COMPAT;
    if (rules == TDC_RULES_COMPAT26)
        options->flags |= TDC_PRECHECK_STANDARDS26;
    return true;
}

/* Blanks of a level may be dashes: no-data. */
static bool is_level(tdc_row_class level, const char *word, size_t length)
{
    const char *text = tdc_level_text(level);
    if (strlen(text) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (word[i] != text[i] && !(word[i] == '-' && text[i] == ' '))
            return false;
    return true;
}

bool tdc_parse_levels(const char *list, unsigned *classes)
{
    *classes = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        unsigned level = TDC_ROW_NONE;
        while (level < TDC_ROW_CLASSES && !is_level((tdc_row_class)level, list, length))
            level++;
        if (level == TDC_ROW_CLASSES)
            return false;
        *classes |= 1u << level;
        list += length + (list[length] == ',');
    }
    return *classes != 0;
}

bool tdc_parse_tested(const char *name, tdc_tested *tested)
{
    static const char *const names[] = {[TDC_TESTED_AUTO] = "auto",
                                        [TDC_TESTED_RECORDED] = "recorded",
                                        [TDC_TESTED_EXECUTED] = "execute"};
    size_t at;
    bool found = find_name(names, sizeof names / sizeof *names, name, &at);
    if (found)
        *tested = (tdc_tested)at;
    return found;
}

bool tdc_parse_rounding(const char *name, tdc_bench_round *rounding)
{
    static const char *const names[] = {
        [TDC_ROUND_AUTO] = "auto", [TDC_ROUND_NEVER] = "none", [TDC_ROUND_TESTED] = "tested"};
    size_t at;
    bool found = find_name(names, sizeof names / sizeof *names, name, &at);
    if (found)
        *rounding = (tdc_bench_round)at;
    return found;
}

bool tdc_parse_standard(const char *name, tdc_standard *standard)
{
    *standard = strcmp(name, "pytorch") == 0 ? TDC_STANDARD_PYTORCH : TDC_STANDARD_COSINE;
    return strcmp(name, "pytorch") == 0 || strcmp(name, "cosine") == 0;
}

bool tdc_take_io_timeout(const char *seconds)
{
    double value;
    if (!tdc_parse_real(seconds, &value) || value < 0)
        return tdc_wrong_value("--io-timeout", seconds, "a number of seconds, 0 for no limit");
    tdc_io_timeout(value);
    return true;
}

bool tdc_parse_real(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

bool tdc_parse_number(const char *text, int least, int *number)
{
    char *end;
    long value = strtol(text, &end, 10);
    *number = (int)value;
    return end != text && *end == '\0' && value >= least && value <= 1000000;
}
