/* options.h - how two dumps are compared. */
#ifndef TDCMP_OPTIONS_H
#define TDCMP_OPTIONS_H

#include "tdcmp/base.h"

TDC_INTERFACE_BEGIN

typedef enum {
    TDC_RULES_NONE = 0,
    TDC_RULES_COMPAT,  /* the table of msprobe of September 2025 to the letter */
    TDC_RULES_SOUND,   /* what a careful engineer wants */
    TDC_RULES_COMPAT26 /* the table of msprobe 26 */
} tdc_rules_id;

/* What the NPU's dump is, whatever it says itself. */
typedef enum {
    TDC_FRAMEWORK_NONE = 0,  /* as it says */
    TDC_FRAMEWORK_PYTORCH,   /* and the other one, too (msprobe's -f pytorch) */
    TDC_FRAMEWORK_MINDSPORE, /* msprobe's -f mindspore */
} tdc_framework;

typedef enum {
    TDC_IO_AUTO = 0, /* mapped when in the page cache, past the cache when not */
    TDC_IO_MMAP,     /* always mapped */
    TDC_IO_PREAD,    /* always read into buffers: for network file systems */
    TDC_IO_DIRECT    /* always past the page cache where the file system allows it */
} tdc_io;

/* Bits of tdc_options.flags. */
enum {
    TDC_OPTION_FUZZY = 1,        /* match names without call numbers */
    TDC_OPTION_AUTO_MAPPING = 2, /* choose a mapping when the dumps are of different frameworks and
                                    none was asked for */
    TDC_OPTION_HIGHLIGHT = 4,    /* find the rows to colour */
    TDC_OPTION_NO_FALLBACK = 8,  /* what a device fails to do is an error (TDC_ERR_DEVICE) and not
                                    done by the CPU */
    TDC_OPTION_STATISTICS = 16,  /* compare statistics where tensors were kept, too */
    TDC_OPTION_NAME_LINES = 32,  /* joined names stand in lines of their own, as in msprobe's
                                    workbooks; with tdc_options.consistent alone */
    TDC_OPTION_ALLOW_UNMATCHED = 64 /* rows without a partner do not count in the answer that result
                                       files tell (tdc_summary_answer) */
};

/* How the modules of a training run are called that is compared with an inference run. */
typedef enum {
    TDC_CONSISTENT_NONE = 0, /* not such a comparison */
    TDC_CONSISTENT_FSDP,
    TDC_CONSISTENT_MEGATRON
} tdc_consistent;

/* A way to translate NPU names; file may be NULL where the built-in rules are enough. */
struct tdc_mapping {
    bool use;
    const char *file; /* yaml */
};

/* Limits in place of those of the sound rules, for tensors with data: docs/verdicts.md. */
struct tdc_tolerance {
    bool elements;     /* the next two are in force: |test - ref| <= atol + rtol * |ref| */
    double atol, rtol; /* not negative */
    bool use_cosine;
    double cosine; /* not below */
};

typedef struct tdc_table tdc_table;

/* Texts in it must live until the call they are given to returns. */
struct tdc_options {
    size_t size; /* of this struct: set by tdc_options_init */
    tdc_rules_id rules;
    unsigned flags; /* TDC_OPTION_... */
    tdc_framework framework;
    int threads; /* 0: as many as the machine has. Without room for them fewer are started */
    tdc_io io;   /* how tensor files are read */
    const char *data_mapping;         /* yaml file: NPU row name -> bench row name; NULL: none */
    struct tdc_mapping api_mapping;   /* MindSpore API names -> PyTorch API names */
    struct tdc_mapping cell_mapping;  /* Cell names -> Module names */
    struct tdc_mapping layer_mapping; /* by the place in the network; needs stack.json and
                                         construct.json */
    /* Where tensors are compared: "cpu", "ascend" (card 0), "ascend:0,1", "ascend:all", or "auto"
     * (NULL too): an Ascend card if there is one and it proves faster. See tdc_device_valid. */
    const char *device;

    /* Of all three; may be NULL, as each of them. */
    void *context;
    /* Called by one thread at a time. */
    tdc_message_function message;
    /* Called from any thread, several at a time, as rows and bytes are done. */
    void (*progress)(void *context, uint64_t rows, uint64_t bytes);
    /* Called once for each row that tdc_compare has judged, from any thread, several at a time, in
     * no order. Colours and origins are not known yet; tdc_table_class, tdc_table_number and
     * tdc_table_text may be asked about that row, nothing else about that table. */
    void (*row)(void *context, const tdc_table *table, size_t row);
    /* Ends the run with TDC_ERR_INTERRUPTED once it is set; NULL: never. */
    const struct tdc_cancel *cancel;

    /* Of TDC_RULES_COMPAT26 alone. A yaml file of matrices by which tensors are multiplied before
     * they are compared; NULL: none. */
    const char *products;
    /* Compare training with inference by the names of their modules. */
    tdc_consistent consistent;

    /* The words of the command line, for the head of result files; NULL: there is none. */
    const char *const *command;
    size_t command_words;

    /* Of TDC_RULES_SOUND alone, and of dumps with tensors alone: TDC_ERR_MISMATCH for others. */
    struct tdc_tolerance tolerance;

    /* Of TDC_RULES_SOUND alone. A yaml file of rules that judge rows in place of the limits of
     * docs/verdicts.md (docs/tolerance.md); NULL: none. */
    const char *tolerance_file;
};

/* Everything zero but size and rules; TDC_OPTION_HIGHLIGHT and TDC_OPTION_AUTO_MAPPING are on for
 * TDC_RULES_SOUND. size: sizeof(struct tdc_options), as the caller knows it. */
void tdc_options_init(struct tdc_options *options, size_t size, tdc_rules_id rules);

TDC_INTERFACE_END
#endif
