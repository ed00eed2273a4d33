#include "io/interrupt.h"

#include <stdatomic.h>
#include <unistd.h>

#include "tdcmp.h"

static atomic_int holders;
static atomic_int pending; /* number of the signal, 0: none */

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler uses these");

static void leave(int number)
{
    tdc_out_files_remove();
    _exit(128 + number);
}

/* pending is set before holders is read, and the other way round in hold: one of the two sees the
 * other. */
void tdc_interrupt(int number)
{
    if (atomic_exchange(&pending, number) != 0 || atomic_load(&holders) == 0)
        leave(number);
}

void tdc_interrupt_hold(void)
{
    atomic_fetch_add(&holders, 1);
    if (atomic_load(&pending) != 0) {
        /* somebody is leaving, or will at the release of another holder */
        atomic_fetch_sub(&holders, 1);
        for (;;)
            pause();
    }
}

void tdc_interrupt_release(void)
{
    if (atomic_fetch_sub(&holders, 1) == 1 && atomic_load(&pending) != 0)
        leave(atomic_load(&pending));
}
