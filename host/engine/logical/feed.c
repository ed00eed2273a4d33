#include "host/engine/logical/feed.h"

#include <stdlib.h>
#include <string.h>

#include "host/engine/copy_box.h"

/* Blocks of a copied piece: no more, since nothing comes from memory while it is copied, but enough
 * for some groups of each box. */
#define PIECE_BLOCKS 1
#define BOX_GROUPS   ((size_t)4)
/* Bytes of a piece whose boxes are looked up: what is turned uses lines of memory up within it. */
#define LARGE_PIECE ((size_t)256 << 10)
/* Axes around the runs of a box, and boxes of a chunk, that are listed. */
#define MOST_AXES  4
#define MOST_BOXES ((size_t)512)

/* A box of a part cut to the chunk: runs of bytes, in the order of the chunk. */
struct run_box {
    uint64_t start; /* byte of the chunk where it begins */
    uint64_t to;    /* ... and where its next byte goes */
    const unsigned char *from;
    size_t bytes, done; /* of a run, of which `done` are copied */
    unsigned axes;      /* the last is the innermost */
    struct tdc_copy_axis axis[MOST_AXES];
    uint64_t index[MOST_AXES];
    bool over;
};

struct tdc_logical_feed {
    struct tdc_pair_feed feed; /* the first: a pointer to it is one to all */
    const struct tdc_assembled *assembled;
    uint64_t first; /* element of the chunk */
    size_t count, element;
    unsigned group_shift; /* of the bytes of a group, if they are a power of two */
    bool numbers;
    bool listed; /* boxes are those of the chunk */
    struct run_box boxes[MOST_BOXES];
    size_t box_count, begun; /* boxes before `begun` are over */
    unsigned char buffer[LARGE_PIECE] __attribute__((aligned(64)));
};

struct tdc_logical_feed *tdc_logical_feed_new(void)
{
    struct tdc_logical_feed *feed = aligned_alloc(64, sizeof *feed);
    if (feed != NULL)
        feed->box_count = 0;
    return feed;
}

void tdc_logical_feed_free(struct tdc_logical_feed *feed)
{
    free(feed);
}

