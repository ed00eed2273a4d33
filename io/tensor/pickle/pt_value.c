#include "io/tensor/pickle/pt_value.h"

#include <string.h>

#include "io/base/error.h"

tdc_status tdc_pickle_malformed(struct tdc_pickle *pickle, const char *reason)
{
    return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: malformed pickle: %s", pickle->file,
                    reason);
}

tdc_status tdc_pickle_unsupported(struct tdc_pickle *pickle, const char *reason)
{
    return tdc_fail(pickle->error, TDC_ERR_UNSUPPORTED, "%s: %s", pickle->file, reason);
}

tdc_status tdc_pickle_too_many(struct tdc_pickle *pickle)
{
    return tdc_pickle_unsupported(pickle, "not a tensor (too many objects)");
}

void tdc_pickle_init(struct tdc_pickle *pickle, const char *file, struct tdc_error *error)
{
    pickle->file = file;
    pickle->error = error;
    pickle->items_used = 0;
    pickle->containers_used = 0;
}

bool tdc_pickle_is_text(const struct tdc_pickle_value *value, const char *text)
{
    return value->kind == TDC_PICKLE_TEXT && value->count == strlen(text) &&
           memcmp(value->bytes, text, value->count) == 0;
}

bool tdc_pickle_take_items(struct tdc_pickle *pickle, size_t count, size_t *first)
{
    if (count > TDC_PICKLE_ITEMS - pickle->items_used)
        return false;
    *first = pickle->items_used;
    pickle->items_used += count;
    return true;
}

tdc_status tdc_pickle_new_container(struct tdc_pickle *pickle, enum tdc_pickle_kind kind,
                                    struct tdc_pickle_value *value)
{
    if (pickle->containers_used == TDC_PICKLE_CONTAINERS)
        return tdc_pickle_too_many(pickle);
    pickle->containers[pickle->containers_used] = (struct tdc_pickle_container){0, 0};
    *value = (struct tdc_pickle_value){.kind = kind, .first = pickle->containers_used++};
    return TDC_OK;
}

/* Items of a container lie together: it moves to the end of the pool unless it is there already. */
bool tdc_pickle_extend(struct tdc_pickle *pickle, struct tdc_pickle_container *container,
                       const struct tdc_pickle_value *values, size_t count)
{
    size_t first;
    bool last = container->first + container->count == pickle->items_used;
    if (!tdc_pickle_take_items(pickle, last ? count : container->count + count, &first))
        return false;
    if (!last) {
        memcpy(pickle->items + first, pickle->items + container->first,
               container->count * sizeof *values);
        container->first = first;
    }
    if (count > 0)
        memcpy(pickle->items + container->first + container->count, values, count * sizeof *values);
    container->count += count;
    return true;
}
