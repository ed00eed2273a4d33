/* kernel_list.h - the tensors of one rank and step of a kernel dump. */
#ifndef TDC_HOST_KERNEL_LIST_H
#define TDC_HOST_KERNEL_LIST_H

#include "host/dump/dump.h"
#include "io/base/arena.h"

enum tdc_kernel_mode {
    TDC_KERNEL_NONE,
    TDC_KERNEL_FILES,     /* npy */
    TDC_KERNEL_STATISTICS /* statistic.csv */
};

/* One tensor. Texts are in the arena. */
struct tdc_kernel_item {
    const char *key; /* operator.task.direction.slot */
    uint64_t time;
    uint32_t number;                  /* among those of the same key, by time */
    const char *path, *folder, *file; /* of a file; path: of the list otherwise */
    const char *dtype, *shape;        /* of a list; NULL: it does not say */
    float stats[TDC_STATISTICS];      /* of a list */
};

struct tdc_kernel_list {
    struct tdc_kernel_item *items; /* by key and number */
    size_t count, capacity;
    enum tdc_kernel_mode mode;
};

/* Adds what a folder holds; the mode is that of the last folder. False when out of memory; what
 * cannot be read is told through options->message. */
bool tdc_kernel_list_add(struct tdc_arena *arena, struct tdc_kernel_list *list, const char *folder,
                         const struct tdc_options *options);
/* Adds a tensor; false when out of memory. */
bool tdc_kernel_list_put(struct tdc_kernel_list *list, const struct tdc_kernel_item *item);
/* Sorts and numbers them. */
void tdc_kernel_list_settle(struct tdc_kernel_list *list);

/* The order of two: keys, then numbers. */
int tdc_kernel_order(const struct tdc_kernel_item *one, const struct tdc_kernel_item *other);

#endif
