#include "host/share/pair_keys.h"

#include <stdlib.h>

#include "host/engine/job_path.h"
#include "host/share/share.h"

#define PATH_LIMIT ((size_t)1 << 16)

void tdc_pair_keys_init(struct tdc_pair_keys *keys)
{
    keys->keys = NULL;
    pthread_mutex_init(&keys->lock, NULL);
}

void tdc_pair_keys_free(struct tdc_pair_keys *keys)
{
    free(keys->keys);
    pthread_mutex_destroy(&keys->lock);
}

static void add_logical(struct tdc_share_key *key, const struct tdc_logical *logical)
{
    tdc_share_key_number(key, logical != NULL);
    if (logical == NULL)
        return;
    for (size_t i = 0; i < logical->part_count; i++) {
        tdc_share_key_text(key, logical->parts[i].where);
        tdc_share_key_number(key, logical->parts[i].piece);
    }
    for (unsigned i = 0; i < logical->dimensions; i++)
        tdc_share_key_number(key, logical->shape[i]);
    tdc_share_key_number(key, logical->box_count);
}

static struct tdc_share_key key_of(const struct tdc_job *job)
{
    struct tdc_share_key key = tdc_share_key_start;
    tdc_share_key_text(&key, job->n_folder);
    tdc_share_key_text(&key, job->n_file);
    tdc_share_key_text(&key, job->b_folder);
    tdc_share_key_text(&key, job->b_file);
    add_logical(&key, job->n_logical);
    add_logical(&key, job->b_logical);
    tdc_share_key_number(&key, (job->n_change != NULL ? 1u : 0u) |
                                   (job->b_change != NULL ? 2u : 0u) | (job->squeeze ? 4u : 0u) |
                                   (job->any_shape ? 8u : 0u) | (job->series != NULL ? 16u : 0u));
    return key;
}

struct numbered {
    struct tdc_share_key key;
    size_t order;
};

static int by_key_and_order(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    for (int i = 0; i < 2; i++)
        if (a->key.halves[i] != b->key.halves[i])
            return a->key.halves[i] < b->key.halves[i] ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool same_key(const struct tdc_share_key *left, const struct tdc_share_key *right)
{
    return left->halves[0] == right->halves[0] && left->halves[1] == right->halves[1];
}

/* The k-th job of equal ones is the k-th in every process: what is done to the same two files may
 * differ from row to row. */
static struct tdc_share_key *find_keys(const struct tdc_job *jobs, size_t count)
{
    struct tdc_share_key *keys = malloc((count + 1) * sizeof *keys);
    struct numbered *list = malloc((count + 1) * sizeof *list);
    if (keys == NULL || list == NULL) {
        free(keys);
        free(list);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = (struct numbered){key_of(&jobs[i]), jobs[i].order};
    qsort(list, count, sizeof *list, by_key_and_order);
    for (size_t i = 0, same = 0; i < count; i++) {
        same = i != 0 && same_key(&list[i].key, &list[i - 1].key) ? same + 1 : 0;
        keys[list[i].order] = list[i].key;
        if (same != 0)
            tdc_share_key_number(&keys[list[i].order], same);
    }
    free(list);
    return keys;
}

bool tdc_pair_keys_find(struct tdc_pair_keys *keys, const struct tdc_job *jobs, size_t count)
{
    pthread_mutex_lock(&keys->lock);
    if (keys->keys == NULL)
        keys->keys = find_keys(jobs, count);
    bool found = keys->keys != NULL;
    pthread_mutex_unlock(&keys->lock);
    return found;
}

struct tdc_share_key tdc_pair_piece_key(const struct tdc_share_key *job, uint32_t number,
                                        uint32_t of)
{
    struct tdc_share_key key = *job;
    tdc_share_key_number(&key, (uint64_t)of << 32 | number);
    return key;
}

static struct tdc_file_mark mark_side(const struct tdc_share *share, struct tdc_text *path,
                                      const char *folder, const char *file)
{
    const char *where = tdc_job_path(path, folder, file, NULL);
    return where != NULL ? tdc_share_mark(share, where) : (struct tdc_file_mark){0, 1};
}

void tdc_pair_marks(const struct tdc_share *share, const struct tdc_job *job,
                    struct tdc_file_mark marks[2])
{
    struct tdc_text path;
    tdc_text_init(&path, PATH_LIMIT);
    marks[0] = marks[1] = (struct tdc_file_mark){0, 1};
    if (job->n_logical == NULL && job->n_tensor == NULL)
        marks[0] = mark_side(share, &path, job->n_folder, job->n_file);
    if (job->b_logical == NULL && job->b_tensor == NULL)
        marks[1] = mark_side(share, &path, job->b_folder, job->b_file);
    tdc_text_free(&path);
}

struct tdc_share_item tdc_pair_item(const struct tdc_engine *engine, const struct tdc_job *job,
                                    const struct tdc_pair_place *place)
{
    bool plain = job->series == NULL && job->n_logical == NULL && job->n_change == NULL &&
                 job->b_change == NULL && job->n_tensor == NULL && job->b_tensor == NULL;
    return (struct tdc_share_item){
        .bytes = job->bytes,
        .unit = place->unit,
        .may_start = place->first_of_call,
        .may_cut = plain && !engine->options->tolerance.elements,
    };
}
