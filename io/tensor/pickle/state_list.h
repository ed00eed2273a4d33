/*
 * state_list.h - the tensors of a torch.save by name: keys and places in lists, with dots between
 * them. What is no tensor is passed over; nesting and the number of values looked at are bounded,
 * since a pickle may refer to one value from many places.
 */
#ifndef TDC_IO_STATE_LIST_H
#define TDC_IO_STATE_LIST_H

#include "io/tensor/pickle/saved_state.h"
#include "io/tensor/tensor_list.h"

/*
 * Fills the list from a file's bytes. *single is set, and nothing listed, when the pickle holds one
 * bare tensor: tensor_file.h reads those, of every form torch has for them.
 */
tdc_status tdc_state_list(const unsigned char *bytes, size_t size, struct tdc_tensor_list *list,
                          bool *single, struct tdc_error *error);

#endif
