/* GE dump files: every tensor of the first few, described, touched and gathered. */
#include "host/engine/source.h"
#include "io/tensor/ge/ge_dump.h"
#include "tests/support/tensor_probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void gather_some(const uint8_t *data, size_t size, const char *name)
{
    enum {
        MOST = 4096
    };
    static double room[MOST * 2];
    struct tdc_tensor tensor;
    struct tdc_error error;
    if (tdc_tensor_parse(data, size, TDC_TENSOR_GE, name, &tensor, &error) != TDC_OK)
        return;
    uint64_t count = tensor.count < MOST ? tensor.count : MOST;
    tdc_gather_elements(&tensor, 0, (size_t)count, room);
    tdc_gather_elements(&tensor, tensor.count - count, (size_t)count, room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a,inputs,0", "a,inputs,1", "a,outputs,0", "a,outputs,1"};
    uint64_t counts[TDC_GE_LISTS];
    struct tdc_error error;
    tdc_ge_count(data, size, "a", counts, &error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        probe_parse_named(data, size, TDC_TENSOR_GE, names[i], &error);
        gather_some(data, size, names[i]);
    }
    return 0;
}
