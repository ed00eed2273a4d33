/*
 * fuzzy.c - pairing when call numbers are shifted (docs/msprobe.md#fuzzy-names).
 *
 * Two records agree when their names without call number and their shapes agree. The procedure
 * feeds both sides in step into two queues and looks for an agreement with the newest record of
 * either. The original searches the queues; here each queue keeps, per agreement class, the
 * positions of its members, so that a step costs a look-up and not a walk.
 */
#include <stdlib.h>
#include <string.h>

#include "host/match/match.h"

/* Agreement classes of one side: class[i] is equal for records that agree. */
static bool reduced_key(struct tdc_arena *arena, const char *name, const char *shape,
                        const char **key, size_t *length)
{
    const char *direction = strstr(name, "forward") != NULL    ? "forward"
                            : strstr(name, "backward") != NULL ? "backward"
                                                               : NULL;
    size_t head = strlen(name), tail = 0;
    const char *rest = "";
    if (direction != NULL) {
        const char *at = strstr(name, direction);
        rest = at + strlen(direction);
        const char *again = strstr(rest, direction);
        tail = again == NULL ? strlen(rest) : (size_t)(again - rest);
        head = (size_t)(at - name);
        /* drop what follows the second-to-last dot of the first piece */
        for (int dots = 0; dots < 2; dots++) {
            size_t cut = head;
            while (cut > 0 && name[cut - 1] != '.')
                cut--;
            if (cut == 0)
                break;
            head = cut - 1;
        }
    }
    size_t shape_length = strlen(shape), direction_length = direction ? strlen(direction) : 0;
    *length = head + 1 + direction_length + tail + 1 + shape_length;
    char *text = tdc_arena_take(arena, *length);
    if (text == NULL)
        return false;
    *key = text;
    memcpy(text, name, head);
    text += head;
    *text++ = direction != NULL ? '.' : '\0';
    if (direction != NULL)
        memcpy(text, direction, direction_length);
    text += direction_length;
    memcpy(text, rest, tail);
    text += tail;
    *text++ = '\0';
    memcpy(text, shape, shape_length);
    return true;
}

/* One side of the procedure: the records that take part, by position. Positions from `head` up to
 * `fed` are in the queue. */
struct side {
    uint32_t *records; /* by position */
    uint32_t *classes; /* by position */
    uint32_t *oldest;  /* by class: oldest position of the class that is still in the queue */
    uint32_t *newest;  /* by class: newest position fed */
    uint32_t *next;    /* by position: next of its class */
    size_t count, head, fed;
};

static void side_free(struct side *side)
{
    free(side->records);
    free(side->classes);
    free(side->oldest);
    free(side->newest);
    free(side->next);
}

static bool side_classify(struct side *side, struct tdc_name_table *classes,
                          struct tdc_arena *arena, const struct tdc_dump *dump,
                          const char *const *keys, const struct tdc_match_rules *rules)
{
    size_t room = dump->record_count != 0 ? dump->record_count : 1;
    side->records = malloc(room * sizeof(uint32_t));
    side->classes = malloc(room * sizeof(uint32_t));
    side->next = malloc(room * sizeof(uint32_t));
    if (side->records == NULL || side->classes == NULL || side->next == NULL)
        return false;
    for (size_t i = 0; i < dump->record_count; i++) {
        const char *key;
        size_t length;
        bool fresh;
        if (!tdc_match_takes(rules, &dump->records[i]))
            continue;
        const char *name = keys != NULL ? keys[i] : dump->records[i].name;
        const char *shape = rules->fuzzy_any_shape ? "" : dump->records[i].shape;
        if (!reduced_key(arena, name, shape, &key, &length))
            return false;
        size_t position = side->count++;
        side->records[position] = (uint32_t)i;
        side->classes[position] = tdc_names_put(classes, key, length, &fresh);
        side->next[position] = TDC_UNPAIRED;
        if (side->classes[position] == TDC_NAME_NONE)
            return false;
    }
    return true;
}

