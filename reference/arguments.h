/* arguments.h - the arguments of a call, by their names in the signature, and its results. */
#ifndef TDC_REFERENCE_ARGUMENTS_H
#define TDC_REFERENCE_ARGUMENTS_H

#include "reference/evaluation.h"

void tdc_bind(tdc_evaluation *e, const tdc_call_value *arguments, size_t argument_count,
              const struct tdc_reference_keyword *keywords, size_t keyword_count);
const tdc_call_value *tdc_argument(tdc_evaluation *e, const char *name);
bool tdc_given(tdc_evaluation *e, const char *name); /* present and not None */
/* A tensor, or a number as a tensor of rank 0 that does not promote others. */
tdc_array *tdc_array_of(tdc_evaluation *e, const tdc_call_value *v, const char *name);
tdc_array *tdc_array_argument(tdc_evaluation *e, const char *name);
/* The same converted to float64, for functions that have no integer form. */
tdc_array *tdc_real_array_argument(tdc_evaluation *e, const char *name);
tdc_array *tdc_optional_real_array(tdc_evaluation *e, const char *name); /* NULL for None */
double tdc_real_argument(tdc_evaluation *e, const char *name);
int64_t tdc_int_argument(tdc_evaluation *e, const char *name);
bool tdc_bool_argument(tdc_evaluation *e, const char *name);
const char *tdc_text_argument(tdc_evaluation *e, const char *name);
tdc_dtype tdc_dtype_argument(tdc_evaluation *e, const char *name, tdc_dtype otherwise);
/* A list of ints, or one int. Gives their number, at most limit. */
size_t tdc_ints_argument(tdc_evaluation *e, const char *name, int64_t *ints, size_t limit);
/* The tensors of a list argument. */
size_t tdc_arrays_argument(tdc_evaluation *e, const char *name, tdc_array ***arrays);
/* A dimension of `rank` from a possibly negative number. */
unsigned tdc_dimension(tdc_evaluation *e, int64_t dim, unsigned rank);
unsigned tdc_dim_argument(tdc_evaluation *e, const char *name, unsigned rank);
/* Which dimensions are reduced: None or an empty list means all. */
void tdc_dims_argument(tdc_evaluation *e, const char *name, unsigned rank,
                       bool reduced[TDC_REFERENCE_RANK]);

void tdc_give(tdc_evaluation *e, tdc_array *output);
void tdc_give_value(tdc_evaluation *e, tdc_call_value output);

#endif
