/* clock.h - what time something takes. */
#ifndef TDC_IO_CLOCK_H
#define TDC_IO_CLOCK_H

/* Of a clock that only goes forward, from an unknown start. */
double tdc_seconds(void);

#endif
