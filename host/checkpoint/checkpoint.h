/*
 * checkpoint.h - the weights of a training, put together from the files of all its ranks.
 *
 * A parameter that tensor parallelism had split is one tensor again: parts along an axis, read as
 * if they lay one after the other. Nothing is copied; files stay mapped until the checkpoint is
 * freed.
 */
#ifndef TDC_CHECKPOINT_H
#define TDC_CHECKPOINT_H

#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "io/tensor/pickle/saved_state.h"
#include "tdcmp.h"

#define TDC_CHECKPOINT_PARTS 1024u /* ranks of tensor parallelism */

struct tdc_parameter {
    const char *name;
    struct tdc_tensor *parts; /* of one dtype and shape but for the axis */
    size_t part_count;
    unsigned axis; /* along which they are parts of one tensor */
    unsigned dimensions;
    uint64_t shape[TDC_MAX_DIMENSIONS]; /* of the whole */
    uint64_t count;
    const char *file; /* of the first part, for messages */
};

struct tdc_checkpoint {
    struct tdc_arena arena;
    struct tdc_saved_state *states; /* of the open files, in the arena */
    struct tdc_parameter *parameters;
    size_t count, room;
    struct tdc_name_table names; /* of the parameters: numbers are positions */
};

/* Loads a checkpoint of Megatron: `folder` holds latest_checkpointed_iteration.txt, or is itself
 * the folder of an iteration. To be freed in any case. */
tdc_status tdc_checkpoint_load(const char *folder, const struct tdc_checkpoint_options *options,
                               struct tdc_checkpoint *checkpoint, struct tdc_error *error);
void tdc_checkpoint_free(struct tdc_checkpoint *checkpoint);

/* Elements [first, first + count) of the whole, in C order, each as the float32 it rounds to. To be
 * called inside tdc_guarded_read. `scratch` has room for count * 16 bytes. */
void tdc_parameter_read(const struct tdc_parameter *parameter, uint64_t first, size_t count,
                        double *values, void *scratch);

/* ---- for the parts of the room --------------------------------------------------------------- */

/* The name a parameter has in Megatron core with local layers, whatever version wrote it; NULL when
 * out of memory. */
char *tdc_checkpoint_name(struct tdc_arena *arena, const char *name);
/* The name with `word`.LOCAL replaced by `word`.GLOBAL wherever it stands. */
char *tdc_checkpoint_renumber(struct tdc_arena *arena, const char *name, const char *word,
                              uint64_t local, uint64_t global);
/* The first number N in `word`.N. of a name. */
bool tdc_checkpoint_number(const char *name, const char *word, uint64_t *number);

/* Adds a parameter, or replaces the one of that name. Parts are those of the ranks in order. */
tdc_status tdc_checkpoint_add(struct tdc_checkpoint *checkpoint, const char *name,
                              const struct tdc_tensor *parts, size_t count, const char *file,
                              const struct tdc_checkpoint_options *options,
                              struct tdc_error *error);

void tdc_checkpoint_say(const struct tdc_checkpoint_options *options, tdc_message_level level,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
