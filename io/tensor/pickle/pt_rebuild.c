#include "io/tensor/pickle/pt_rebuild.h"

#include <string.h>

#include "io/base/error.h"

static const struct tdc_pickle_value *items_of(const struct tdc_pickle *pickle,
                                               const struct tdc_pickle_value *value)
{
    return pickle->items + value->first;
}

static bool is_name(const struct tdc_pickle_value *value, enum tdc_pt_role role)
{
    return value->kind == TDC_PICKLE_NAME && value->name->role == role;
}

tdc_status tdc_pickle_persistent(struct tdc_pickle *pickle, const struct tdc_pickle_value *id,
                                 struct tdc_pickle_value *storage)
{
    if (id->kind != TDC_PICKLE_TUPLE || id->count < 5 ||
        !tdc_pickle_is_text(items_of(pickle, id), "storage"))
        return tdc_pickle_unsupported(pickle, "unknown persistent id in the pickle");
    const struct tdc_pickle_value *part = items_of(pickle, id);
    if (!is_name(&part[1], TDC_PT_STORAGE_CLASS) || part[2].kind != TDC_PICKLE_TEXT ||
        part[4].kind != TDC_PICKLE_INTEGER)
        return tdc_pickle_malformed(pickle, "wrong persistent id of a storage");
    struct tdc_pickle_value view = {.kind = TDC_PICKLE_NONE};
    if (id->count > 5)
        view = part[5];
    if (view.kind != TDC_PICKLE_NONE && (view.kind != TDC_PICKLE_TUPLE || view.count != 3))
        return tdc_pickle_malformed(pickle, "wrong view of a storage");
    size_t first;
    if (!tdc_pickle_take_items(pickle, TDC_STORAGE_FIELDS, &first))
        return tdc_pickle_too_many(pickle);
    struct tdc_pickle_value *field = pickle->items + first;
    field[TDC_STORAGE_CLASS] = part[1];
    field[TDC_STORAGE_KEY] = part[2];
    field[TDC_STORAGE_COUNT] = part[4];
    field[TDC_STORAGE_VIEW] = view;
    *storage = (struct tdc_pickle_value){.kind = TDC_PICKLE_STORAGE, .first = first};
    return TDC_OK;
}

/* Tensors whose conjugation or negation is only noted in the metadata hold other values than their
 * bytes say. Other metadata (of backends) does not change values. */
static bool metadata_changes_values(const struct tdc_pickle *pickle,
                                    const struct tdc_pickle_value *metadata)
{
    if (metadata->kind != TDC_PICKLE_DICT)
        return false;
    const struct tdc_pickle_container *dict = &pickle->containers[metadata->first];
    const struct tdc_pickle_value *item = pickle->items + dict->first;
    for (size_t i = 0; i + 1 < dict->count; i += 2)
        if ((tdc_pickle_is_text(&item[i], "conj") || tdc_pickle_is_text(&item[i], "neg")) &&
            !(item[i + 1].kind == TDC_PICKLE_BOOL && item[i + 1].integer == 0))
            return true;
    return false;
}

static tdc_status rebuild_tensor(struct tdc_pickle *pickle, const struct tdc_pt_name *function,
                                 const struct tdc_pickle_value *arguments,
                                 struct tdc_pickle_value *result)
{
    const struct tdc_pickle_value *argument = items_of(pickle, arguments);
    bool typed = function->role == TDC_PT_REBUILD_TYPED;
    bool quantised = function->role == TDC_PT_REBUILD_QUANTISED;
    size_t metadata = typed || quantised ? 7 : 6;
    if (argument[0].kind != TDC_PICKLE_STORAGE || argument[1].kind != TDC_PICKLE_INTEGER ||
        argument[2].kind != TDC_PICKLE_TUPLE || argument[3].kind != TDC_PICKLE_TUPLE ||
        (typed && !is_name(&argument[6], TDC_PT_DTYPE)) ||
        (quantised && argument[4].kind != TDC_PICKLE_TUPLE))
        return tdc_pickle_malformed(pickle, "wrong arguments of a tensor");
    if (arguments->count > metadata && metadata_changes_values(pickle, &argument[metadata]))
        return tdc_pickle_unsupported(pickle, "tensor with a pending conjugation or negation");
    size_t first;
    if (!tdc_pickle_take_items(pickle, TDC_TENSOR_FIELDS, &first))
        return tdc_pickle_too_many(pickle);
    struct tdc_pickle_value *field = pickle->items + first;
    memcpy(field, argument, sizeof *field * TDC_TENSOR_DTYPE);
    field[TDC_TENSOR_DTYPE] =
        typed ? argument[6] : (struct tdc_pickle_value){.kind = TDC_PICKLE_NONE};
    field[TDC_TENSOR_QUANTISER] =
        quantised ? argument[4] : (struct tdc_pickle_value){.kind = TDC_PICKLE_NONE};
    *result = (struct tdc_pickle_value){.kind = TDC_PICKLE_TENSOR, .first = first};
    return TDC_OK;
}

