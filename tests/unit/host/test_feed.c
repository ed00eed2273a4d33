/* Chunks of logical tensors that are handed to kernels piece by piece, beside the same elements in
 * one place: the sums have the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/engine/logical/feed.h"
#include "io/base/arena.h"
#include "tests/support/random_below.h"

#define MOST_PARTS 64
#define ELEMENTS   ((size_t)90000)

/* A tensor of three axes, whole in memory and cut into parts along two of them. */
struct cut_tensor {
    tdc_dtype dtype;
    size_t element;
    uint64_t shape[3];
    unsigned char *whole;
    unsigned char *stored[MOST_PARTS];
    struct tdc_tensor tensors[MOST_PARTS];
    struct tdc_logical_part parts[MOST_PARTS];
    struct tdc_logical_box boxes[MOST_PARTS];
    uint64_t first[MOST_PARTS][3], extent[MOST_PARTS][3], base[MOST_PARTS][3];
    uint32_t groups[2];
    struct tdc_logical logical;
};

static tdc_status open_part(const struct tdc_logical_part *part, struct tdc_tensor *tensor,
                            struct tdc_error *error)
{
    (void)error;
    *tensor = *(const struct tdc_tensor *)part->context;
    return TDC_OK;
}

/* Where the pieces begin that an axis is cut into, and its end. */
static size_t cut_axis(uint64_t length, size_t most, uint64_t *starts)
{
    size_t count = 1 + (size_t)random_below(most);
    if (count > length)
        count = (size_t)length;
    for (size_t i = 0; i <= count; i++)
        starts[i] = length * i / count;
    for (size_t i = 1; i < count; i++) /* of unequal lengths */
        starts[i] -= random_below(starts[i] - starts[i - 1]);
    return count;
}

/* The part of a box in memory of its own: its axes in some order, perhaps with room between rows.
 */
static void store_part(struct cut_tensor *cut, size_t index)
{
    struct tdc_tensor *tensor = &cut->tensors[index];
    struct tdc_logical_part *part = &cut->parts[index];
    const uint64_t *first = cut->first[index], *extent = cut->extent[index];
    static const unsigned orders[4][3] = {{0, 1, 2}, {0, 1, 2}, {1, 0, 2}, {2, 1, 0}};
    const unsigned *order = orders[random_below(4)];
    uint64_t room = random_below(3) == 0 ? random_below(5) : 0, inner = 1;
    *tensor = (struct tdc_tensor){
        .dtype = cut->dtype, .dimensions = 3, .descriptor = -1, .borrowed = true};
    *part = (struct tdc_logical_part){.open = open_part, .context = tensor, .where = "a part"};
    for (unsigned k = 3; k-- > 0;) {
        unsigned d = order[k];
        tensor->shape[k] = extent[d];
        tensor->strides[k] = (int64_t)inner;
        inner = inner * extent[d] + (k == 2 ? room : 0);
        part->stored[d] = (int8_t)k;
        part->steps[d] = 1;
    }
    tensor->count = extent[0] * extent[1] * extent[2];
    cut->stored[index] = calloc((size_t)inner + 8, cut->element);
    tensor->data = cut->stored[index] + random_below(3);
    tensor->map_size = SIZE_MAX;
    for (uint64_t i = 0; i < extent[0]; i++)
        for (uint64_t j = 0; j < extent[1]; j++)
            for (uint64_t l = 0; l < extent[2]; l++) {
                const uint64_t at[3] = {i, j, l};
                int64_t to = 0;
                for (unsigned k = 0; k < 3; k++)
                    to += (int64_t)at[order[k]] * tensor->strides[k];
                uint64_t from =
                    ((first[0] + i) * cut->shape[1] + first[1] + j) * cut->shape[2] + first[2] + l;
                memcpy((unsigned char *)tensor->data + to * (int64_t)cut->element,
                       cut->whole + from * cut->element, cut->element);
            }
}

static void cut_up(struct cut_tensor *cut, struct tdc_arena *arena)
{
    uint64_t rows[9] = {0}, columns[9] = {0};
    unsigned axis = 1 + (unsigned)random_below(2);
    size_t row_count = cut_axis(cut->shape[0], 3, rows);
    size_t column_count = cut_axis(cut->shape[axis], 6, columns), made = 0;
    for (size_t i = 0; i < row_count; i++)
        for (size_t k = 0; k < column_count; k++, made++) {
            memcpy(cut->extent[made], cut->shape, sizeof cut->shape);
            cut->first[made][0] = rows[i];
            cut->extent[made][0] = rows[i + 1] - rows[i];
            cut->first[made][axis] = columns[k];
            cut->extent[made][axis] = columns[k + 1] - columns[k];
            cut->boxes[made] = (struct tdc_logical_box){.part = (uint32_t)made,
                                                        .first = cut->first[made],
                                                        .extent = cut->extent[made],
                                                        .base = cut->base[made]};
            store_part(cut, made);
        }
    cut->groups[1] = 1;
    cut->logical = (struct tdc_logical){.dimensions = 3,
                                        .parts = cut->parts,
                                        .part_count = made,
                                        .boxes = cut->boxes,
                                        .box_count = made,
                                        .group_starts = cut->groups,
                                        .group_count = 1,
                                        .letter = 'A'};
    memcpy(cut->logical.shape, cut->shape, sizeof cut->shape);
    assert_true(tdc_logical_settle(&cut->logical, arena));
}

