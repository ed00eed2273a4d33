/*
 * work.h - how long the processes of a run have worked, and on how much.
 *
 * A round is one comparison or one precheck: all processes have the same, in the same order.
 */
#ifndef TDC_SHARE_WORK_H
#define TDC_SHARE_WORK_H

#include "host/share/part_file.h"

#define TDC_SHARE_TIMES 8 /* kinds of work whose times a round may tell apart */

struct tdc_share_work {
    uint32_t process, round;
    uint64_t nanoseconds, done, bytes;
    uint64_t times[TDC_SHARE_TIMES]; /* nanoseconds */
};

/* Appends it as a record of a part. */
void tdc_work_put(struct tdc_text *bytes, const struct tdc_share_work *work);
/* False for a record that is damaged. */
bool tdc_work_read(const struct tdc_part_record *record, struct tdc_share_work *work);

struct tdc_works {
    struct tdc_share_work *works;
    size_t count, room;
};

/* What a process has done of a round, in addition to what is there. False when out of memory. */
bool tdc_works_add(struct tdc_works *works, const struct tdc_share_work *work);
void tdc_works_free(struct tdc_works *works);

struct tdc_work_sums {
    uint64_t processes, done, bytes;
    double seconds, longest; /* of all, and of the process that took longest */
    double times[TDC_SHARE_TIMES];
};

#define TDC_EVERY_ROUND UINT32_MAX
#define TDC_NO_PROCESS  UINT32_MAX

/* Over all processes but one. */
struct tdc_work_sums tdc_works_sum(const struct tdc_works *works, uint32_t round, uint32_t but);

#endif
