/*
 * match.h - which record of one dump faces which of the other.
 *
 * Pairs come out in the order of the rows of the result table. What is matched by what is decided
 * by struct tdc_match_rules; the rule sets of host/judge fill it in.
 */
#ifndef TDC_HOST_MATCH_H
#define TDC_HOST_MATCH_H

#include "host/dump/dump.h"

struct tdc_match_rules {
    /* Two records need the same shape text to be paired; otherwise the name decides alone. */
    bool shape_in_key;
    /* Repeated names: every record of one side with every record of the other (msprobe), or
     * the k-th with the k-th. */
    bool cross_product;
    /* Pairs whose types do not agree (spec 4.3) are taken apart again. */
    bool same_dtype_only;
    /* Records of the bench side without a partner follow at the end. */
    bool list_bench_only;
    /* Content of spec 2.8 ends the run. */
    bool refuse_content;
    /* Fuzzy matching forgets the NPU records after the point where the bench side ran out. */
    bool fuzzy_drops_rest;
};

#define TDC_UNPAIRED UINT32_MAX

struct tdc_pairing {
    uint32_t npu, bench; /* record numbers; TDC_UNPAIRED: no partner */
};

struct tdc_match {
    const struct tdc_dump *npu, *bench;
    tdc_mode mode;
    bool fuzzy; /* asked for, even if a data mapping took its place */
    struct tdc_pairing *pairs;
    size_t count, capacity;
};

/* How the two can be compared (spec 2.7); TDC_ERR_MISMATCH or TDC_ERR_FORMAT with msprobe's texts.
 */
tdc_status tdc_match_find_mode(const struct tdc_dump *npu, const struct tdc_dump *bench,
                               tdc_mode *mode, struct tdc_error *error);

tdc_status tdc_match_build(const struct tdc_dump *npu, const struct tdc_dump *bench,
                           const struct tdc_match_rules *rules, const struct tdc_options *options,
                           struct tdc_match **match, struct tdc_error *error);

/* ---- between the files of this folder -------------------------------------------------------- */

bool tdc_match_add(struct tdc_match *match, uint32_t npu, uint32_t bench);

/* Spec 4.3. */
bool tdc_dtypes_agree(const char *npu, const char *bench);

/*
 * The ways to pair. keys[i] is the name under which NPU record i looks for its partner. They
 * return false when out of memory.
 */
bool tdc_match_exact(struct tdc_match *match, const char *const *keys,
                     const struct tdc_match_rules *rules);
bool tdc_match_by_name(struct tdc_match *match, const char *const *keys);
bool tdc_match_fuzzy(struct tdc_match *match, const char *const *keys,
                     const struct tdc_match_rules *rules);

/* Reads `NPU row name: bench row name` pairs and replaces keys[]; entries that name no NPU record
 * are reported. The texts live in the arena. */
tdc_status tdc_match_map_names(const char *path, const struct tdc_dump *npu, const char **keys,
                               struct tdc_arena *arena, const struct tdc_options *options,
                               struct tdc_error *error);

#endif
