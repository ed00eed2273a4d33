/* Parts cut at every byte, outcomes as bytes, work divided without gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/share/known.h"
#include "host/share/outcome_record.h"
#include "host/share/pieces.h"
#include "io/storage/remote.h"

/* ---- parts ----------------------------------------------------------------------------------- */

enum {
    RECORDS = 5
};

static void make_part(struct tdc_text *bytes, size_t ends[RECORDS + 2])
{
    const char *const words[] = {"tdcmp", "compare", "a", "b"};
    const struct tdc_part_input inputs[] = {{"a/dump.json", {1, 2}}, {"b/dump.json", {3, 4}}};
    const struct tdc_part_head head = {.index = 1,
                                       .count = 3,
                                       .version = "1.0.0",
                                       .settings = "--format=csv\n",
                                       .folder = "/somewhere",
                                       .words = words,
                                       .word_count = 4,
                                       .inputs = inputs,
                                       .input_count = 2};
    tdc_text_init(bytes, (size_t)1 << 20);
    tdc_part_put_head(bytes, &head);
    ends[0] = bytes->length;
    for (unsigned i = 0; i <= RECORDS; i++) {
        unsigned char content[7] = {(unsigned char)i};
        struct tdc_part_record record = {.kind = i < RECORDS ? TDC_PART_OUTCOME : TDC_PART_END,
                                         .key = {{i, i * 7}},
                                         .marks = {{i, 1}, {2, i}},
                                         .content = content,
                                         .size = i};
        tdc_part_put(bytes, &record);
        ends[i + 1] = bytes->length;
    }
    assert_false(bytes->failed);
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    struct tdc_text bytes;
    size_t ends[RECORDS + 2];
    make_part(&bytes, ends);
    for (size_t cut = 0; cut <= bytes.length; cut++) {
        struct tdc_part part;
        struct tdc_error error = {0};
        unsigned char *copy = malloc(cut + 1);
        memcpy(copy, bytes.data, cut);
        tdc_status status = tdc_part_read_head(copy, cut, &part, &error);
        assert_int_equal(status, cut < ends[0] ? TDC_ERR_FORMAT : TDC_OK);
        if (status != TDC_OK) {
            free(copy);
            continue;
        }
        size_t whole = 0;
        while (whole <= RECORDS && ends[whole + 1] <= cut)
            whole++;
        assert_int_equal(part.whole, ends[whole]);
        assert_int_equal(part.complete, whole == RECORDS + 1);
        assert_string_equal(part.head.words[3], "b");
        assert_int_equal(part.head.inputs[1].mark.size, 3);
        struct tdc_known known = {0};
        assert_true(tdc_known_add(&known, copy, part.whole, part.first));
        assert_int_equal(known.count, whole > RECORDS ? RECORDS : whole);
        struct tdc_share_key key = {{2, 14}};
        const struct tdc_part_record *found = tdc_known_find(&known, TDC_PART_OUTCOME, &key);
        assert_int_equal(found != NULL, whole > 2);
        assert_true(found == NULL || (found->size == 2 && found->content[0] == 2));
        tdc_known_free(&known);
        tdc_part_free(&part);
    }
    tdc_text_free(&bytes);
}

