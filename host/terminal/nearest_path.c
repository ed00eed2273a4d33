#include "host/terminal/nearest_path.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/terminal/nearest.h"

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

static bool exists(const char *path, mode_t kind)
{
    struct stat info;
    return stat(path, &info) == 0 && (kind == 0 || (info.st_mode & S_IFMT) == kind);
}

/* ---- a name that is not there ---------------------------------------------------------------- */

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void free_entries(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static char *nearest_in(const char *folder, const char *word)
{
    struct dirent **entries = NULL;
    int count = scandir(folder[0] != '\0' ? folder : ".", &entries, is_shown, by_name);
    const char *names[MOST_NAMES];
    size_t held = 0;
    for (int i = 0; i < count && held < MOST_NAMES; i++)
        names[held++] = entries[i]->d_name;
    const char *nearest = held != 0 ? tdc_nearest(word, names, held) : NULL;
    char *found = nearest != NULL ? join(folder, nearest) : NULL;
    free_entries(entries, count);
    return found;
}

char *tdc_nearest_path(const char *path)
{
    char *found = strdup(path[0] == '/' ? "/" : ""), *parts = strdup(path), *rest = NULL;
    bool replaced = false;
    char *part = parts != NULL ? strtok_r(parts, "/", &rest) : NULL;
    for (; part != NULL && found != NULL; part = strtok_r(NULL, "/", &rest)) {
        char *next = join(found, part);
        if (next != NULL && !exists(next, 0)) {
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
        held = path != NULL && exists(path, S_IFREG);
        free(path);
    }
    return held;
}

/* A folder that the commands take: one with a dump, or with step, rank or process folders. */
static bool is_taken(const char *folder)
{
    struct dirent **entries = NULL;
    if (holds_dump(folder))
        return true;
    int count = scandir(folder, &entries, is_shown, by_name);
    bool taken = false;
    for (int i = 0; i < count && i < MOST_NAMES && !taken; i++) {
        const char *name = entries[i]->d_name;
        bool named = strncmp(name, "step", 4) == 0 || strncmp(name, "rank", 4) == 0 ||
                     strncmp(name, "proc", 4) == 0;
        char *inner = named ? join(folder, name) : NULL;
        taken = inner != NULL && exists(inner, S_IFDIR);
        free(inner);
    }
    free_entries(entries, count);
    return taken;
}

static char *below(const char *folder, int levels)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_shown, by_name);
    char *found = NULL;
    for (int deeper = 0; deeper < 2 && found == NULL; deeper++)
        for (int i = 0; i < count && i < MOST_NAMES && found == NULL; i++) {
            char *inner = join(folder, entries[i]->d_name);
            if (inner == NULL || !exists(inner, S_IFDIR)) {
                free(inner);
            } else if (deeper == 0 && is_taken(inner)) {
                found = inner;
            } else {
                found = deeper != 0 && levels > 1 ? below(inner, levels - 1) : NULL;
                free(inner);
            }
        }
    free_entries(entries, count);
    return found;
}

char *tdc_dump_below(const char *folder)
{
    return exists(folder, S_IFDIR) ? below(folder, 3) : NULL;
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
        if (candidate != NULL && !exists(candidate, 0)) { /* the process has another number there */
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
