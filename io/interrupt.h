/*
 * interrupt.h - moments in which a signal must wait.
 *
 * Between these two calls files may exist that nobody can remove yet: libxlsxwriter gives its
 * temporaries a name for a moment. tdc_interrupt (tdcmp.h), called meanwhile by any thread's signal
 * handler, is carried out at the release; called a second time, at once.
 */
#ifndef TDC_IO_INTERRUPT_H
#define TDC_IO_INTERRUPT_H

void tdc_interrupt_hold(void);
void tdc_interrupt_release(void);

#endif
