/*
 * match.h - which record of one dump faces which of the other.
 *
 * Pairs come out in the order of the rows of the result table. What is matched by what is decided
 * by struct tdc_match_rules; the rule sets of host/judge fill it in.
 */
#ifndef TDC_HOST_MATCH_H
#define TDC_HOST_MATCH_H

#include "host/dump/dump.h"
#include "io/base/text.h"

struct tdc_match_rules {
    /* Two records need the same shape text to be paired; otherwise the name decides alone. */
    bool shape_in_key;
    /* Repeated names: every record of one side with every record of the other (msprobe), or
     * the k-th with the k-th. */
    bool cross_product;
    /* Pairs whose types do not agree (docs/msprobe.md#types-that-agree) are taken apart again. */
    bool same_dtype_only;
    /* Records that msprobe makes no row of take no part. */
    bool msprobe_records;
    /* Records of the bench side without a partner follow at the end. */
    bool list_bench_only;
    /* Content that msprobe refuses (docs/msprobe.md#refused-content) ends the run. */
    bool refuse_content;
    /* Fuzzy matching forgets the NPU records after the point where the bench side ran out. */
    bool fuzzy_drops_rest;
    /* Of several mappings only the first of api, cell, data counts (docs/msprobe.md#mapped-names);
     * otherwise api and cell mapping each take the names they know, layer mapping comes before
     * them, and lines of a data mapping before all. */
    bool one_mapping;
    /* Layer mapping looks at stacks of the older layout only (docs/msprobe.md#layer-mapping). */
    bool old_stacks_only;

    /* What msprobe 26 does otherwise. Rows of the cross product keep the order of the NPU side. */
    bool npu_order;
    /* float64 may face shorter floats in spite of same_dtype_only. */
    bool any_float;
    /* With msprobe_records: gradients of a call are rows, entries without a direction are not. */
    bool records_of_26;
    /* Equal names alone: the k-th backward call of an API or module faces the k-th. */
    bool recount_backward;
    /* Fuzzy matching does not look at shapes. */
    bool fuzzy_any_shape;
    /* A cell mapping replaces parts of names as well, in PyTorch dumps too. */
    bool cells_by_part;
    /* A side without a record ends the run with TDC_ERR_NOTHING. */
    bool both_needed;
    /* Training may be compared with inference. */
    bool consistent;
};

#define TDC_UNPAIRED UINT32_MAX

struct tdc_pairing {
    uint32_t npu, bench; /* record numbers; TDC_UNPAIRED: no partner */
};

/* Where the key of an NPU record comes from. */
enum tdc_key_rule {
    TDC_KEY_NAME, /* its own name */
    TDC_KEY_API_TABLE,
    TDC_KEY_API_FILE,
    TDC_KEY_CELL,
    TDC_KEY_DATA,
    TDC_KEY_LAYER,
    TDC_KEY_WRAPPER
};

/* What a layer mapping found for an entry. */
struct tdc_entry_note {
    bool found;
    const char *text; /* name of the bench entry, or why there is none */
};

struct tdc_alignment;

struct tdc_match {
    const struct tdc_dump *npu, *bench;
    tdc_mode mode;
    bool fuzzy; /* asked for, even if a data mapping took its place */
    bool cross; /* MindSpore against PyTorch: types are compared by class */
    /* of the data files msprobe would open; NULL: any */
    const char *n_suffix, *b_suffix;
    bool by_name;              /* joined by name alone (data and layer mapping) */
    tdc_consistent consistent; /* training against inference; its sides are made of records that
                                  were joined, in `joined` */
    struct tdc_dump *joined[2];
    /* rows of logical tensors, which own both dumps (host/align/align.h); NULL: ordinary rows */
    struct tdc_alignment *alignment;
    void (*alignment_free)(struct tdc_alignment *alignment);
    bool fuzzy_used;
    bool layer_used;
    bool layer_asked;   /* even if its files were missing */
    const char *method; /* for people */
    struct tdc_pairing *pairs;
    size_t count, capacity;

    struct tdc_arena arena;  /* keys and what they were made from */
    const char **keys;       /* by NPU record: the name under which it looks for its partner */
    const char **bench_keys; /* by bench record: the name under which it is found; NULL: its own */
    uint8_t *key_rules;      /* enum tdc_key_rule */
    const char **layer_keys; /* by NPU record: what the layer mapping found; NULL without one */
    struct tdc_entry_note *entry_notes; /* by NPU entry, with a layer mapping */
    struct tdc_text reason;             /* of tdc_match_reason */
    struct tdc_text suggestion;
    struct tdc_name_table bench_names; /* made on demand by tdc_match_reason */
    uint32_t *bench_first;             /* by number of the name: its first record */
    const struct tdc_match_rules *rules;
    /* By NPU record, NULL without one: its name repeats so often that not all its pairs are rows.
     */
    bool *crowded;
    size_t crowd_room;      /* rows that repeated names may still add */
    const char *layer_file; /* for tdc_match_suggest; in the arena, NULL without one */
};

