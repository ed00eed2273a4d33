/* cancel.c - the flag that ends a run early. */
#include "tdcmp.h"

_Static_assert(__atomic_always_lock_free(sizeof(uint32_t), 0), "signal handlers may not wait");

void tdc_cancel_set(struct tdc_cancel *cancel)
{
    __atomic_store_n(&cancel->state, 1u, __ATOMIC_RELEASE);
}

void tdc_cancel_clear(struct tdc_cancel *cancel)
{
    __atomic_store_n(&cancel->state, 0u, __ATOMIC_RELEASE);
}

bool tdc_cancel_is_set(const struct tdc_cancel *cancel)
{
    return cancel != NULL && __atomic_load_n(&cancel->state, __ATOMIC_ACQUIRE) != 0;
}
