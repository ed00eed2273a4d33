#include "host/terminal/nearest_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/terminal/nearest.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

/* Names of a folder that are looked at: more are no list a person has mistyped one of. */
#define MOST_NAMES 4096

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    bool slash = folder[0] != '\0' && folder[strlen(folder) - 1] == '/';
    if (folder[0] == '\0')
        return strdup(name);
    return asprintf(&path, "%s%s%s", folder, slash ? "" : "/", name) < 0 ? NULL : path;
}

/* ---- a name that is not there ---------------------------------------------------------------- */

/* The names of a folder in order, without hidden ones; none where it cannot be read. */
static struct tdc_listing names_in(const char *folder)
{
    struct tdc_listing names;
    size_t kept = 0;
    (void)tdc_storage_list(folder, &names);
    tdc_listing_sort(&names);
    for (size_t i = 0; i < names.count; i++) {
        if (names.names[i][0] != '.' && kept < MOST_NAMES)
            names.names[kept++] = names.names[i];
        else
            free(names.names[i]);
    }
    names.count = kept;
    return names;
}

static char *nearest_in(const char *folder, const char *word)
{
    struct tdc_listing names = names_in(folder[0] != '\0' ? folder : ".");
    const char *nearest = NULL;
    if (names.count != 0)
        nearest = tdc_nearest(word, (const char *const *)names.names, names.count);
    char *found = nearest != NULL ? join(folder, nearest) : NULL;
    tdc_listing_free(&names);
    return found;
}

char *tdc_nearest_path(const char *path)
{
    char *found = strdup(path[0] == '/' ? "/" : ""), *parts = strdup(path), *rest = NULL;
    bool replaced = false;
    char *part = parts != NULL ? strtok_r(parts, "/", &rest) : NULL;
    for (; part != NULL && found != NULL; part = strtok_r(NULL, "/", &rest)) {
        char *next = join(found, part);
        if (next != NULL && !tdc_is_there(next)) {
            free(next);
            next = nearest_in(found, part);
            replaced = true;
        }
        free(found);
        found = next;
    }
    free(parts);
    if (replaced && found != NULL)
        return found;
    free(found);
    return NULL;
}

/* ---- a folder without a dump ----------------------------------------------------------------- */

static bool holds_dump(const char *folder)
{
    static const char *const names[] = {"dump.json", "debug.json"};
    bool held = false;
    for (size_t i = 0; i < 2 && !held; i++) {
        char *path = join(folder, names[i]);
        held = path != NULL && tdc_is_file(path);
        free(path);
    }
    return held;
}

/* A folder that the commands take: one with a dump, or with step, rank or process folders. */
static bool is_taken(const char *folder)
{
    if (holds_dump(folder))
        return true;
    struct tdc_listing names = names_in(folder);
    bool taken = false;
    for (size_t i = 0; i < names.count && !taken; i++) {
        const char *name = names.names[i];
        bool named = strncmp(name, "step", 4) == 0 || strncmp(name, "rank", 4) == 0 ||
                     strncmp(name, "proc", 4) == 0;
        char *inner = named ? join(folder, name) : NULL;
        taken = inner != NULL && tdc_is_folder(inner);
        free(inner);
    }
    tdc_listing_free(&names);
    return taken;
}

static char *below(const char *folder, int levels)
{
    struct tdc_listing names = names_in(folder);
    char *found = NULL;
    for (int deeper = 0; deeper < 2 && found == NULL; deeper++)
        for (size_t i = 0; i < names.count && found == NULL; i++) {
            char *inner = join(folder, names.names[i]);
            if (inner == NULL || !tdc_is_folder(inner)) {
                free(inner);
            } else if (deeper == 0 && is_taken(inner)) {
                found = inner;
            } else {
                found = deeper != 0 && levels > 1 ? below(inner, levels - 1) : NULL;
                free(inner);
            }
        }
    tdc_listing_free(&names);
    return found;
}

char *tdc_dump_below(const char *folder)
{
    return tdc_is_folder(folder) ? below(folder, 3) : NULL;
}

/* ---- a dump that the other side has elsewhere ------------------------------------------------ */

char *tdc_counterpart(const char *path, const char *other)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *copy = strndup(path, length), *found = NULL;
    if (copy == NULL)
        return NULL;
    char *tail = copy + length;
    for (int parts = 0; parts < 3 && tail > copy && found == NULL; parts++) {
        do
            tail--;
        while (tail > copy && *tail != '/');
        char *candidate = join(other, *tail == '/' ? tail + 1 : tail);
        if (candidate != NULL &&
            !tdc_is_there(candidate)) { /* the process has another number there */
            char *nearest = tdc_nearest_path(candidate);
            free(candidate);
            candidate = nearest;
        }
        if (candidate != NULL && holds_dump(candidate))
            found = candidate;
        else
            free(candidate);
    }
    free(copy);
    return found;
}
