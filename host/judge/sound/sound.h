/* sound.h - the parts of the sound rules, joined in sound.c. */
#ifndef TDC_HOST_SOUND_H
#define TDC_HOST_SOUND_H

#include "host/judge/rules.h"
#include "host/judge/reason.h"

/* What every mode says of a row: no partner, other shape, other type, other requires_grad. True
 * when there is nothing more to compare. */
bool tdc_sound_structure(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message);

/* What is said of every judged row at the end: parameters and inputs of a run that differ. */
void tdc_sound_finish(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message);

/* Equal numbers, texts, booleans. */
bool tdc_stat_same(const struct tdc_record *npu, const struct tdc_record *bench,
                   enum tdc_statistic which);

/* The difference of a number of two records, rounded once: integers of any size are not rounded
 * before. False when one of them is no number. */
bool tdc_stat_difference(const struct tdc_record *npu, const struct tdc_record *bench,
                         enum tdc_statistic which, double *difference);

/* Items that are not tensors. */
void tdc_sound_scalar(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message);

/* ---- sound_absent.c: data that is missing ---- */

/* Tensors of which one side or both have no file: an error, or nothing to judge. */
void tdc_sound_no_file(const struct tdc_case *row_case, struct tdc_row *row,
                       struct tdc_text *message);
/* Files of which the NPU's has no elements: what the json and the bench file say decides. */
void tdc_sound_empty(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                     struct tdc_row *row, struct tdc_text *message);
/* True when the row was judged by what is missing: no statistics or checksum on either side is
 * nothing to judge, a statistic on one side only a difference. */
/* Collectors leave Mean and Norm, both of them, out of some dtypes; Max and Min are judged then. */
bool tdc_sound_left_out(const struct tdc_record *record, int which);
bool tdc_sound_no_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                             struct tdc_text *message);
bool tdc_sound_no_digest(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message);

void tdc_sound_tensor(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                      struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message);
void tdc_sound_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                          struct tdc_text *message);
void tdc_sound_digest(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message);

#endif
