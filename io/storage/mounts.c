#include "io/storage/mounts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/platform/platform.h"
#include "io/storage/remote.h"

/* More than this no machine has; what is beyond is asked by statfs alone. */
#define MOST_MOUNTS 4096
#define LONGEST     4096
/* Folders whose storage is remembered, each in its place by its hash. */
#define REMEMBERED 1024

struct point {
    char *path; /* where it is mounted */
    bool remote;
    struct tdc_mount mount;
};

struct folder {
    char *path;
    struct tdc_mount *mount; /* NULL: local */
};

static struct {
    pthread_mutex_t lock;
    bool read, remote;
    struct point *points[MOST_MOUNTS];
    size_t count;
    struct folder folders[REMEMBERED];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Paths that no mount of the table explains. */
static struct tdc_mount anywhere = {.any = true};

/* ---- the system's table ---------------------------------------------------------------------- */

/* Blanks and the like are written as \040. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* The line "36 35 98:0 /root /mount options ... - kind source options". */
static void add_line(char *line)
{
    char *end, *path = NULL, *kind = NULL;
    int at = 0;
    for (char *word = strtok_r(line, " \n", &end); word != NULL;
         word = strtok_r(NULL, " \n", &end), at++) {
        if (at == 4)
            path = word;
        if (at > 5 && strcmp(word, "-") == 0) {
            kind = strtok_r(NULL, " \n", &end);
            break;
        }
    }
    if (path == NULL || kind == NULL || table.count == MOST_MOUNTS)
        return;
    unescape(path);
    struct point *point = calloc(1, sizeof *point);
    char *copy = strdup(path);
    if (point == NULL || copy == NULL) {
        free(point);
        free(copy);
        return;
    }
    point->path = copy;
    point->remote = tdc_is_remote_name(kind);
    table.remote |= point->remote;
    table.points[table.count++] = point;
}

/* Under the lock. */
static void read_table(void)
{
    const char *path = tdc_mount_table();
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    char line[2 * LONGEST];
    table.read = true;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        add_line(line);
    if (file != NULL)
        fclose(file);
}

bool tdc_mounts_remote(void)
{
    pthread_mutex_lock(&table.lock);
    if (!table.read)
        read_table();
    bool remote = table.remote;
    pthread_mutex_unlock(&table.lock);
    return remote;
}

/* ---- by the text of a path; under the lock --------------------------------------------------- */

static bool is_below(const char *path, const char *point)
{
    size_t length = strlen(point);
    if (length == 1)
        return true; /* of the root */
    return strncmp(path, point, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* `path` is absolute. */
static struct tdc_mount *by_text(const char *path)
{
    struct point *best = NULL;
    for (size_t i = 0; i < table.count; i++) /* the last of those at one place is on top */
        if (is_below(path, table.points[i]->path) &&
            (best == NULL || strlen(table.points[i]->path) >= strlen(best->path)))
            best = table.points[i];
    return best != NULL && best->remote ? &best->mount : NULL;
}

/* The first `length` bytes of a path, absolute. False when it is too long. */
static bool make_whole(const char *path, size_t length, char *whole, size_t size)
{
    size_t used = 0;
    if (path[0] != '/') {
        if (getcwd(whole, size) == NULL)
            return false;
        used = strlen(whole);
        whole[used++] = '/';
    }
    if (used + length >= size)
        return false;
    memcpy(whole + used, path, length);
    whole[used + length] = '\0';
    return true;
}

struct tdc_mount *tdc_mount_of_path(const char *path)
{
    if (!tdc_mounts_remote())
        return NULL;
    char whole[2 * LONGEST];
    struct tdc_mount *mount = NULL;
    if (make_whole(path, strlen(path), whole, sizeof whole)) {
        pthread_mutex_lock(&table.lock);
        mount = by_text(whole);
        pthread_mutex_unlock(&table.lock);
    }
    return mount != NULL ? mount : &anywhere;
}

/* ---- by asking ------------------------------------------------------------------------------- */

struct asking {
    struct tdc_call call;
    unsigned long type;
    bool known, real_known;
    char real[LONGEST]; /* the folder without links */
    char path[];
};

static void ask(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    char *real = realpath(asking->path, NULL);
    asking->known = tdc_file_system_type(asking->path, &asking->type);
    if (real != NULL && strlen(real) < sizeof asking->real) {
        strcpy(asking->real, real);
        asking->real_known = true;
    }
    free(real);
}

static void drop(struct tdc_call *call)
{
    free(call);
}

/* Storage of a folder that did not answer when it was first looked at: nothing there is tried. */
static struct tdc_mount *silent(void)
{
    struct tdc_mount *mount = calloc(1, sizeof *mount);
    if (mount == NULL)
        return &anywhere;
    mount->in_a_row = TDC_MOST_IN_A_ROW;
    return mount;
}

/* Of a folder that lies, by its text, on local storage. */
static struct tdc_mount *ask_folder(const char *path)
{
    size_t length = strlen(path) + 1;
    struct asking *asking = calloc(1, sizeof *asking + length);
    if (asking == NULL)
        return &anywhere;
    memcpy(asking->path, path, length);
    asking->call = (struct tdc_call){.run = ask, .drop = drop, .mount = &anywhere};
    if (tdc_call_make(&asking->call) != 0)
        return silent();
    struct tdc_mount *mount = NULL;
    if (asking->real_known) {
        pthread_mutex_lock(&table.lock);
        mount = by_text(asking->real);
        pthread_mutex_unlock(&table.lock);
    }
    if (mount == NULL && asking->known && tdc_is_remote_type(asking->type))
        mount = &anywhere;
    free(asking);
    return mount;
}

static size_t place_of(const char *path)
{
    uint64_t hash = 14695981039346656037U;
    for (; *path != '\0'; path++)
        hash = (hash ^ (unsigned char)*path) * 1099511628211U;
    return (size_t)(hash >> 32) % REMEMBERED;
}

struct tdc_mount *tdc_mount_of_file(const char *path)
{
    char folder[2 * LONGEST];
    if (!tdc_mounts_remote())
        return NULL;
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (!make_whole(length == 0 ? "" : path, length, folder, sizeof folder))
        return &anywhere;
    struct folder *known = &table.folders[place_of(folder)];
    pthread_mutex_lock(&table.lock);
    bool found = known->path != NULL && strcmp(known->path, folder) == 0;
    struct tdc_mount *mount = found ? known->mount : by_text(folder);
    pthread_mutex_unlock(&table.lock);
    if (found)
        return mount;
    if (mount == NULL)
        mount = ask_folder(folder);
    char *copy = strdup(folder);
    if (copy != NULL) {
        pthread_mutex_lock(&table.lock);
        char *before = known->path;
        *known = (struct folder){copy, mount};
        pthread_mutex_unlock(&table.lock);
        free(before);
    }
    return mount;
}
