#include "reference/primitives/complex_parts.h"

#include "reference/arguments.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

typedef struct tdc_parts parts;

tdc_array *tdc_part(tdc_evaluation *e, tdc_array *x, int which)
{
    return tdc_squeeze(e, tdc_slice(e, x, x->rank - 1, which, 1, 1), x->rank - 1);
}

parts tdc_split(tdc_evaluation *e, tdc_array *x)
{
    if (!x->complex)
        return (parts){tdc_to_real(e, x), NULL};
    return (parts){tdc_part(e, x, 0), tdc_part(e, x, 1)};
}

tdc_array *tdc_join(tdc_evaluation *e, parts z)
{
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    tdc_array *im = z.im != NULL ? z.im : tdc_zeros(e, TDC_F64, z.re->rank, z.re->shape);
    tdc_broadcast_shape(e, z.re, im, &rank, shape);
    if (rank + 1 > TDC_REFERENCE_RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
    tdc_array *both[2] = {tdc_unsqueeze(e, tdc_expand(e, z.re, rank, shape), rank),
                          tdc_unsqueeze(e, tdc_expand(e, im, rank, shape), rank)};
    tdc_array *y = tdc_concatenate(e, both, 2, rank);
    y->complex = true;
    return y;
}

parts tdc_parts_argument(tdc_evaluation *e, const char *name)
{
    return tdc_split(e, tdc_array_argument(e, name));
}

void tdc_give_parts(tdc_evaluation *e, parts z)
{
    tdc_give(e, z.im == NULL ? z.re : tdc_join(e, z));
}
