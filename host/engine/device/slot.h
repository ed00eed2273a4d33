/* slot.h - a slot of whichever family: opened, waited for with patience, closed or left alone. */
#ifndef TDC_DEVICE_SLOT_H
#define TDC_DEVICE_SLOT_H

#include "host/engine/device/family.h"

/* Seconds until work that does not come back is given up. */
double tdc_device_patience(void);

/* A card of a family at the beginning of its life. */
void tdc_card_init(struct tdc_card *card, const struct tdc_device_family *family, int32_t id);

/* *slot has room for the family's slot. What is open is closed by tdc_slot_close, also after a
 * failure. */
struct tdc_call_failure tdc_slot_open(struct tdc_slot *slot, struct tdc_card *card, bool timed);
/* A slot that does not end makes its card an abandoned one. */
void tdc_slot_close(struct tdc_slot *slot);

/* Within the patience, or soon where the card is given up already. After a failure the card is to
 * be regarded as dead. */
struct tdc_call_failure tdc_slot_wait(struct tdc_slot *slot);

/* Asks again and again until it is done, or for so many seconds: TDC_TIMED_OUT then. */
struct tdc_call_failure tdc_wait_polling(struct tdc_call_failure (*ask)(void *context, bool *done),
                                         void *context, double seconds);

/* For families whose runtimes can only be asked: `wait` by `poll`. */
struct tdc_call_failure tdc_slot_wait_polling(struct tdc_slot *slot, double seconds);

#endif
