#include "io/tensor/npy_writer.h"

#include <inttypes.h>

#include "kernels/dtype.h"

/* The header is padded so that the elements begin at a multiple of it. */
#define ALIGNMENT    64u
#define START_LENGTH 10u
#define LONGEST      0xffffu /* what version 1 can say */

static void add_dictionary(struct tdc_text *head, const char *descr, unsigned rank,
                           const uint64_t *shape)
{
    tdc_text_addf(head, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (unsigned i = 0; i < rank; i++)
        tdc_text_addf(head, "%s%" PRIu64, i == 0 ? "" : ", ", shape[i]);
    tdc_text_adds(head, rank == 1 ? ",), }" : "), }");
}

bool tdc_npy_head(struct tdc_text *head, tdc_dtype dtype, unsigned rank, const uint64_t *shape)
{
    const char *descr = tdc_dtype_entry(dtype)->numpy;
    if (descr == NULL)
        return false;
    size_t start = head->length;
    tdc_text_add(head, "\x93NUMPY\x01\0\0\0", START_LENGTH);
    add_dictionary(head, descr, rank, shape);
    while (!head->failed && (head->length - start + 1) % ALIGNMENT != 0)
        tdc_text_addc(head, ' ');
    tdc_text_addc(head, '\n');
    size_t length = head->length - start - START_LENGTH;
    if (head->failed || length > LONGEST)
        return false;
    head->data[start + 8] = (char)(unsigned char)(length & 0xff);
    head->data[start + 9] = (char)(unsigned char)(length >> 8);
    return true;
}