static void give_back(struct cut_tensor *cut)
{
    for (size_t i = 0; i < cut->logical.part_count; i++)
        free(cut->stored[i]);
    free(cut->whole);
}

/* Numbers of which most are near their like on the other side and some blocks equal to it. */
static void fill(tdc_dtype dtype, unsigned char *elements, size_t count, bool other)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)(i * 2654435761u);
        bool moved = other && i / 3000 % 3 != 0;
        if (dtype == TDC_F32) {
            float value = (float)((double)(bits % 20011) / 1009.0 - 9) * (moved ? 1 + 0x1p-19f : 1);
            memcpy(elements + i * 4, &value, 4);
        } else if (dtype == TDC_BF16) {
            uint16_t half = (uint16_t)(0x3f80 + bits % 300 + (moved && i % 5 == 0 ? 1 : 0));
            memcpy(elements + i * 2, &half, 2);
        } else {
            double value = (double)(bits % 70001) / 3 + (moved ? 0x1p-30 : 0);
            memcpy(elements + i * 8, &value, 8);
        }
    }
}

static void make_cut(struct cut_tensor *cut, tdc_dtype dtype, const uint64_t *shape, bool other,
                     struct tdc_arena *arena)
{
    size_t count = (size_t)(shape[0] * shape[1] * shape[2]);
    memset(cut, 0, sizeof *cut);
    cut->dtype = dtype;
    cut->element = tdc_dtype_size(dtype);
    memcpy(cut->shape, shape, sizeof cut->shape);
    cut->whole = malloc(count * cut->element + 1);
    assert_non_null(cut->whole);
    if (cut->whole == NULL)
        return;
    fill(dtype, cut->whole, count, other);
    cut_up(cut, arena);
}

/* A chunk that begins anywhere, with one side or both fed. */
static void require_same_sums(const struct tdc_assembled *n, const struct tdc_assembled *b,
                              const struct cut_tensor *whole_n, const struct cut_tensor *whole_b,
                              struct tdc_logical_feed *const *feeds)
{
    size_t all = (size_t)n->logical->count;
    uint64_t first = random_below(2) == 0 ? 0 : random_below(all);
    size_t count =
        random_below(2) == 0 ? (size_t)(all - first) : 1 + (size_t)random_below(all - first);
    const void *n_whole = whole_n->whole + first * whole_n->element;
    const void *b_whole = whole_b->whole + first * whole_b->element;
    for (unsigned variant = 0; variant < TDC_CPU_VARIANTS; variant++)
        for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_PROMOTED; rule++) {
            struct tdc_pair_plan plan;
            struct tdc_pair_sums expected, sums;
            if (!tdc_pair_plan_make(whole_n->dtype, whole_b->dtype, (enum tdc_relative_rule)rule,
                                    (enum tdc_cpu_variant)variant, &plan))
                continue;
            plan.extremes = random_below(2) == 0;
            tdc_pair_run(&plan, n_whole, b_whole, count, &expected);
            unsigned which = 1 + (unsigned)random_below(3);
            if (which & 1)
                plan.n_feed = tdc_logical_feed_start(feeds[0], n, first, count);
            if (which & 2)
                plan.b_feed = tdc_logical_feed_start(feeds[1], b, first, count);
            tdc_pair_run(&plan, n_whole, b_whole, count, &sums);
            assert_memory_equal(&sums, &expected, sizeof sums);
        }
}

static void fed_chunks_have_the_bits_of_whole_ones(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F32, TDC_BF16, TDC_F64};
    struct tdc_logical_feed *feeds[] = {tdc_logical_feed_new(), tdc_logical_feed_new()};
    struct cut_tensor *n = malloc(sizeof *n), *b = malloc(sizeof *b);
    if (feeds[0] == NULL || feeds[1] == NULL || n == NULL || b == NULL)
        fail_msg("out of memory");
    for (unsigned round = 0; round < 150; round++) {
        struct tdc_arena arena;
        tdc_arena_init(&arena, (size_t)1 << 20);
        uint64_t inner = 1 + random_below(round % 3 == 0 ? 12 : round % 3 == 1 ? 700 : 9000);
        uint64_t middle = 1 + random_below(ELEMENTS / inner < 40 ? ELEMENTS / inner : 40);
        const uint64_t shape[3] = {1 + random_below(ELEMENTS / inner / middle), middle, inner};
        tdc_dtype dtype = dtypes[random_below(3)];
        struct tdc_tensor n_tensor, b_tensor;
        struct tdc_assembled *n_open, *b_open;
        struct tdc_error error;
        make_cut(n, dtype, shape, false, &arena);
        make_cut(b, round % 4 == 0 ? dtypes[random_below(3)] : dtype, shape, true, &arena);
        assert_int_equal(tdc_logical_open(&n->logical, &n_tensor, &n_open, &error), TDC_OK);
        assert_int_equal(tdc_logical_open(&b->logical, &b_tensor, &b_open, &error), TDC_OK);
        for (unsigned i = 0; i < 3 && n_open != NULL && b_open != NULL; i++)
            require_same_sums(n_open, b_open, n, b, feeds);
        tdc_assembled_close(n_open);
        tdc_assembled_close(b_open);
        give_back(n);
        give_back(b);
        tdc_arena_free(&arena);
    }
    tdc_logical_feed_free(feeds[0]);
    tdc_logical_feed_free(feeds[1]);
    free(n);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fed_chunks_have_the_bits_of_whole_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
