#include "host/align/layout/sided.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/text.h"

#define SIDED_LIMIT ((size_t)16 << 30)

static const char *const known[] = {"tp",      "cp",     "sp",     "ep",     "etp",     "edp",
                                    "dp",      "pp",     "vpp",    "fsdp",   "attn_tp", "attn_dp",
                                    "attn_cp", "moe_ep", "moe_tp", "moe_dp", "rank",    "step"};

static bool is_name(const char *text, const char *name, size_t length)
{
    return strlen(text) == length && memcmp(text, name, length) == 0;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Every occurrence of a text goes. */
static const char *stripped(struct tdc_arena *arena, const char *name, const char *piece)
{
    size_t length = strlen(piece);
    const char *found = strstr(name, piece);
    if (found == NULL)
        return name;
    char *kept = tdc_arena_text(arena, name, strlen(name)), *to = kept;
    for (const char *at = name; kept != NULL && at != NULL; at = found + length) {
        found = strstr(at, piece);
        size_t part = found != NULL ? (size_t)(found - at) : strlen(at);
        memcpy(to, at, part);
        to += part;
        if (found == NULL)
            break;
    }
    if (kept != NULL)
        *to = '\0';
    return kept;
}

static bool strip_names(struct tdc_sided *sided)
{
    for (size_t i = 0; i < sided->side->count; i++) {
        sided->names[i] = sided->side->records[i].name;
        for (size_t k = 0; k < sided->rule->strip_count && sided->names[i] != NULL; k++)
            sided->names[i] = stripped(&sided->arena, sided->names[i], sided->rule->strip[k]);
        if (sided->names[i] == NULL)
            return false;
    }
    return true;
}

/* Axes of the source, with the sizes that were found. */
static bool note_given(struct tdc_sided *sided)
{
    size_t room = 0;
    for (size_t i = 0; i < sided->side->count; i++)
        room =
            sided->side->records[i].place_count > room ? sided->side->records[i].place_count : room;
    room = room * 4 + 16;
    sided->given = tdc_arena_zeroed(&sided->arena, room, sizeof *sided->given);
    for (size_t i = 0; i < sided->side->count && sided->given != NULL; i++) {
        const struct tdc_side_record *record = &sided->side->records[i];
        for (size_t k = 0; k < record->place_count; k++) {
            const struct tdc_axis_place *place = &record->places[k];
            size_t at = 0;
            while (at < sided->given_count && strcmp(sided->given[at].name, place->axis) != 0)
                at++;
            if (at == room)
                continue; /* more axes than any mesh has */
            if (at == sided->given_count)
                sided->given[sided->given_count++] = (struct tdc_mesh_axis){.name = place->axis};
            uint64_t size = place->size > place->index ? place->size : place->index + 1;
            if (size > sided->given[at].size)
                sided->given[at].size = size;
        }
    }
    return sided->given != NULL;
}

static uint64_t mesh_ranks(const struct tdc_mesh_line *line)
{
    uint64_t product = 1;
    for (size_t i = 0; i < line->count; i++)
        if (line->axes[i].same_as == NULL &&
            __builtin_mul_overflow(product, line->axes[i].size, &product))
            return UINT64_MAX;
    return product;
}

static void place_ranks(struct tdc_sided *sided)
{
    const struct tdc_rule_side *rule = sided->rule;
    for (size_t i = 0; i < sided->side->count; i++) {
        int64_t rank = sided->side->records[i].rank;
        sided->place_in_mesh[i] = (uint64_t)rank;
        if (!rule->ranks_given)
            continue;
        size_t at = 0;
        while (at < rule->rank_count && rule->ranks[at] != rank)
            at++;
        sided->excluded[i] = at == rule->rank_count;
        sided->place_in_mesh[i] = at;
    }
}

static tdc_status check_mesh(const struct tdc_sided *sided, struct tdc_error *error)
{
    int64_t highest = 0;
    for (size_t i = 0; i < sided->side->count; i++)
        if (sided->side->records[i].rank > highest)
            highest = sided->side->records[i].rank;
    for (size_t i = 0; i < sided->rule->mesh_count && !sided->rule->ranks_given; i++) {
        uint64_t ranks = mesh_ranks(&sided->rule->mesh[i]);
        if ((uint64_t)highest >= ranks)
            return tdc_rule_fail(error, sided->rule->mesh[i].place,
                                 "side %c: rank%lld is outside a mesh of %llu ranks", sided->letter,
                                 (long long)highest, (unsigned long long)ranks);
    }
    return TDC_OK;
}

tdc_status tdc_sided_init(struct tdc_sided *sided, char letter, const struct tdc_align_rules *rules,
                          const struct tdc_side *side, struct tdc_error *error)
{
    /* without rules of its own the truth is as the reference */
    bool as_b = letter == 'C' && !rules->side_given[2];
    size_t count = side->count + 1;
    *sided = (struct tdc_sided){.letter = letter, .rules = rules, .side = side};
    sided->rule = &rules->sides[as_b ? 1 : letter - 'A'];
    tdc_arena_init(&sided->arena, SIDED_LIMIT);
    sided->names = tdc_arena_zeroed(&sided->arena, count, sizeof *sided->names);
    sided->excluded = tdc_arena_zeroed(&sided->arena, count, sizeof *sided->excluded);
    sided->used = tdc_arena_zeroed(&sided->arena, count, sizeof *sided->used);
    sided->place_in_mesh = tdc_arena_zeroed(&sided->arena, count, sizeof *sided->place_in_mesh);
    if (sided->names == NULL || sided->excluded == NULL || sided->used == NULL ||
        sided->place_in_mesh == NULL || !strip_names(sided) || !note_given(sided))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu records", side->count);
    place_ranks(sided);
    return check_mesh(sided, error);
}

void tdc_sided_free(struct tdc_sided *sided)
{
    tdc_arena_free(&sided->arena);
    *sided = (struct tdc_sided){0};
}

/* ---- axes ------------------------------------------------------------------------------------ */

static const struct tdc_mesh_axis *declared(const struct tdc_sided *sided, const char *name,
                                            size_t length, uint64_t *before)
{
    for (size_t i = 0; i < sided->rule->mesh_count; i++) {
        const struct tdc_mesh_line *line = &sided->rule->mesh[i];
        *before = 1;
        for (size_t k = 0; k < line->count; k++) {
            if (is_name(line->axes[k].name, name, length))
                return &line->axes[k];
            if (line->axes[k].same_as == NULL)
                *before *= line->axes[k].size; /* the product of all fits, or no rank is in it */
        }
    }
    return NULL;
}

const char *tdc_sided_axis_of(const struct tdc_sided *sided, const char *name)
{
    uint64_t before;
    const struct tdc_mesh_axis *axis = declared(sided, name, strlen(name), &before);
    return axis != NULL && axis->same_as != NULL ? axis->same_as : name;
}

bool tdc_sided_axis(const struct tdc_sided *sided, const char *name, size_t length, uint64_t *size)
{
    uint64_t before;
    *size = 1;
    for (size_t i = 0; i < sided->given_count; i++)
        if (is_name(sided->given[i].name, name, length)) {
            *size = sided->given[i].size;
            return true;
        }
    const struct tdc_mesh_axis *axis = declared(sided, name, length, &before);
    if (axis != NULL && axis->same_as != NULL)
        return tdc_sided_axis(sided, axis->same_as, strlen(axis->same_as), size);
    if (axis != NULL) {
        *size = axis->size;
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_name(known[i], name, length))
            return true;
    return sided->rule->dtensor && length == 2 && name[0] == 'm' && name[1] >= '0' &&
           name[1] < '0' + TDC_MESH_AXES;
}

int64_t tdc_sided_coordinate(const struct tdc_sided *sided, size_t record, const char *name,
                             size_t length)
{
    const struct tdc_side_record *given = &sided->side->records[record];
    uint64_t before, place[TDC_MESH_AXES];
    if (is_name("rank", name, length))
        return given->rank;
    if (is_name("step", name, length))
        return given->step;
    for (size_t i = 0; i < given->place_count; i++)
        if (is_name(given->places[i].axis, name, length))
            return (int64_t)given->places[i].index;
    const struct tdc_mesh_axis *axis = declared(sided, name, length, &before);
    if (axis != NULL && axis->same_as != NULL)
        return tdc_sided_coordinate(sided, record, axis->same_as, strlen(axis->same_as));
    if (axis != NULL)
        return (int64_t)(sided->place_in_mesh[record] / before % axis->size);
    if (sided->rule->dtensor && given->dtensor != NULL && length == 2 && name[0] == 'm' &&
        name[1] >= '0' && (unsigned)(name[1] - '0') < given->dtensor->axes &&
        tdc_dtensor_place(given->dtensor, given->rank, place))
        return (int64_t)place[name[1] - '0'];
    return 0;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool find_name(const void *context, const char *name, size_t length,
                      struct tdc_scope_value *value)
{
    const struct tdc_sided *sided = context;
    uint64_t size;
    if (length > 5 && memcmp(name + length - 5, ".size", 5) == 0) {
        if (!tdc_sided_axis(sided, name, length - 5, &size))
            return false;
        *value = (struct tdc_scope_value){.kind = TDC_VALUE_NUMBER, .number = (int64_t)size};
        return true;
    }
    const struct tdc_let *let = tdc_align_let(sided->rules, name, length);
    if (let == NULL)
        return false;
    *value = (struct tdc_scope_value){.kind = let->is_list ? TDC_VALUE_LIST : TDC_VALUE_NUMBER,
                                      .number = let->count != 0 ? let->values[0] : 0,
                                      .list = let->values,
                                      .count = let->count};
    return true;
}

struct tdc_scope tdc_sided_scope(const struct tdc_sided *sided)
{
    return (struct tdc_scope){find_name, sided};
}
