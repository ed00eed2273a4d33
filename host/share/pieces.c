#include "host/share/pieces.h"

#include <stdlib.h>

/* What an item costs besides its bytes. */
#define ITEM_WEIGHT ((uint64_t)1 << 16)
/* A process gets about this many pieces of a unit that is divided: the heaviest share is then
 * within an eighth of the mean. */
#define PIECES_A_PROCESS 8
/* Cuts of one item. */
#define MOST_CUTS ((uint64_t)1 << 16)

uint32_t tdc_item_cuts(const struct tdc_share_item *item)
{
    if (!item->may_cut || item->bytes < 2 * TDC_CUT_BYTES)
        return 1;
    uint64_t cuts = (item->bytes + TDC_CUT_BYTES - 1) / TDC_CUT_BYTES;
    return (uint32_t)(cuts < MOST_CUTS ? cuts : MOST_CUTS);
}

static uint64_t add(uint64_t left, uint64_t right)
{
    uint64_t sum;
    return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

static uint64_t weight_of(const struct tdc_share_item *item)
{
    return add(item->bytes, ITEM_WEIGHT);
}

static bool append(struct tdc_pieces *pieces, size_t *room, struct tdc_piece piece)
{
    if (pieces->count == *room) {
        size_t more = *room != 0 ? *room * 2 : 64;
        struct tdc_piece *grown = realloc(pieces->pieces, more * sizeof *grown);
        if (grown == NULL)
            return false;
        pieces->pieces = grown;
        *room = more;
    }
    pieces->pieces[pieces->count++] = piece;
    return true;
}

/* Items of one unit, of which no piece is heavier than `limit` unless one call is. */
static bool divide_unit(const struct tdc_share_item *items, size_t first, size_t end,
                        uint64_t limit, struct tdc_pieces *pieces, size_t *room)
{
    struct tdc_piece piece = {.first = first, .of = 1};
    for (size_t i = first; i < end; i++) {
        uint64_t weight = weight_of(&items[i]);
        uint32_t cuts = tdc_item_cuts(&items[i]);
        bool full = piece.count != 0 && items[i].may_start && add(piece.weight, weight) > limit;
        if (piece.count != 0 && (full || cuts > 1)) {
            if (!append(pieces, room, piece))
                return false;
            piece = (struct tdc_piece){.first = i, .of = 1};
        }
        for (uint32_t k = 0; cuts > 1 && k < cuts; k++)
            if (!append(pieces, room, (struct tdc_piece){i, 1, k, cuts, weight / cuts}))
                return false;
        if (cuts > 1) {
            piece = (struct tdc_piece){.first = i + 1, .of = 1};
            continue;
        }
        piece.count++;
        piece.weight = add(piece.weight, weight);
    }
    return piece.count == 0 || append(pieces, room, piece);
}

static int heaviest_first(const void *left, const void *right)
{
    const struct tdc_piece *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

struct load {
    uint64_t weight;
    uint32_t process;
};

static bool lighter(const struct load *left, const struct load *right)
{
    return left->weight != right->weight ? left->weight < right->weight
                                         : left->process < right->process;
}

/* The root of a heap whose root has become heavier. */
static void sink(struct load *heap, size_t count)
{
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (lighter(&heap[child], &heap[least]))
                least = child;
        if (least == at)
            return;
        struct load held = heap[at];
        heap[at] = heap[least];
        heap[least] = held;
        at = least;
    }
}

/* Each piece to whoever has least so far. */
static bool give_out(struct tdc_pieces *pieces, uint32_t processes)
{
    struct load *heap = calloc(processes, sizeof *heap);
    pieces->owners = calloc(pieces->count + 1, sizeof *pieces->owners);
    if (heap == NULL || pieces->owners == NULL) {
        free(heap);
        return false;
    }
    for (uint32_t i = 0; i < processes; i++)
        heap[i].process = i;
    for (size_t i = 0; i < pieces->count; i++) {
        pieces->owners[i] = heap[0].process;
        heap[0].weight = add(heap[0].weight, pieces->pieces[i].weight);
        sink(heap, processes);
    }
    free(heap);
    return true;
}

bool tdc_pieces_make(const struct tdc_share_item *items, size_t count, uint32_t processes,
                     struct tdc_pieces *pieces)
{
    *pieces = (struct tdc_pieces){0};
    uint64_t total = 0;
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        total = add(total, weight_of(&items[i]));
    uint64_t limit = total / processes / PIECES_A_PROCESS;
    bool made = true;
    for (size_t first = 0, end; first < count && made; first = end, pieces->units++) {
        for (end = first + 1; end < count && items[end].unit == items[first].unit;)
            end++;
        made = divide_unit(items, first, end, limit, pieces, &room);
    }
    if (made && pieces->count != 0)
        qsort(pieces->pieces, pieces->count, sizeof *pieces->pieces, heaviest_first);
    if (made && give_out(pieces, processes))
        return true;
    tdc_pieces_free(pieces);
    return false;
}

void tdc_pieces_free(struct tdc_pieces *pieces)
{
    free(pieces->pieces);
    free(pieces->owners);
    *pieces = (struct tdc_pieces){0};
}