bool tdc_logical_feed_numbers(const struct tdc_logical_feed *feed)
{
    return feed->numbers;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Moves on by `places` of the innermost axis, no more than it has left. */
static void go_on(struct run_box *box, uint64_t places)
{
    unsigned axis = box->axes;
    while (axis > 0) {
        const struct tdc_copy_axis *way = &box->axis[axis - 1];
        box->to += (uint64_t)((int64_t)places * way->to);
        box->from += (int64_t)places * way->from;
        box->index[axis - 1] += places;
        if (box->index[axis - 1] < way->length)
            return;
        box->to -= (uint64_t)((int64_t)way->length * way->to);
        box->from -= (int64_t)way->length * way->from;
        box->index[axis - 1] = 0;
        places = 1;
        axis--;
    }
    box->over = true;
}

/* The next `bytes` of a run are taken. */
static void take_bytes(struct run_box *box, size_t bytes)
{
    box->done += bytes;
    box->to += bytes;
    box->from += bytes;
    if (box->done == box->bytes) {
        box->to -= box->bytes;
        box->from -= box->bytes;
        box->done = 0;
        go_on(box, 1);
    }
}

/* Asks for what the next piece will be copied from, if it goes on as this one, where that does not
 * lie in one range. */
static void ask_ahead(const unsigned char *from, const struct tdc_copy_axis *axis, uint64_t runs,
                      size_t bytes)
{
    const unsigned char *next = from + (int64_t)runs * axis->from;
    for (uint64_t i = 0; i < runs; i++)
        for (size_t at = 0; at < bytes; at += 64)
            __builtin_prefetch(next + (int64_t)i * axis->from + at);
}

/* Whether the runs follow each other in the part. */
static bool is_dense(const struct run_box *box)
{
    return box->axes == 0 || box->axis[box->axes - 1].from == (int64_t)box->bytes;
}

/* Copies what the box has of bytes [start, end) of the chunk; returned is how many. */
static size_t copy_runs(struct run_box *box, uint64_t start, uint64_t end, unsigned char *buffer)
{
    size_t copied = 0;
    while (!box->over && box->to < end) {
        unsigned char *to = buffer + (box->to - start);
        if (box->done == 0 && box->axes != 0 && end - box->to >= box->bytes) {
            const struct tdc_copy_axis *axis = &box->axis[box->axes - 1];
            uint64_t runs = least((end - box->to - box->bytes) / (uint64_t)axis->to + 1,
                                  axis->length - box->index[box->axes - 1]);
            if (!is_dense(box))
                ask_ahead(box->from, axis, runs, box->bytes);
            tdc_copy_line(to, box->from, axis, runs, box->bytes);
            copied += (size_t)runs * box->bytes;
            go_on(box, runs);
            continue;
        }
        size_t part = (size_t)least(box->bytes - box->done, end - box->to);
        memcpy(to, box->from, part);
        copied += part;
        take_bytes(box, part);
    }
    return copied;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Whole groups of a run from byte `offset` of a piece on. */
static void place_groups(struct tdc_logical_feed *feed, const unsigned char *from, size_t offset,
                         size_t bytes)
{
    const void **to = &feed->feed.groups[offset >> feed->group_shift];
    for (size_t at = 0; at < bytes; at += (size_t)1 << feed->group_shift)
        *to++ = from + at;
}

/* The next `bytes` of a box, all of one run: what begins or ends within a group is copied. */
static void place_run(struct tdc_logical_feed *feed, struct run_box *box, size_t offset,
                      size_t bytes)
{
    size_t group = (size_t)1 << feed->group_shift;
    size_t head = (group - offset % group) % group;
    head = head < bytes ? head : bytes;
    size_t whole = (bytes - head) & ~(group - 1), tail = head + whole;
    memcpy(feed->buffer + offset, box->from, head);
    place_groups(feed, box->from + head, offset + head, whole);
    memcpy(feed->buffer + offset + tail, box->from + tail, bytes - tail);
    take_bytes(box, bytes);
}

/* What the box has of bytes [start, end) of the chunk, its runs being of a group at least; returned
 * is how many. */
static size_t place_runs(struct tdc_logical_feed *feed, struct run_box *box, uint64_t start,
                         uint64_t end)
{
    size_t placed = 0, within = ((size_t)1 << feed->group_shift) - 1;
    while (!box->over && box->to < end) {
        size_t offset = (size_t)(box->to - start);
        size_t part = (size_t)least(box->bytes - box->done, end - box->to);
        const struct tdc_copy_axis *axis = &box->axis[box->axes == 0 ? 0 : box->axes - 1];
        size_t way = (size_t)axis->to;
        if (box->axes == 0 || part != box->bytes || ((offset | part | way) & within) != 0) {
            place_run(feed, box, offset, part);
            placed += part;
            continue;
        }
        /* whole runs along the innermost axis, each of whole groups */
        uint64_t left = axis->length - box->index[box->axes - 1], runs = 0;
        for (; runs < left && offset + runs * way + box->bytes <= end - start; runs++)
            place_groups(feed, box->from + (int64_t)runs * axis->from, offset + runs * way,
                         box->bytes);
        if (!is_dense(box))
            ask_ahead(box->from, axis, runs, box->bytes);
        placed += (size_t)runs * box->bytes;
        go_on(box, runs);
    }
    return placed;
}

/* The kernel asks for as much of the box as was copied of it. */
static void note_ahead(struct tdc_pair_feed *feed, const struct run_box *box, size_t copied,
                       size_t group)
{
    if (box->over || !is_dense(box))
        return;
    for (size_t at = 0; at < copied && feed->ahead_count < TDC_PAIR_AHEAD; at += group)
        feed->ahead[feed->ahead_count++] = (uintptr_t)box->from + at;
}

/* Boxes that bytes [start, end) of the chunk may be copied from. */
static size_t count_boxes(const struct tdc_logical_feed *feed, uint64_t end)
{
    size_t i = feed->begun;
    while (i < feed->box_count && feed->boxes[i].start < end)
        i++;
    return i - feed->begun;
}

/* Bytes from `start` on that lie in one run, and where; 0: less than `wanted`. */
static size_t bytes_in_place(struct tdc_logical_feed *feed, uint64_t start, size_t wanted,
                             const unsigned char **where, struct run_box **of)
{
    for (size_t i = feed->begun; i < feed->box_count && feed->boxes[i].start <= start; i++) {
        struct run_box *box = &feed->boxes[i];
        if (!box->over && box->to == start) {
            *where = box->from;
            *of = box;
            return box->bytes - box->done >= wanted ? box->bytes - box->done : 0;
        }
    }
    return 0;
}

/* Bytes [from, from + bytes) of the chunk; true if they are by groups, else all are copied. */
static bool fill_piece(struct tdc_logical_feed *feed, uint64_t from, size_t bytes)
{
    size_t group = TDC_PAIR_GROUP * feed->element;
    bool groups = feed->feed.takes_groups && bytes % (TDC_PAIR_BLOCK * feed->element) == 0;
    bool placed = false;
    if (groups)
        place_groups(feed, feed->buffer, 0, bytes);
    feed->feed.ahead_count = 0;
    for (size_t i = feed->begun; i < feed->box_count && feed->boxes[i].start < from + bytes; i++) {
        struct run_box *box = &feed->boxes[i];
        bool place = groups && box->bytes >= group;
        size_t taken = place ? place_runs(feed, box, from, from + bytes)
                             : copy_runs(box, from, from + bytes, feed->buffer);
        note_ahead(&feed->feed, box, taken, group);
        placed |= place;
    }
    return placed;
}

static const void *next_listed(struct tdc_logical_feed *feed, size_t start, size_t *count)
{
    uint64_t from = (uint64_t)start * feed->element;
    size_t left = (feed->count - start) * feed->element, block = TDC_PAIR_BLOCK * feed->element;
    const unsigned char *where;
    struct run_box *box;
    while (feed->begun < feed->box_count && feed->boxes[feed->begun].over)
        feed->begun++;
    size_t bytes = bytes_in_place(feed, from, left < block ? left : block, &where, &box);
    feed->feed.copied = bytes == 0;
    if (bytes != 0) {
        bytes = bytes < left ? bytes / block * block : left;
        take_bytes(box, bytes);
        *count = bytes / feed->element;
        return where;
    }
    size_t most = LARGE_PIECE / TDC_PAIR_BLOCK / 16; /* bytes of the largest elements */
    size_t blocks = count_boxes(feed, from + block) * BOX_GROUPS * TDC_PAIR_GROUP / TDC_PAIR_BLOCK;
    blocks = blocks < PIECE_BLOCKS ? PIECE_BLOCKS : blocks < most ? blocks : most;
    bytes = (size_t)least(blocks * block, left);
    *count = bytes / feed->element;
    return fill_piece(feed, from, bytes) ? NULL : feed->buffer;
}

static const void *next_looked_up(struct tdc_logical_feed *feed, size_t start, size_t *count)
{
    size_t piece = LARGE_PIECE / feed->element / TDC_PAIR_BLOCK * TDC_PAIR_BLOCK;
    if (feed->assembled->convert && piece > 4 * TDC_PAIR_BLOCK)
        piece = 4 * TDC_PAIR_BLOCK;
    *count = piece < feed->count - start ? piece : feed->count - start;
    feed->feed.copied = true;
    feed->feed.ahead_count = 0;
    feed->numbers &=
        tdc_assembled_gather(feed->assembled, feed->first + start, *count, feed->buffer);
    return feed->buffer;
}

static const void *next(struct tdc_pair_feed *pair_feed, size_t start, size_t *count)
{
    struct tdc_logical_feed *feed = (struct tdc_logical_feed *)(void *)pair_feed;
    return feed->listed ? next_listed(feed, start, count) : next_looked_up(feed, start, count);
}

/* ---- the boxes of a chunk -------------------------------------------------------------------- */

/* Keeps boxes in the order of where they begin; they come nearly so. */
static void insert(struct tdc_logical_feed *feed, const struct run_box *box)
{
    size_t at = feed->box_count++;
    for (; at > 0 && feed->boxes[at - 1].start > box->start; at--)
        feed->boxes[at] = feed->boxes[at - 1];
    feed->boxes[at] = *box;
}

static bool list_box(void *context, struct tdc_copy_box *copy, const unsigned char *from,
                     uint64_t to, size_t element)
{
    struct tdc_logical_feed *feed = context;
    struct run_box box = {.start = to, .to = to, .from = from};
    box.bytes = tdc_copy_box_simplify(copy, element);
    if (feed->box_count == MOST_BOXES || copy->axes > MOST_AXES || tdc_copy_box_turned(copy))
        return false;
    box.axes = copy->axes;
    memcpy(box.axis, copy->axis, copy->axes * sizeof *copy->axis);
    insert(feed, &box);
    return true;
}

struct tdc_pair_feed *tdc_logical_feed_start(struct tdc_logical_feed *feed,
                                             const struct tdc_assembled *assembled, uint64_t first,
                                             size_t count)
{
    feed->feed = (struct tdc_pair_feed){.next = next};
    feed->assembled = assembled;
    feed->first = first;
    feed->count = count;
    feed->element = assembled->convert ? sizeof(double) : tdc_dtype_size(assembled->stored);
    feed->group_shift = 0;
    while (TDC_PAIR_GROUP * feed->element >> feed->group_shift > 1)
        feed->group_shift++;
    feed->numbers = true;
    feed->box_count = feed->begun = 0;
    feed->listed =
        !assembled->convert && tdc_assembled_list(assembled, first, count, list_box, feed);
    return &feed->feed;
}
