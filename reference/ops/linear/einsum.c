/* einsum and tensordot: pairs of operands as batched matrix products. */
#include <ctype.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

#define RANK TDC_REFERENCE_RANK

/* An array and a letter for each of its dimensions. */
struct lettered {
    tdc_array *x;
    char letters[RANK + 1];
};

static unsigned position(const char *letters, char c)
{
    const char *found = strchr(letters, c);
    return found == NULL ? RANK : (unsigned)(found - letters);
}

/* The size of a letter's dimension, -1 when it has none. */
static int64_t extent(const struct lettered *o, char c)
{
    unsigned at = position(o->letters, c);
    return at < RANK && at < o->x->rank ? o->x->shape[at] : -1;
}

/* A letter that comes twice takes the diagonal. */
static void take_diagonals(tdc_evaluation *e, struct lettered *o)
{
    for (unsigned i = 0; i < o->x->rank; i++)
        for (unsigned j = i + 1; j < o->x->rank; j++) {
            if (o->letters[i] != o->letters[j])
                continue;
            int64_t strides[RANK], shape[RANK];
            unsigned rank = 0;
            char kept[RANK + 1] = {0};
            if (o->x->shape[i] != o->x->shape[j])
                tdc_refuse(e, TDC_ERR_ARGUMENT, "a repeated subscript has two sizes");
            tdc_strides(o->x, strides);
            strides[i] += strides[j];
            for (unsigned d = 0; d < o->x->rank; d++)
                if (d != j) {
                    shape[rank] = o->x->shape[d];
                    strides[rank] = strides[d];
                    kept[rank++] = o->letters[d];
                }
            o->x = tdc_view(e, o->x, rank, shape, strides, 0);
            memcpy(o->letters, kept, sizeof kept);
            j--;
        }
}

/* Sums over letters that occur neither in `others` nor in the result. */
static void sum_unused(tdc_evaluation *e, struct lettered *o, const char *others,
                       const char *result)
{
    bool reduced[RANK] = {false};
    char kept[RANK + 1] = {0};
    unsigned rank = 0;
    for (unsigned d = 0; d < o->x->rank; d++) {
        reduced[d] = strchr(others, o->letters[d]) == NULL && strchr(result, o->letters[d]) == NULL;
        if (!reduced[d])
            kept[rank++] = o->letters[d];
    }
    if (rank < o->x->rank)
        o->x = tdc_sum(e, o->x, reduced, false);
    memcpy(o->letters, kept, sizeof kept);
}

/* The letters in the given order. */
static tdc_array *ordered(tdc_evaluation *e, const struct lettered *o, const char *letters)
{
    unsigned order[RANK];
    if (strlen(letters) != o->x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "subscripts do not fit");
    for (unsigned d = 0; d < o->x->rank; d++) {
        order[d] = position(o->letters, letters[d]);
        if (order[d] >= o->x->rank)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a subscript of the result is in no operand");
    }
    return tdc_permute(e, o->x, order);
}

