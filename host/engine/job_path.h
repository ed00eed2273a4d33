/* job_path.h - where the tensor files of a dump are. */
#ifndef TDC_HOST_JOB_PATH_H
#define TDC_HOST_JOB_PATH_H

#include "io/base/text.h"
#include "tdcmp.h"

/* folder/name in the text; NULL with *error set for a name that leaves the folder.
 */
const char *tdc_job_path(struct tdc_text *path, const char *folder, const char *name,
                         struct tdc_error *error);

#endif
