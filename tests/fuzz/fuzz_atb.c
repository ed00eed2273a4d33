#include "tests/support/tensor_probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdc_error error;
    probe_parse(data, size, TDC_TENSOR_ATB, &error);
    return 0;
}
