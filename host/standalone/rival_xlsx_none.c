/* rival_xlsx_none.c - the yardstick of `tdcmp bench` without libxlsxwriter, where the distribution
 * has no archive of it: the row is measured beside nothing. */
#include "bench/yardsticks/rival_xlsx.h"

bool tdc_xlsx_rival_there(void)
{
    return false;
}

tdc_status tdc_xlsx_rival_collect(struct tdc_xlsx_rival *rival, const struct tdc_task *task,
                                  const struct tdc_options *options, struct tdc_error *error)
{
    (void)rival;
    (void)task;
    (void)options;
    (void)error;
    return TDC_OK;
}

void tdc_xlsx_rival_free(struct tdc_xlsx_rival *rival)
{
    (void)rival;
}

tdc_status tdc_xlsx_rival_write(void *rival, double laps[TDC_LAPS], struct tdc_error *error)
{
    (void)rival;
    (void)laps;
    (void)error;
    return TDC_ERR_UNSUPPORTED;
}
