/*
 * Files of many tensors by name: safetensors (s), npz (n), state dicts of torch (t), a part of one
 * chosen by key (k). The first byte says which. All must be listed or refused in peace, and every
 * element that is promised must lie in the file.
 */
#include "io/tensor/tensor_list.h"
#include "tests/support/tensor_probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void list(const uint8_t *data, size_t size, enum tdc_list_kind kind, const char *key)
{
    struct tdc_tensor_list tensors;
    struct tdc_error error = {0};
    tdc_status status = tdc_tensor_list_parse(data, size, kind, "file.pt", key, &tensors, &error);
    require(status == TDC_OK || error.message[0] != '\0');
    for (size_t i = 0; status == TDC_OK && i < tensors.count && i < 1000; i++) {
        const struct tdc_listed_tensor *item = tensors.items[i];
        require(item->name != NULL);
        if (item->refusal == NULL)
            probe_touch(&item->tensor);
    }
    tdc_tensor_list_close(&tensors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    /* at the start of a block of its own, so that a sanitizer sees what lies before it */
    uint8_t *copy = malloc(size - 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data + 1, size - 1);
    switch (data[0]) {
    case 's':
        list(copy, size - 1, TDC_LIST_SAFETENSORS, NULL);
        break;
    case 'g':
        list(copy, size - 1, TDC_LIST_GGUF, NULL);
        break;
    case 'n':
        list(copy, size - 1, TDC_LIST_NPZ, NULL);
        break;
    case 't':
        list(copy, size - 1, TDC_LIST_STATE, NULL);
        break;
    case 'k':
        list(copy, size - 1, TDC_LIST_STATE, "a.0.b");
        break;
    default:
        break;
    }
    free(copy);
    return 0;
}
