/* synthetic_json.h - dump.json and stack.json of a synthetic dump, laid out as collectors do. */
#ifndef TDC_BENCH_SYNTHETIC_JSON_H
#define TDC_BENCH_SYNTHETIC_JSON_H

#include "bench/synthetic/synthetic_file.h"
#include "bench/synthetic/synthetic_values.h"

/* What one side of the dump says of a tensor. */
struct tdc_synthetic_record {
    struct tdc_values_statistics statistics;
    uint32_t crc;
};

struct tdc_synthetic_json {
    tdc_mode task;
    struct tdc_synthetic_shape shape; /* of every tensor */
    const char *suffix;               /* of the tensor files: "pt", "npy" */
    unsigned indent;
    uint64_t tensors;
    const struct tdc_synthetic_record *records;
};

/* Writes folder/dump.json, which must not exist. *rows: its tensors and scalars; *bytes: its size.
 */
tdc_status tdc_synthetic_dump_json(const struct tdc_synthetic_json *json, const char *folder,
                                   uint64_t *rows, uint64_t *bytes, struct tdc_error *error);
tdc_status tdc_synthetic_stack_json(uint64_t tensors, unsigned indent, const char *folder,
                                    struct tdc_error *error);

#endif