static bool side_start(struct side *side, size_t classes)
{
    size_t bytes = (classes != 0 ? classes : 1) * sizeof(uint32_t);
    side->oldest = malloc(bytes);
    side->newest = malloc(bytes);
    if (side->oldest == NULL || side->newest == NULL)
        return false;
    memset(side->oldest, 0xff, bytes);
    memset(side->newest, 0xff, bytes);
    return true;
}

static void side_feed(struct side *side)
{
    if (side->fed == side->count)
        return;
    uint32_t position = (uint32_t)side->fed++;
    uint32_t class = side->classes[position];
    if (side->oldest[class] == TDC_UNPAIRED)
        side->oldest[class] = position;
    else
        side->next[side->newest[class]] = position;
    side->newest[class] = position;
}

/* The oldest queued position of the class, TDC_UNPAIRED if there is none. Each position is skipped
 * once. */
static uint32_t side_find(struct side *side, uint32_t class)
{
    uint32_t position = side->oldest[class];
    while (position != TDC_UNPAIRED && position < side->head)
        position = side->next[position];
    side->oldest[class] = position;
    return position;
}

/*
 * An agreement in the order of the original: the newest NPU record with the oldest bench record
 * that fits (the newest bench record among them comes last by itself), then the newest bench record
 * with the oldest NPU record that fits.
 */
static bool find_agreement(struct side *npu, struct side *bench, uint32_t *a, uint32_t *b)
{
    uint32_t newest_npu = (uint32_t)(npu->fed - 1), newest_bench = (uint32_t)(bench->fed - 1);
    uint32_t found = side_find(bench, npu->classes[newest_npu]);
    if (found != TDC_UNPAIRED) {
        *a = newest_npu;
        *b = found;
        return true;
    }
    found = side_find(npu, bench->classes[newest_bench]);
    if (found == TDC_UNPAIRED)
        return false;
    *a = found;
    *b = newest_bench;
    return true;
}

static bool emit(struct tdc_match *match, uint32_t npu, uint32_t bench,
                 const struct tdc_match_rules *rules)
{
    if (rules->same_dtype_only && bench != TDC_UNPAIRED &&
        !tdc_match_dtypes_agree(match, npu, bench))
        bench = TDC_UNPAIRED;
    return tdc_match_add(match, npu, bench);
}

static bool run(struct tdc_match *match, struct side *npu, struct side *bench,
                const struct tdc_match_rules *rules)
{
    size_t steps = npu->count > bench->count ? npu->count : bench->count;
    for (size_t i = 0; i < steps; i++) {
        side_feed(npu);
        side_feed(bench);
        bool npu_empty = npu->head == npu->fed, bench_empty = bench->head == bench->fed;
        if (npu_empty || bench_empty) {
            if (npu_empty != bench_empty)
                break;
            continue;
        }
        uint32_t a, b;
        if (!find_agreement(npu, bench, &a, &b))
            continue;
        for (; npu->head < a; npu->head++)
            if (!tdc_match_add(match, npu->records[npu->head], TDC_UNPAIRED))
                return false;
        if (!emit(match, npu->records[a], bench->records[b], rules))
            return false;
        npu->head = a + 1;
        bench->head = b + 1;
    }
    size_t end = rules->fuzzy_drops_rest ? npu->fed : npu->count;
    for (; npu->head < end; npu->head++)
        if (!tdc_match_add(match, npu->records[npu->head], TDC_UNPAIRED))
            return false;
    return true;
}

bool tdc_match_fuzzy(struct tdc_match *match, const struct tdc_match_rules *rules)
{
    struct side npu = {0}, bench = {0};
    struct tdc_name_table classes;
    struct tdc_arena arena;
    tdc_names_init(&classes);
    tdc_arena_init(&arena, (size_t)64 << 30);
    bool ok = side_classify(&npu, &classes, &arena, match->npu, match->keys, rules) &&
              side_classify(&bench, &classes, &arena, match->bench, NULL, rules) &&
              side_start(&npu, classes.count) && side_start(&bench, classes.count) &&
              run(match, &npu, &bench, rules);
    side_free(&npu);
    side_free(&bench);
    tdc_names_free(&classes);
    tdc_arena_free(&arena);
    return ok;
}