static tdc_status wrap_tensor(struct tdc_pickle *pickle, const struct tdc_pickle_value *arguments,
                              struct tdc_pickle_value *result)
{
    const struct tdc_pickle_value *argument = items_of(pickle, arguments);
    if (argument[0].kind != TDC_PICKLE_TENSOR && argument[0].kind != TDC_PICKLE_REFUSED)
        return tdc_pickle_malformed(pickle, "a parameter without a tensor");
    *result = argument[0];
    return TDC_OK;
}

/* A tensor with attributes: (function, class, arguments, state). */
static tdc_status rebuild_subtype(struct tdc_pickle *pickle,
                                  const struct tdc_pickle_value *arguments,
                                  struct tdc_pickle_value *result)
{
    const struct tdc_pickle_value *argument = items_of(pickle, arguments);
    /* not itself again, so that the depth is one */
    if (argument[0].kind != TDC_PICKLE_NAME || is_name(&argument[0], TDC_PT_REBUILD_SUBTYPE) ||
        !is_name(&argument[1], TDC_PT_TENSOR_CLASS) || argument[2].kind != TDC_PICKLE_TUPLE)
        return tdc_pickle_unsupported(pickle, "tensor of an unknown class");
    return tdc_pickle_call(pickle, &argument[0], &argument[2], result);
}

static tdc_status make_size(struct tdc_pickle *pickle, const struct tdc_pickle_value *arguments,
                            struct tdc_pickle_value *result)
{
    *result = (struct tdc_pickle_value){.kind = TDC_PICKLE_TUPLE};
    if (arguments->count == 0)
        return TDC_OK;
    const struct tdc_pickle_value *argument = items_of(pickle, arguments);
    if (arguments->count != 1 || argument[0].kind != TDC_PICKLE_TUPLE)
        return tdc_pickle_malformed(pickle, "wrong torch.Size");
    *result = argument[0];
    return TDC_OK;
}

tdc_status tdc_pickle_call(struct tdc_pickle *pickle, const struct tdc_pickle_value *function,
                           const struct tdc_pickle_value *arguments,
                           struct tdc_pickle_value *result)
{
    if (function->kind != TDC_PICKLE_NAME || arguments->kind != TDC_PICKLE_TUPLE)
        return tdc_pickle_malformed(pickle, "call of something that is not a name");
    const struct tdc_pt_name *name = function->name;
    if (arguments->count < name->least_arguments)
        return tdc_pickle_malformed(pickle, "too few arguments of a call");
    switch (name->role) {
    case TDC_PT_REBUILD_TENSOR:
    case TDC_PT_REBUILD_TYPED:
    case TDC_PT_REBUILD_QUANTISED:
        return rebuild_tensor(pickle, name, arguments, result);
    case TDC_PT_WRAP_TENSOR:
        return wrap_tensor(pickle, arguments, result);
    case TDC_PT_REBUILD_SUBTYPE:
        return rebuild_subtype(pickle, arguments, result);
    case TDC_PT_DICT:
        return tdc_pickle_new_container(pickle, TDC_PICKLE_DICT, result);
    case TDC_PT_SIZE:
        return make_size(pickle, arguments, result);
    case TDC_PT_OPAQUE:
        *result = (struct tdc_pickle_value){.kind = TDC_PICKLE_OPAQUE};
        return TDC_OK;
    case TDC_PT_REFUSED:
        *result = (struct tdc_pickle_value){.kind = TDC_PICKLE_REFUSED, .name = name};
        return TDC_OK;
    case TDC_PT_STORAGE_CLASS:
    case TDC_PT_DTYPE:
    case TDC_PT_TENSOR_CLASS:
        break;
    }
    return tdc_fail(pickle->error, TDC_ERR_UNSUPPORTED, "%s: pickle calls %s.%s", pickle->file,
                    name->module, name->name);
}
