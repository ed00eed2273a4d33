/* files.h - names for results, and what becomes of unfinished ones. */
#ifndef TDCMP_FILES_H
#define TDCMP_FILES_H

#include "tdcmp/base.h"

TDC_INTERFACE_BEGIN

/*
 * A moment for the names of a run's results in a folder: the local time as YYYYmmddHHMMSS, or the
 * next second after it that no other run holds, of this process or another, on any machine that
 * shares the folder. Held until it is freed, by a small hidden file. The folder and its parents are
 * made if missing (mode 0750).
 */
typedef struct tdc_stamp tdc_stamp;
tdc_status tdc_stamp_new(const char *folder, tdc_stamp **stamp, struct tdc_error *error);
const char *tdc_stamp_text(const tdc_stamp *stamp);
/* A later moment: for names that exist already. After a failure the stamp can only be freed. */
tdc_status tdc_stamp_next(tdc_stamp *stamp, struct tdc_error *error);
void tdc_stamp_free(tdc_stamp *stamp);

/* Removes every unfinished result of this process; what is being written then fails. For programs
 * that end while others of their threads compare: the library itself installs no handler of
 * signals that end a process. Async-signal-safe. */
void tdc_out_files_remove(void);
/* The same for a process that ends right after it: no result is begun any more, and what other
 * threads are about to begin is waited for. Async-signal-safe. */
void tdc_out_files_end(void);

TDC_INTERFACE_END
#endif
