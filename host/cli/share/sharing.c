#include "host/cli/share/sharing.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/share/place.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

const struct tdc_program_team *tdc_program_team;

/* ---- options --------------------------------------------------------------------------------- */

bool tdc_sharing_take_shard(struct tdc_sharing *sharing, int argc, char **argv)
{
    unsigned index, count;
    sharing->shard = true;
    sharing->value = optarg;
    if (optarg == NULL && optind < argc && tdc_parse_place(argv[optind], &index, &count))
        sharing->value = argv[optind++];
    return sharing->value == NULL || tdc_parse_place(sharing->value, &index, &count) ||
           tdc_wrong_value("--shard", sharing->value, "I/N, I from 0 to N - 1");
}

/* Options that change what is shown or how fast it is, and not what is found. */
static bool is_free(const char *name)
{
    static const char *const names[] = {"threads", "io",    "io-timeout", "quiet", "verbose",
                                        "color",   "shard", "restart",    "top"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

bool tdc_sharing_note(struct tdc_sharing *sharing, const struct option *options, int option)
{
    if (sharing->stream == NULL)
        sharing->stream = open_memstream(&sharing->settings, &sharing->settings_size);
    if (sharing->stream == NULL) {
        tdc_complain("out of memory");
        return false;
    }
    for (; options->name != NULL; options++)
        if (options->val == option)
            break;
    if (options->name != NULL && !is_free(options->name))
        fprintf(sharing->stream, "--%s=%s\n", options->name, optarg != NULL ? optarg : "");
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* "--shard", as it may be shortened, or "--restart". */
static bool is_option(const char *word, const char *name, size_t least)
{
    size_t length = strcspn(word, "=");
    return length >= least && length <= strlen(name) && strncmp(word, name, length) == 0;
}

/* Processes of one run differ in these words; one process alone would not have them. */
static bool list_words(struct tdc_sharing *sharing, const char *const *words, size_t count)
{
    unsigned index, of;
    sharing->words = calloc(count + 1, sizeof *sharing->words);
    if (sharing->words == NULL) {
        tdc_complain("out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool shard = is_option(words[i], "--shard", 4);
        if (shard && strchr(words[i], '=') == NULL && i + 1 < count &&
            tdc_parse_place(words[i + 1], &index, &of))
            i++;
        else if (!shard && !is_option(words[i], "--restart", 5))
            sharing->words[sharing->word_count++] = words[i];
    }
    return true;
}

/* The text of the settings is whole once its stream is flushed; nothing is left to fail when it is
 * closed. */
static bool end_settings(struct tdc_sharing *sharing)
{
    bool whole;
    do
        whole = fflush(sharing->stream) == 0;
    while (!whole && errno == EINTR);
    whole = whole && ferror(sharing->stream) == 0 && sharing->settings != NULL;
    (void)fclose(sharing->stream);
    sharing->stream = NULL;
    if (!whole)
        tdc_complain("out of memory");
    return whole;
}

bool tdc_sharing_settle(struct tdc_sharing *sharing, const char *const *words, size_t count,
                        char *const *sides, int side_count)
{
    static const struct option none = {0};
    sharing->count = 1;
    sharing->kind = TDC_SHARE_WHOLE;
    if (sharing->merge != NULL) {
        sharing->kind = TDC_SHARE_MERGE;
    } else if (tdc_program_team != NULL) {
        sharing->kind = TDC_SHARE_TEAM;
        sharing->index = tdc_program_team->index;
        sharing->count = tdc_program_team->count;
    } else if (sharing->shard) {
        sharing->kind = TDC_SHARE_PART;
        if (sharing->value != NULL
                ? !tdc_parse_place(sharing->value, &sharing->index, &sharing->count)
                : !tdc_find_place(&sharing->index, &sharing->count))
            return false;
    }
    if (!list_words(sharing, words, count) || !tdc_sharing_note(sharing, &none, 0))
        return false;
    for (int i = 0; i < side_count; i++)
        fprintf(sharing->stream, "%s\n", sides[i]);
    return end_settings(sharing);
}

bool tdc_sharing_is_silent(void)
{
    return tdc_program_team != NULL && tdc_program_team->index != 0;
}

bool tdc_sharing_is_part(const struct tdc_sharing *sharing)
{
    return sharing->kind == TDC_SHARE_PART ||
           (sharing->kind == TDC_SHARE_TEAM && tdc_sharing_is_silent());
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Seconds before a journal is begun: TDC_JOURNAL, if it is a number. */
static void take_patience(struct tdc_share_options *options)
{
    const char *text = getenv("TDC_JOURNAL");
    double seconds;
    if (text != NULL && tdc_parse_real(text, &seconds) && seconds >= 0)
        options->patience = seconds;
}

static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == file ? strdup("/") : strndup(file, (size_t)(slash - file));
}

tdc_status tdc_sharing_begin(struct tdc_sharing *sharing, const char *name, const char *output,
                             const char *file, const struct tdc_options *options,
                             struct tdc_error *error)
{
    struct tdc_share_options share;
    tdc_share_options_init(&share, sizeof share);
    take_patience(&share);
    sharing->folder = sharing->merge != NULL ? strdup(sharing->merge)
                      : file != NULL         ? folder_of(file)
                                             : strdup(output);
    if (sharing->folder == NULL) {
        snprintf(error->message, sizeof error->message, "out of memory");
        return error->status = TDC_ERR_MEMORY;
    }
    share.kind = sharing->kind;
    share.index = sharing->index;
    share.count = sharing->count;
    share.restart = sharing->restart;
    share.folder = sharing->folder;
    share.name = name;
    share.settings = sharing->settings;
    share.words = sharing->words;
    share.word_count = sharing->word_count;
    share.context = options->context;
    share.message = options->message;
    if (tdc_program_team != NULL)
        share.team = &tdc_program_team->team;
    return tdc_share_new(&share, &sharing->share, error);
}

static void tell(const struct tdc_sharing *sharing)
{
    struct tdc_share_sums sums;
    tdc_share_tell(sharing->share, &sums, sizeof sums);
    if (sums.changed != 0 && sharing->kind != TDC_SHARE_MERGE)
        tdc_complain("%llu were done by an earlier run, but their files have changed since: done "
                     "again",
                     (unsigned long long)sums.changed);
    if (sharing->kind == TDC_SHARE_PART)
        tdc_complain("shard %u of %u: %llu done, %llu known before: %s", sharing->index,
                     sharing->count, (unsigned long long)sums.done, (unsigned long long)sums.known,
                     tdc_shown(sums.part));
    else if (sharing->kind == TDC_SHARE_TEAM)
        tdc_complain(
            "%u processes: %llu done, %llu by earlier runs, %.4g MB in %.2f s of all, %.2f "
            "s of the longest",
            sharing->count, (unsigned long long)sums.done, (unsigned long long)sums.known,
            (double)sums.bytes * 1e-6, sums.seconds, sums.longest);
    else if (sharing->kind == TDC_SHARE_MERGE && sums.processes != 0)
        tdc_complain("%llu processes: %llu done, %.4g MB in %.2f s of all, %.2f s of the longest",
                     (unsigned long long)sums.processes, (unsigned long long)sums.done,
                     (double)sums.bytes * 1e-6, sums.seconds, sums.longest);
    else if (sums.known != 0 && sharing->kind != TDC_SHARE_MERGE)
        tdc_complain("%llu were done by an earlier run, %llu by this one (--restart forgets)",
                     (unsigned long long)sums.known, (unsigned long long)sums.done);
}

bool tdc_sharing_finish(struct tdc_sharing *sharing, bool quiet)
{
    struct tdc_error error = {0};
    if (sharing->share == NULL)
        return true;
    if (tdc_share_finish(sharing->share, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return false;
    }
    if (!quiet && !tdc_sharing_is_silent())
        tell(sharing);
    return true;
}

void tdc_sharing_free(struct tdc_sharing *sharing)
{
    tdc_share_free(sharing->share);
    if (sharing->stream != NULL)
        fclose(sharing->stream);
    free(sharing->settings);
    free(sharing->words);
    free(sharing->folder);
    *sharing = (struct tdc_sharing){0};
}
