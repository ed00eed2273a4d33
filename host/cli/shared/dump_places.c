#include "host/cli/shared/dump_places.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/cli/shared/command.h"

/* graph or pynative, step folders, then rank or process folders */
#define DEPTH 3

static bool add_place(struct tdc_dump_places *places, const char *path, const char *folder)
{
    struct tdc_dump_place *grown =
        reallocarray(places->places, places->count + 1, sizeof *places->places);
    if (grown == NULL)
        return false;
    places->places = grown;
    struct tdc_dump_place *place = &grown[places->count];
    place->path = strdup(path);
    place->folder = strdup(folder);
    places->count++;
    return place->path != NULL && place->folder != NULL;
}

static int is_wanted(const struct dirent *entry)
{
    static const char *const starts[] = {"step", "rank", "proc"};
    if (strcmp(entry->d_name, "proc") == 0)
        return false; /* a process has a number */
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t length = strlen(starts[i]);
        if (strncmp(entry->d_name, starts[i], length) == 0 &&
            strspn(entry->d_name + length, "0123456789") == strlen(entry->d_name + length))
            return true;
    }
    return strcmp(entry->d_name, "graph") == 0 || strcmp(entry->d_name, "pynative") == 0;
}

static bool search(struct tdc_dump_places *places, const char *path, const char *folder, int depth)
{
    char *file;
    if (asprintf(&file, "%s/dump.json", path) < 0)
        return false;
    bool here = access(file, F_OK) == 0, fine = true;
    if (here)
        fine = add_place(places, file, folder);
    free(file);
    if (here || depth == DEPTH)
        return fine;
    struct dirent **entries;
    int count = scandir(path, &entries, is_wanted, versionsort);
    for (int i = 0; i < count; i++) {
        char *inner_path = NULL, *inner_folder = NULL;
        if (asprintf(&inner_path, "%s/%s", path, entries[i]->d_name) < 0)
            inner_path = NULL;
        if (asprintf(&inner_folder, "%s%s%s", folder, folder[0] != '\0' ? "/" : "",
                     entries[i]->d_name) < 0)
            inner_folder = NULL;
        fine = fine && inner_path != NULL && inner_folder != NULL &&
               search(places, inner_path, inner_folder, depth + 1);
        free(inner_path);
        free(inner_folder);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (fine && count <= 0 && depth > 0) {
        tdc_complain("warning: %s: no dump.json in it: nothing was dumped, or not yet", path);
        places->empty++;
    }
    return fine;
}

bool tdc_dump_places_find(const char *path, struct tdc_dump_places *places)
{
    memset(places, 0, sizeof *places);
    struct stat info;
    if (stat(path, &info) != 0) {
        tdc_complain("%s: %s", path, strerror(errno));
        return false;
    }
    bool fine = S_ISDIR(info.st_mode) ? search(places, path, "", 0) : add_place(places, path, "");
    if (!fine)
        tdc_complain("out of memory");
    else if (places->count == 0)
        tdc_complain("%s: no dump.json in it, nor in rank*, proc*, step*, graph or pynative below "
                     "it",
                     path);
    if (fine && places->count != 0)
        return true;
    tdc_dump_places_free(places);
    return false;
}

void tdc_dump_places_free(struct tdc_dump_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        free(places->places[i].path);
        free(places->places[i].folder);
    }
    free(places->places);
    memset(places, 0, sizeof *places);
}
