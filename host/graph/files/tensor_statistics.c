#include "host/graph/files/tensor_statistics.h"

#include <math.h>
#include <stdlib.h>

#include "host/engine/source.h"
#include "io/file/mapping_guard.h"

#define AT_ONCE ((size_t)2048)

struct pass {
    const struct tdc_tensor *tensor;
    struct tdc_tensor_statistics all;
    bool numbers;
    unsigned char elements[AT_ONCE * 16];
};

static void make_pass(void *argument)
{
    struct pass *pass = argument;
    const struct tdc_tensor *tensor = pass->tensor;
    struct tdc_tensor_statistics *all = &pass->all;
    tdc_dtype dtype = tdc_source_dtype(tensor);
    size_t size = tdc_dtype_size(dtype);
    for (uint64_t first = 0; first < tensor->count; first += AT_ONCE) {
        uint64_t left = tensor->count - first;
        size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
        if (!tdc_gather_elements(tensor, first, count, pass->elements))
            return;
        for (size_t i = 0; i < count; i++) {
            double imaginary,
                value = tdc_element_value(dtype, pass->elements + i * size, &imaginary);
            all->nan |= isnan(value) != 0;
            all->sum += value;
            all->squares += value * value;
            all->most = value > all->most ? value : all->most;
            all->least = value < all->least ? value : all->least;
        }
    }
    pass->numbers = true;
}

bool tdc_tensor_statistics(const struct tdc_tensor *tensor,
                           struct tdc_tensor_statistics *statistics)
{
    struct pass *pass = calloc(1, sizeof *pass);
    if (pass == NULL)
        return false;
    pass->tensor = tensor;
    pass->all.most = -(double)INFINITY;
    pass->all.least = (double)INFINITY;
    bool read = tdc_guarded_read(make_pass, pass) && pass->numbers;
    *statistics = pass->all;
    free(pass);
    return read;
}
