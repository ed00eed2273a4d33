/* config.h - what two trainings were started with: packed configurations and checkpoints. */
#ifndef TDCMP_CONFIG_H
#define TDCMP_CONFIG_H

#include "tdcmp/base.h"

TDC_INTERFACE_BEGIN

typedef enum {
    TDC_CONFIG_NONE = 0,
    TDC_CONFIG_PASS,
    TDC_CONFIG_WARNING,
    TDC_CONFIG_ERROR
} tdc_config_level;

/* Bits of tdc_config_options.flags. */
enum {
    TDC_CONFIG_ENV_SWAPPED =
        1,                     /* as msprobe has them: sides exchanged on the environment's sheet */
    TDC_CONFIG_COMPLETE = 2,   /* files of weights that only the second pack has are told, too */
    TDC_CONFIG_EXTRACT = 4,    /* the packs' members go to FOLDER/bench and FOLDER/cmp */
    TDC_CONFIG_NO_FORMULAS = 8 /* a text that a spreadsheet would run fails the comparison */
};

struct tdc_config_options {
    size_t size;           /* of this struct: set by tdc_config_options_init */
    unsigned flags;        /* TDC_CONFIG_... */
    const char *framework; /* "pytorch": its package is looked at; NULL: torch and mindspore */
    void *context;         /* of the function, which may be NULL */
    tdc_message_function message;
};

void tdc_config_options_init(struct tdc_config_options *options, size_t size);

/*
 * Compares two packed configurations (zip archives of `msprobe config_check -d`) and writes
 * result.xlsx to the folder, which is created: a sheet for each item that both have, and a summary.
 * *worst is the worst level of all sheets, *items how many there are.
 */
tdc_status tdc_config_compare(const char *bench_zip, const char *cmp_zip, const char *folder,
                              const struct tdc_config_options *options, tdc_config_level *worst,
                              size_t *items, struct tdc_error *error);

struct tdc_checkpoint_options {
    size_t size;       /* of this struct: set by tdc_checkpoint_options_init */
    bool refuse_links; /* a file that is a symbolic link fails the comparison */
    int threads;       /* 0: as many as there are processors */
    void *context;     /* of the function, which may be NULL */
    tdc_message_function message;
};

void tdc_checkpoint_options_init(struct tdc_checkpoint_options *options, size_t size);

struct tdc_checkpoint_summary {
    uint64_t common;                  /* parameters of both */
    uint64_t only_first, only_second; /* and of one alone */
    uint64_t different;               /* of the common ones, by a value or the shape */
};

/*
 * Compares two checkpoints of Megatron, whole folders with the files of all ranks
 * (mp_rank_XX[_XXX[_XXX]]/model_optim_rng.pt), parameter by parameter, and writes a JSON file:
 * "l2", "cos", "numel" and "shape" of each common one. The file must not exist yet. size:
 * sizeof(struct tdc_checkpoint_summary), as the caller knows it.
 */
tdc_status tdc_checkpoint_compare(const char *first, const char *second, const char *json,
                                  const struct tdc_checkpoint_options *options,
                                  struct tdc_checkpoint_summary *summary, size_t size,
                                  struct tdc_error *error);

/* Which training printed a log. */
typedef enum {
    TDC_LOG_NONE = 0,
    TDC_LOG_VERL, /* a Python dict that begins with actor_rollout_ref, behind prefixes of lines */
    TDC_LOG_SLIME /* a table of arguments between two markers */
} tdc_training_log;

/*
 * Compares the settings that two trainings have printed, and writes NPU_config.json,
 * bench_config.json and hyper_params_compare.csv to the folder, which is created. *different:
 * settings that are not the same or that one side lacks.
 */
tdc_status tdc_settings_compare(tdc_training_log kind, const char *npu_log, const char *bench_log,
                                const char *folder, tdc_message_function message, void *context,
                                uint64_t *different, struct tdc_error *error);

/*
 * Looks up the settings of a yaml file in those that a training with verl has printed; yaml NULL:
 * the ones that make a training repeatable. Writes tgt_config.json and hyper_params_verify.csv.
 */
tdc_status tdc_settings_verify(const char *yaml, const char *log, const char *folder,
                               tdc_message_function message, void *context, uint64_t *different,
                               struct tdc_error *error);

TDC_INTERFACE_END
#endif
