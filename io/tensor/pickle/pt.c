#include "io/tensor/pickle/pt.h"

#include <string.h>

#include "io/base/error.h"
#include "io/file/zip_reader.h"
#include "io/tensor/pickle/pt_pickle.h"
#include "io/tensor/pickle/pt_quantised.h"

/* Nothing in it is inflated, so no small file can become a large one. */
static const struct tdc_zip_kind torch_file = {.what = "torch file", .in_folder = true};

static tdc_status find(const struct tdc_zip *zip, const char *name, struct tdc_zip_member *member,
                       struct tdc_pickle *pickle)
{
    return tdc_zip_find(zip, "", (const unsigned char *)name, strlen(name), member, pickle->error);
}

/* The member `byteorder` says "little" or "big"; older files have none and are little-endian. */
static tdc_status read_byte_order(const struct tdc_zip *zip, struct tdc_pickle *pickle,
                                  bool *big_endian)
{
    struct tdc_zip_member member;
    tdc_status status = find(zip, "byteorder", &member, pickle);
    *big_endian = false;
    if (status != TDC_OK || !member.found)
        return status;
    if (member.size == 3 && memcmp(member.data, "big", 3) == 0)
        *big_endian = true;
    else if (member.size != 6 || memcmp(member.data, "little", 6) != 0)
        return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: unknown byte order", pickle->file);
    return TDC_OK;
}

static tdc_status find_storage(const void *context, const struct tdc_pickle_value *key,
                               const unsigned char **data, size_t *size, struct tdc_pickle *pickle)
{
    const struct tdc_zip *zip = context;
    struct tdc_zip_member member;
    tdc_status status = tdc_zip_find(zip, "data/", key->bytes, key->count, &member, pickle->error);
    if (status == TDC_OK && !member.found)
        return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: damaged torch file: no storage",
                        pickle->file);
    *data = member.data;
    *size = member.size;
    return status;
}

static tdc_status parse_zip(const unsigned char *bytes, size_t size, struct tdc_pickle *pickle,
                            struct tdc_tensor *tensor)
{
    struct tdc_zip zip;
    struct tdc_zip_member text;
    struct tdc_pickle_value value;
    bool big_endian;
    tdc_status status = tdc_zip_open(&zip, torch_file, bytes, size, pickle->file, pickle->error);
    if (status == TDC_OK)
        status = find(&zip, "data.pkl", &text, pickle);
    if (status != TDC_OK)
        return status;
    if (!text.found)
        return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: not a torch file: no data.pkl",
                        pickle->file);
    status = tdc_pickle_run(pickle, text.data, text.size, &value, NULL);
    if (status == TDC_OK)
        status = tdc_pt_require_tensor(pickle, &value);
    if (status == TDC_OK)
        status = read_byte_order(&zip, pickle, &big_endian);
    if (status != TDC_OK)
        return status;
    const unsigned char *data = NULL;
    size_t data_size = 0;
    const struct tdc_pickle_value *key = tdc_pt_storage_of(pickle, &value) + TDC_STORAGE_KEY;
    status = find_storage(&zip, key, &data, &data_size, pickle);
    if (status == TDC_OK)
        status = tdc_pt_describe(pickle, &value, data, data_size, big_endian, tensor);
    struct tdc_pt_storages storages = {find_storage, &zip, big_endian};
    return status == TDC_OK ? tdc_pt_quantiser(pickle, &value, &storages, tensor) : status;
}

tdc_status tdc_pt_parse(const unsigned char *bytes, size_t size, struct tdc_pickle *pickle,
                        struct tdc_tensor *tensor)
{
    if (size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0)
        return parse_zip(bytes, size, pickle, tensor);
    return tdc_pt_legacy_parse(bytes, size, pickle, tensor);
}