/* A byte that is another: the record it is in, and all behind it, are not believed. */
static void test_damaged_at_every_byte(void **state)
{
    (void)state;
    struct tdc_text bytes;
    size_t ends[RECORDS + 2];
    make_part(&bytes, ends);
    for (size_t at = 0; at < bytes.length; at++) {
        struct tdc_part part;
        struct tdc_error error = {0};
        unsigned char *copy = malloc(bytes.length);
        memcpy(copy, bytes.data, bytes.length);
        copy[at] ^= 0x10;
        if (tdc_part_read_head(copy, bytes.length, &part, &error) == TDC_OK) {
            assert_true(at >= ends[0]);
            assert_true(part.whole <= at);
            assert_false(part.complete);
            tdc_part_free(&part);
        } else {
            assert_true(at < ends[0]);
        }
        free(copy);
    }
    tdc_text_free(&bytes);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static void test_outcomes(void **state)
{
    (void)state;
    const struct tdc_job job = {.n_file = "a", .b_file = "b"};
    struct tdc_outcome outcome = {.code = TDC_OUTCOME_COMPARED,
                                  .n_dtype = TDC_F32,
                                  .b_dtype = TDC_BF16,
                                  .n_swapped = true,
                                  .n_dimensions = 2,
                                  .b_dimensions = 2,
                                  .count = 100,
                                  .b_count = 100,
                                  .bytes = 600,
                                  .beyond = 3,
                                  .apart = true,
                                  .apart_at = 99,
                                  .links = 1};
    outcome.sums.count = 100;
    outcome.sums.dd = -0.0;
    outcome.sums.abs_at = 42;
    outcome.norms.cosine = 0.25;
    outcome.abs_n.bytes[15] = 7;
    outcome.b_element[0] = 9;
    struct tdc_text bytes;
    tdc_text_init(&bytes, (size_t)1 << 20);
    tdc_outcome_put(&bytes, &job, &outcome);
    struct tdc_outcome again;
    memset(&again, 0xa5, sizeof again);
    const unsigned char *data = (const unsigned char *)bytes.data;
    assert_true(tdc_outcome_take(data, bytes.length, &job, &again));
    assert_memory_equal(&again.sums, &outcome.sums, sizeof again.sums);
    assert_memory_equal(&again.norms, &outcome.norms, sizeof again.norms);
    assert_int_equal(again.apart_at, 99);
    assert_int_equal(again.abs_n.bytes[15], 7);
    assert_int_equal(again.b_element[0], 9);
    assert_true(again.n_swapped && !again.b_swapped && again.apart);
    assert_int_equal(again.error.status, TDC_OK);
    for (size_t cut = 0; cut < bytes.length; cut++) /* also one that lacks its last byte */
        assert_false(tdc_outcome_take(data, cut, &job, &again));
    outcome.sums.abs_at = 100; /* no element */
    tdc_text_clear(&bytes);
    tdc_outcome_put(&bytes, &job, &outcome);
    assert_false(tdc_outcome_take((const unsigned char *)bytes.data, bytes.length, &job, &again));
    tdc_text_free(&bytes);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

enum {
    ITEMS = 3000
};

static void check_pieces(const struct tdc_share_item *items, uint32_t processes)
{
    struct tdc_pieces pieces, again;
    static uint32_t seen[ITEMS];
    memset(seen, 0, sizeof seen);
    assert_true(tdc_pieces_make(items, ITEMS, processes, &pieces));
    assert_true(tdc_pieces_make(items, ITEMS, processes, &again));
    uint64_t total = 0, heaviest = 0, *loads = calloc(processes, sizeof *loads);
    for (size_t i = 0; i < pieces.count; i++) {
        const struct tdc_piece *piece = &pieces.pieces[i];
        assert_memory_equal(&pieces.owners[i], &again.owners[i], sizeof *pieces.owners);
        assert_true(pieces.owners[i] < processes);
        assert_true(piece->of == 1 || piece->count == 1);
        assert_true(items[piece->first].may_start || piece->of > 1 ||
                    tdc_item_cuts(&items[piece->first - 1]) > 1);
        for (size_t k = piece->first; k < piece->first + piece->count; k++) {
            assert_int_equal(items[k].unit, items[piece->first].unit);
            assert_int_equal(seen[k], piece->number);
            seen[k] += 1;
        }
        loads[pieces.owners[i]] += piece->weight;
        total += piece->weight;
    }
    for (size_t k = 0; k < ITEMS; k++)
        assert_int_equal(seen[k], tdc_item_cuts(&items[k]));
    for (uint32_t i = 0; i < processes; i++)
        heaviest = loads[i] > heaviest ? loads[i] : heaviest;
    if (processes <= 64)
        assert_true(heaviest <= total / processes / 4 * 5);
    free(loads);
    tdc_pieces_free(&pieces);
    tdc_pieces_free(&again);
}

static void test_pieces(void **state)
{
    (void)state;
    static struct tdc_share_item items[ITEMS];
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = (struct tdc_share_item){.bytes = i * i * 37 % 4000000,
                                           .unit = (uint32_t)(i / 700),
                                           .may_start = i % 700 % 3 == 0,
                                           .may_cut = i % 2 == 0};
    items[1000].bytes = (uint64_t)1 << 30;
    items[1001].bytes = (uint64_t)200 << 20; /* may not be cut */
    static const uint32_t processes[] = {1, 2, 3, 7, 64, 5000};
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++)
        check_pieces(items, processes[i] == 64 ? 8 : processes[i]);
    struct tdc_pieces none;
    assert_true(tdc_pieces_make(NULL, 0, 4, &none));
    assert_int_equal(none.count, 0);
    tdc_pieces_free(&none);
}

static void test_remote_file_systems(void **state)
{
    (void)state;
    assert_true(tdc_is_remote_type(0x6969));      /* NFS */
    assert_true(tdc_is_remote_type(0x0bd00bd0));  /* Lustre */
    assert_false(tdc_is_remote_type(0xef53));     /* ext4 */
    assert_false(tdc_is_remote_type(0x01021994)); /* tmpfs */
    assert_true(tdc_is_remote_name("nfs4"));
    assert_true(tdc_is_remote_name("fuse.sshfs"));
    assert_false(tdc_is_remote_name("ext4"));
    assert_false(tdc_is_remote_name("fusectl"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_damaged_at_every_byte),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_remote_file_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
