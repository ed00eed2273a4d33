/*
 * kernel_places.h - where the ranks and steps of a kernel dump lie.
 *
 * Folders without folders in them: the last part of the path is the step; the rank is the number
 * behind the last `_` of the fourth part from the end if the path has `rank_`, else the fourth or
 * third part itself.
 */
#ifndef TDC_HOST_KERNEL_PLACES_H
#define TDC_HOST_KERNEL_PLACES_H

#include "host/kernel_dump/kernel_list.h"

struct tdc_kernel_place {
    long rank, step;
    const char *folder;
};

struct tdc_kernel_places {
    struct tdc_kernel_place *places; /* by rank, step and folder; to be freed */
    size_t count, capacity;
};

/* Texts live in the arena, paths are absolute. TDC_ERR_NOT_FOUND, TDC_ERR_READ, TDC_ERR_MEMORY. */
tdc_status tdc_kernel_places_find(struct tdc_arena *arena, const char *path,
                                  const struct tdc_kernel_choice *choice,
                                  struct tdc_kernel_places *places, struct tdc_error *error);

bool tdc_kernel_same_place(const struct tdc_kernel_place *one,
                           const struct tdc_kernel_place *other);
bool tdc_kernel_has_place(const struct tdc_kernel_places *places,
                          const struct tdc_kernel_place *place);

/* The tensors of a rank and step; list->items is to be freed. TDC_ERR_MEMORY. */
tdc_status tdc_kernel_place_load(struct tdc_arena *arena, const struct tdc_kernel_places *places,
                                 const struct tdc_kernel_place *place,
                                 const struct tdc_options *options, struct tdc_kernel_list *list,
                                 struct tdc_error *error);

#endif