/* How the two can be compared (docs/msprobe.md#mode): TDC_ERR_MISMATCH, or TDC_ERR_NOTHING for a
 * dump without records. */
tdc_status tdc_match_find_mode(const struct tdc_dump *npu, const struct tdc_dump *bench,
                               const struct tdc_match_rules *rules, tdc_mode *mode,
                               struct tdc_error *error);

tdc_status tdc_match_build(const struct tdc_dump *npu, const struct tdc_dump *bench,
                           const struct tdc_match_rules *rules, const struct tdc_options *options,
                           struct tdc_match **match, struct tdc_error *error);

/* ---- between the files of this folder -------------------------------------------------------- */

bool tdc_match_add(struct tdc_match *match, uint32_t npu, uint32_t bench);

/*
 * Every one of n records with every one of m is n times m rows. All repeated names together may add
 * so many, as a sheet of a workbook holds; a name that would add more adds none.
 */
#define TDC_REPEATED_ROWS ((size_t)1 << 20)
/* Takes `rows` off that account, or returns false. */
bool tdc_match_may_repeat(struct tdc_match *match, size_t rows);
/* False when out of memory. */
bool tdc_match_mark_crowded(struct tdc_match *match, uint32_t npu);

/* Does the record take part? */
static inline bool tdc_match_takes(const struct tdc_match_rules *rules,
                                   const struct tdc_record *record)
{
    if (!rules->msprobe_records)
        return true;
    if (rules->records_of_26 && record->undirected)
        return false;
    return !record->sound_only || (rules->records_of_26 && record->since_26);
}

/* Says through options->message how many records of either side are in no row and which is the
 * first of them, and what a dump holds twice. False when out of memory. */
bool tdc_match_remark(const struct tdc_match *match, const struct tdc_options *options);

/* docs/msprobe.md#types-that-agree; cross compares classes of types, any_float takes float64 for a
 * float like others. */
bool tdc_dtypes_agree(const char *npu, const char *bench, bool cross, bool any_float);
/* The same for a pair of the match. */
bool tdc_match_dtypes_agree(const struct tdc_match *match, uint32_t npu, uint32_t bench);

/* Keys with backward calls numbered by their order on each side. False when out of memory. */
bool tdc_match_recount(struct tdc_match *match);

/* The ways to pair by match->keys. They return false when out of memory. */
bool tdc_match_exact(struct tdc_match *match, const struct tdc_match_rules *rules);
bool tdc_match_by_name(struct tdc_match *match, const struct tdc_match_rules *rules);
bool tdc_match_fuzzy(struct tdc_match *match, const struct tdc_match_rules *rules);

/* Recognises a module around all modules of one side and sets the keys accordingly, saying so
 * through options->message; leaves them alone otherwise. False when out of memory. */
bool tdc_match_wrapper(struct tdc_match *match, const struct tdc_options *options);

/*
 * The mappings: each replaces the keys of the NPU records it knows. Mistakes in the files are
 * TDC_ERR_FORMAT with file and line; entries that fit nothing are reported through
 * options->message.
 */
tdc_status tdc_map_data(struct tdc_match *match, const char *path,
                        const struct tdc_options *options, struct tdc_error *error);
tdc_status tdc_map_apis(struct tdc_match *match, const char *path, bool leave_cells,
                        const struct tdc_options *options, struct tdc_error *error);
tdc_status tdc_map_cells(struct tdc_match *match, const char *path, bool leave_others,
                         const struct tdc_options *options, struct tdc_error *error);
/* *used is false when stack.json or construct.json of the NPU side is missing or empty: then the
 * keys stay as they are. */
tdc_status tdc_map_layers(struct tdc_match *match, const char *path,
                          const struct tdc_match_rules *rules, const struct tdc_options *options,
                          bool *used, struct tdc_error *error);

/* A warning about an entry of a mapping file, or about a whole file (line 0). */
void tdc_map_warn(const struct tdc_options *options, const char *path, unsigned line,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A name as yaml takes it: plain if it is harmless, else in quotes. */
void tdc_yaml_put_name(struct tdc_text *out, const char *text);

/* The text with every `from` replaced by `to`, or only the first, in the arena; NULL: no memory. */
const char *tdc_text_replaced(struct tdc_arena *arena, const char *text, const char *from,
                              const char *to, bool first_only);

#endif