static int64_t size_of(tdc_evaluation *e, const struct lettered *o, const char *letters,
                       int64_t *sizes)
{
    int64_t total = 1;
    for (unsigned i = 0; letters[i] != 0; i++) {
        sizes[i] = extent(o, letters[i]);
        if (sizes[i] < 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a subscript is in no operand");
        if (__builtin_mul_overflow(total, sizes[i], &total))
            tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    }
    return total;
}

static void append(char *to, const char *letters)
{
    strncat(to, letters, RANK - strlen(to));
}

/* A dimension of one element broadcasts against the other operand's: it is left out. */
static void drop_ones(tdc_evaluation *e, struct lettered *o, const struct lettered *other)
{
    for (unsigned d = 0; d < o->x->rank;) {
        if (o->x->shape[d] != 1 || extent(other, o->letters[d]) < 2) {
            d++;
            continue;
        }
        o->x = tdc_squeeze(e, o->x, d);
        memmove(o->letters + d, o->letters + d + 1, strlen(o->letters + d));
    }
}

static struct lettered contract(tdc_evaluation *e, struct lettered *a, struct lettered *b,
                                const char *wanted)
{
    char batch[RANK + 1] = "", inner[RANK + 1] = "", rows[RANK + 1] = "", columns[RANK + 1] = "";
    char order[3 * RANK + 1];
    int64_t shape[3 * RANK], ignored[RANK];
    drop_ones(e, a, b);
    drop_ones(e, b, a);
    sum_unused(e, a, b->letters, wanted);
    sum_unused(e, b, a->letters, wanted);
    for (const char *c = a->letters; *c != 0; c++) {
        bool shared = strchr(b->letters, *c) != NULL;
        append(!shared ? rows : strchr(wanted, *c) != NULL ? batch : inner, (char[]){*c, 0});
        if (shared && extent(a, *c) != extent(b, *c))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a subscript has two sizes");
    }
    for (const char *c = b->letters; *c != 0; c++)
        if (strchr(a->letters, *c) == NULL)
            append(columns, (char[]){*c, 0});
    size_t nb = strlen(batch), nr = strlen(rows), nc = strlen(columns);
    if (nb + nr + nc > RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
    int64_t batches = size_of(e, a, batch, shape), m = size_of(e, a, rows, shape + nb);
    int64_t n = size_of(e, b, columns, shape + nb + nr), k = size_of(e, a, inner, ignored);
    order[0] = 0;
    strcat(strcat(strcat(order, batch), rows), inner);
    tdc_array *x = tdc_reshape(e, ordered(e, a, order), 3, (const int64_t[]){batches, m, k});
    order[0] = 0;
    strcat(strcat(strcat(order, batch), inner), columns);
    tdc_array *y = tdc_reshape(e, ordered(e, b, order), 3, (const int64_t[]){batches, k, n});
    struct lettered result = {.letters = ""};
    strcat(strcat(strcat(result.letters, batch), rows), columns);
    result.x =
        tdc_reshape(e, tdc_batch_product(e, x, y, false, false), (unsigned)(nb + nr + nc), shape);
    return result;
}

/* The dimensions an ellipsis stands for are called '0', '1', ... from the last one on. */
static unsigned add_ellipsis(tdc_evaluation *e, struct lettered *o, unsigned length, unsigned rank,
                             const char *behind)
{
    unsigned named = length;
    for (; *behind != 0 && *behind != ',' && *behind != '-'; behind++)
        named += *behind != ' ';
    if (named > rank || rank - named > 10)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "subscripts do not fit the operands");
    for (unsigned i = rank - named; i-- > 0;)
        o->letters[length++] = (char)('0' + i);
    return length;
}

/* All ellipsis dimensions, the outermost first. */
static unsigned whole_ellipsis(const struct lettered *operands, size_t count, char *to)
{
    unsigned length = 0;
    for (char c = '9'; c >= '0'; c--)
        for (size_t i = 0; i < count; i++)
            if (strchr(operands[i].letters, c) != NULL) {
                to[length++] = c;
                break;
            }
    to[length] = 0;
    return length;
}

/* Letters of the result when the equation has no arrow: those that come once, sorted. */
static void implicit_result(const struct lettered *operands, size_t count, char *result)
{
    unsigned length = whole_ellipsis(operands, count, result);
    for (int c = 'A'; c <= 'z'; c++) {
        size_t uses = 0;
        for (size_t i = 0; i < count; i++)
            for (const char *at = operands[i].letters; *at != 0; at++)
                uses += *at == c;
        if (uses == 1 && length < RANK)
            result[length++] = (char)c;
    }
    result[length] = 0;
}

static size_t read_operands(tdc_evaluation *e, tdc_array *const *arrays, size_t count,
                            const char **at, struct lettered *operands)
{
    const char *text = *at;
    for (size_t i = 0; i < count; i++) {
        unsigned length = 0;
        for (; *text != 0 && *text != ',' && *text != '-'; text++) {
            if (*text == ' ')
                continue;
            if (strncmp(text, "...", 3) == 0) {
                length = add_ellipsis(e, &operands[i], length, arrays[i]->rank, text + 3);
                text += 2;
                continue;
            }
            if (!isalpha((unsigned char)*text) || length >= RANK)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "subscripts must be letters");
            operands[i].letters[length++] = *text;
        }
        operands[i].letters[length] = 0;
        operands[i].x = tdc_to_real(e, arrays[i]);
        if (length != arrays[i]->rank || (i + 1 < count) != (*text == ','))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "subscripts do not fit the operands");
        text += *text == ',';
        take_diagonals(e, &operands[i]);
    }
    *at = text;
    return count;
}

