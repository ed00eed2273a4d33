/* show_command.c - `tdcmp show RESULT CALL`. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/show/show.h"
#include "host/terminal/next_option.h"
#include "host/terminal/page.h"
#include "io/storage/looking.h"

static const char usage[] =
    "tdcmp show - one call of a finished comparison, closely\n"
    "\n"
    "usage: tdcmp show [OPTIONS] RESULT CALL\n"
    "\n"
    "RESULT is a file that tdcmp compare has written (xlsx, csv, json), or a folder of them: of "
    "its\n"
    "last run all ranks. CALL is the name of a call (Functional.linear.9, with or without its\n"
    "direction), of a row, or the number of a row in the sheet. Shown are the call stack, inputs\n"
    "and outputs of both sides, the metrics, and, while the tensors are where they were, the\n"
    "elements that are furthest off and how the errors are spread.\n"
    "\n"
    "      --test DUMP          where the dump of the test side is now\n"
    "      --ref DUMP           and that of the reference; csv does not say where they were\n"
    "  -v, --verbose            rows that agree in full too, and the whole stack\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0 the call was found, 2 it was not, or the result cannot be read\n"
    "\n"
    "example: tdcmp show result Functional.linear.9\n";

enum {
    OPTION_TEST = 256,
    OPTION_REF
};

static const struct option long_options[] = {
    {"test", required_argument, NULL, OPTION_TEST},
    {"ref", required_argument, NULL, OPTION_REF},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    const char *sides[2]; /* ref, test; NULL: as the result says */
    bool verbose, help;
};

static bool take_options(int argc, char **argv, struct settings *settings)
{
    static const struct tdc_words words = {"show", "vh", long_options};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == TDC_WRONG_OPTION)
            return false;
        if (option == 'v')
            settings->verbose = true;
        else if (option == 'h')
            settings->help = true;
        else
            settings->sides[option == OPTION_TEST] = optarg;
    }
    if (settings->help || argc - optind == 2)
        return true;
    tdc_complain("show takes a result and a call; %d given (tdcmp show --help)", argc - optind);
    return false;
}

/* ---- the dumps ------------------------------------------------------------------------------- */

/* A relative path starts where the comparison was run. */
static char *place_of(const tdc_result *result, const char *side)
{
    const char *folder = tdc_result_folder(result);
    char *path = NULL;
    if (side[0] == '/' || folder == NULL || tdc_is_readable(side))
        return strdup(side);
    return asprintf(&path, "%s/%s", folder, side) < 0 ? NULL : path;
}

/* The json of a path that a person gives. */
static char *find_json(const char *path)
{
    struct tdc_options options;
    tdc_dump_files *files = NULL;
    struct tdc_error error = {0};
    char *json = NULL;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    if (tdc_dump_files_find(path, &options, &files, &error) != TDC_OK)
        tdc_complain_of_dump(path, &error);
    else if (tdc_dump_files_count(files) > 1)
        tdc_complain("%s: %zu dumps found; name one rank of one step", path,
                     tdc_dump_files_count(files));
    else
        json = strdup(tdc_dump_files_get(files, 0)->path);
    tdc_dump_files_free(files);
    return json;
}

/* False when a dump that was named cannot be used; one the result names may be gone. */
static bool load_side(const struct settings *settings, const tdc_result *result, bool test,
                      tdc_dump **dump)
{
    const char *given = settings->sides[test], *side = tdc_result_side(result, test);
    struct tdc_error error = {0};
    char *path = given != NULL ? find_json(given) : side != NULL ? place_of(result, side) : NULL;
    *dump = NULL;
    if (path == NULL)
        return given == NULL;
    tdc_status status = tdc_dump_load(path, dump, &error);
    if (status != TDC_OK)
        tdc_complain("%s%s: %s", given == NULL ? "warning: " : "", test ? "test" : "ref",
                     error.message);
    free(path);
    return status == TDC_OK || given == NULL;
}

/* ---- one result ------------------------------------------------------------------------------ */

/* A result with the rows of the call. */
struct found {
    tdc_result *result;
    size_t *rows;
    size_t count;
    size_t worst; /* the row to worry about most */
};

static void free_found(struct found *found)
{
    free(found->rows);
    tdc_result_free(found->result);
}

