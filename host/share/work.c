#include "host/share/work.h"

#include <stdlib.h>

#include "io/base/little_endian.h"

enum {
    NUMBERS = 5 + TDC_SHARE_TIMES
};

static void put64(struct tdc_text *bytes, uint64_t value)
{
    unsigned char room[8];
    for (int i = 0; i < 8; i++)
        room[i] = (unsigned char)(value >> 8 * i);
    tdc_text_add(bytes, (const char *)room, sizeof room);
}

void tdc_work_put(struct tdc_text *bytes, const struct tdc_share_work *work)
{
    struct tdc_text content;
    tdc_text_init(&content, NUMBERS * sizeof(uint64_t) + 1);
    put64(&content, work->process);
    put64(&content, work->round);
    put64(&content, work->nanoseconds);
    put64(&content, work->done);
    put64(&content, work->bytes);
    for (int i = 0; i < TDC_SHARE_TIMES; i++)
        put64(&content, work->times[i]);
    /* its time is no result: without memory for it a part is complete all the same */
    if (!content.failed)
        tdc_part_put(bytes,
                     &(struct tdc_part_record){.kind = TDC_PART_WORK,
                                               .content = (const unsigned char *)content.data,
                                               .size = content.length});
    tdc_text_free(&content);
}

bool tdc_work_read(const struct tdc_part_record *record, struct tdc_share_work *work)
{
    if (record->size != NUMBERS * sizeof(uint64_t))
        return false;
    const unsigned char *at = record->content;
    uint64_t process = tdc_le64(at), round = tdc_le64(at + 8);
    if (process >= TDC_NO_PROCESS || round >= TDC_EVERY_ROUND)
        return false;
    *work = (struct tdc_share_work){.process = (uint32_t)process,
                                    .round = (uint32_t)round,
                                    .nanoseconds = tdc_le64(at + 16),
                                    .done = tdc_le64(at + 24),
                                    .bytes = tdc_le64(at + 32)};
    for (int i = 0; i < TDC_SHARE_TIMES; i++)
        work->times[i] = tdc_le64(at + 40 + 8 * i);
    return true;
}

static void add_up(struct tdc_share_work *to, const struct tdc_share_work *work)
{
    to->nanoseconds += work->nanoseconds;
    to->done += work->done;
    to->bytes += work->bytes;
    for (int i = 0; i < TDC_SHARE_TIMES; i++)
        to->times[i] += work->times[i];
}

static int compare(const struct tdc_share_work *left, const struct tdc_share_work *right)
{
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return left->round == right->round ? 0 : left->round < right->round ? -1 : 1;
}

/* They are kept in order of processes and rounds. */
bool tdc_works_add(struct tdc_works *works, const struct tdc_share_work *work)
{
    size_t low = 0, high = works->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&works->works[middle], work) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < works->count && compare(&works->works[low], work) == 0) {
        add_up(&works->works[low], work);
        return true;
    }
    if (works->count == works->room) {
        size_t room = works->room != 0 ? 2 * works->room : 16;
        struct tdc_share_work *grown = reallocarray(works->works, room, sizeof *grown);
        if (grown == NULL)
            return false;
        works->works = grown;
        works->room = room;
    }
    for (size_t i = works->count; i > low; i--)
        works->works[i] = works->works[i - 1];
    works->works[low] = *work;
    works->count++;
    return true;
}

void tdc_works_free(struct tdc_works *works)
{
    free(works->works);
    *works = (struct tdc_works){0};
}

struct tdc_work_sums tdc_works_sum(const struct tdc_works *works, uint32_t round, uint32_t but)
{
    struct tdc_work_sums sums = {0};
    uint32_t last = TDC_NO_PROCESS;
    double of_last = 0;
    for (size_t i = 0; i < works->count; i++) {
        const struct tdc_share_work *work = &works->works[i];
        if (work->process == but || (round != TDC_EVERY_ROUND && work->round != round))
            continue;
        double seconds = (double)work->nanoseconds * 1e-9;
        of_last = work->process == last ? of_last + seconds : seconds;
        sums.processes += work->process != last;
        last = work->process;
        sums.longest = of_last > sums.longest ? of_last : sums.longest;
        sums.seconds += seconds;
        sums.done += work->done;
        sums.bytes += work->bytes;
        for (int k = 0; k < TDC_SHARE_TIMES; k++)
            sums.times[k] += (double)work->times[k] * 1e-9;
    }
    return sums;
}