static void einsum(tdc_evaluation *e)
{
    tdc_array **arrays;
    size_t count = tdc_arrays_argument(e, "operands", &arrays);
    struct lettered *operands = tdc_take(e, (int64_t)count, sizeof *operands);
    const char *text = tdc_text_argument(e, "equation");
    char result[RANK + 1] = "", wanted[8 * RANK + 1];
    read_operands(e, arrays, count, &text, operands);
    if (count > 6)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "einsum of more than six operands");
    if (text[0] == '-' && text[1] == '>') {
        unsigned length = 0;
        for (text += 2; *text != 0; text++) {
            if (strncmp(text, "...", 3) == 0 && length + 10 <= RANK) {
                length += whole_ellipsis(operands, count, result + length);
                text += 2;
            } else if (isalpha((unsigned char)*text) && length < RANK) {
                result[length++] = *text;
            }
        }
        result[length] = 0;
    } else {
        implicit_result(operands, count, result);
    }
    struct lettered sum = operands[0];
    for (size_t i = 1; i < count; i++) {
        strcpy(wanted, result);
        for (size_t j = i + 1; j < count; j++)
            strcat(wanted, operands[j].letters);
        sum = contract(e, &sum, &operands[i], wanted);
    }
    sum_unused(e, &sum, "", result);
    tdc_give(e, ordered(e, &sum, result));
}

/* Dimension i of side 0 or 1: dims is a number (the last of a with the first of b) or two lists. */
static int64_t paired(tdc_evaluation *e, const tdc_call_value *dims, size_t side, size_t i,
                      int64_t otherwise)
{
    if (dims->kind != TDC_VALUE_LIST)
        return otherwise;
    const tdc_call_value *v = &dims->list.values[side].list.values[i];
    if (v->kind != TDC_VALUE_INT)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "dims must be ints");
    return v->whole;
}

static size_t pair_count(tdc_evaluation *e, const tdc_call_value *dims)
{
    if (dims->kind != TDC_VALUE_LIST) {
        int64_t count = tdc_int_argument(e, "dims");
        return count < 0 ? RANK + 1 : (size_t)count;
    }
    const tdc_call_value *sides = dims->list.values;
    if (dims->list.count != 2 || sides[0].kind != TDC_VALUE_LIST ||
        sides[1].kind != TDC_VALUE_LIST || sides[0].list.count != sides[1].list.count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "dims must be two lists of one length");
    return sides[0].list.count;
}

static void tensordot(tdc_evaluation *e)
{
    struct lettered a = {.x = tdc_real_array_argument(e, "input")};
    struct lettered b = {.x = tdc_real_array_argument(e, "other")};
    const tdc_call_value *dims = tdc_argument(e, "dims");
    size_t pairs = pair_count(e, dims);
    char wanted[2 * RANK + 1] = "";
    if (pairs > a.x->rank || pairs > b.x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "dims do not fit the tensors");
    for (unsigned d = 0; d < a.x->rank; d++)
        a.letters[d] = (char)('A' + d);
    for (unsigned d = 0; d < b.x->rank; d++)
        b.letters[d] = (char)('a' + d);
    for (size_t i = 0; i < pairs; i++) {
        int64_t p = paired(e, dims, 0, i, (int64_t)(a.x->rank - pairs + i));
        int64_t q = paired(e, dims, 1, i, (int64_t)i);
        b.letters[tdc_dimension(e, q, b.x->rank)] = a.letters[tdc_dimension(e, p, a.x->rank)];
    }
    for (unsigned d = 0; d < a.x->rank; d++)
        if (strchr(b.letters, a.letters[d]) == NULL)
            strncat(wanted, &a.letters[d], 1);
    for (unsigned d = 0; d < b.x->rank; d++)
        if (strchr(a.letters, b.letters[d]) == NULL)
            strncat(wanted, &b.letters[d], 1);
    struct lettered y = contract(e, &a, &b, wanted);
    tdc_give(e, ordered(e, &y, wanted));
}

static const struct tdc_operator rows[] = {
    {"einsum", TDC_IN_MINT | TDC_IN_TORCH, "equation, *operands", einsum, 0, 0},
    {"tensordot", TDC_IN_MINT | TDC_IN_TORCH, "input, other, dims=2", tensordot, 0, 0},
};
const struct tdc_operator_family tdc_einsum_family = TDC_FAMILY("tensor products", rows);