static bool find_in(const char *path, const char *name, struct found *found)
{
    struct tdc_error error = {0};
    *found = (struct found){NULL, NULL, 0, 0};
    if (tdc_result_open(path, &found->result, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return false;
    }
    found->count = tdc_find_call(found->result, name, &found->rows);
    if (found->count == SIZE_MAX) {
        found->count = 0;
        tdc_complain("out of memory");
        return false;
    }
    int most = -1;
    for (size_t i = 0; i < found->count; i++) {
        int weight =
            tdc_verdict_weight(tdc_result_text(found->result, found->rows[i], TDC_RESULT_VERDICT));
        if (weight > most) {
            most = weight;
            found->worst = found->rows[i];
        }
    }
    return true;
}

static const char *worst_verdict(const struct found *found)
{
    return tdc_result_text(found->result, found->worst, TDC_RESULT_VERDICT);
}

static int print_found(const struct settings *settings, const char *path, const char *name,
                       const struct found *found)
{
    tdc_dump *dumps[2] = {NULL, NULL};
    struct tdc_shown_call call = {.result = found->result,
                                  .name = name,
                                  .rows = found->rows,
                                  .count = found->count,
                                  .width = tdc_page_width(),
                                  .verbose = settings->verbose};
    bool loaded = load_side(settings, found->result, true, &dumps[1]) &&
                  load_side(settings, found->result, false, &dumps[0]);
    call.test = dumps[1];
    call.ref = dumps[0];
    if (loaded) {
        size_t room = call.width - strlen(worst_verdict(found)) - 3;
        printf("%s   %s\n", tdc_fit(name, room), tdc_shown(worst_verdict(found)));
        printf("in %s\n", tdc_fit(path, call.width - 3));
        if (call.test == NULL || call.ref == NULL)
            printf("the result does not lead to both dumps: --test DUMP --ref DUMP name them\n");
        printf("\n");
        tdc_print_call(&call);
    }
    tdc_dump_free(dumps[0]);
    tdc_dump_free(dumps[1]);
    return loaded ? TDC_EXIT_SAME : TDC_EXIT_TROUBLE;
}

/* ---- several ranks --------------------------------------------------------------------------- */

static void print_line(const char *path, const struct found *found, size_t width)
{
    const char *slash = strrchr(path, '/');
    const char *cosine = tdc_result_text(found->result, found->worst, TDC_RESULT_COSINE);
    size_t room = width - 2 - 12 - 14 - 14;
    printf("  ");
    tdc_put_padded(stdout, tdc_fit(slash != NULL ? slash + 1 : path, room), room);
    if (found->count == 0)
        printf(" no such call\n");
    else
        printf(" %-11.11s %13.13s %13.13s\n", tdc_shown(worst_verdict(found)), tdc_shown(cosine),
               tdc_shown(tdc_result_text(found->result, found->worst, TDC_RESULT_MAX_ABS)));
}

/* A line for each rank, and the first of those that are worst in full. */
static int show_ranks(const struct settings *settings, const struct tdc_result_files *files,
                      const char *name)
{
    size_t width = tdc_page_width(), chosen = SIZE_MAX, chosen_count = 0;
    int most = -1;
    printf("%s in %zu results; the worst row of each:\n", tdc_fit(name, width - 40), files->count);
    for (size_t i = 0; i < files->count; i++) {
        struct found found;
        bool read = find_in(files->paths[i], name, &found);
        if (read) {
            print_line(files->paths[i], &found, width);
            int weight = found.count != 0 ? tdc_verdict_weight(worst_verdict(&found)) : -1;
            if (weight > most) {
                most = weight;
                chosen = i;
                chosen_count = found.count;
            }
        }
        free_found(&found);
        if (!read)
            return TDC_EXIT_TROUBLE;
    }
    printf("\n");
    struct found found;
    if (chosen_count == 0)
        chosen = 0;
    int code = TDC_EXIT_TROUBLE;
    if (find_in(files->paths[chosen], name, &found) && chosen_count != 0)
        code = print_found(settings, files->paths[chosen], name, &found);
    else if (found.result != NULL)
        tdc_complain_of_call(found.result, files->paths[chosen], name);
    free_found(&found);
    return code;
}

static int show_one(const struct settings *settings, const char *path, const char *name)
{
    struct found found;
    int code = TDC_EXIT_TROUBLE;
    if (find_in(path, name, &found) && found.count != 0)
        code = print_found(settings, path, name, &found);
    else if (found.result != NULL)
        tdc_complain_of_call(found.result, path, name);
    free_found(&found);
    return code;
}

int tdc_command_show(int argc, char **argv)
{
    struct settings settings = {{NULL, NULL}, false, false};
    if (!take_options(argc, argv, &settings))
        return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    struct tdc_result_files files;
    int code = TDC_EXIT_TROUBLE;
    if (tdc_result_files_find(argv[optind], &files))
        code = files.count == 1 ? show_one(&settings, files.paths[0], argv[optind + 1])
                                : show_ranks(&settings, &files, argv[optind + 1]);
    tdc_result_files_free(&files);
    return code;
}
