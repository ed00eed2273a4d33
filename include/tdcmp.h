/*
 * tdcmp.h - compare two dumps of a neural network.
 *
 * The public header of libtdcmp: all of it, or each part by itself. The program `tdcmp` uses
 * nothing else.
 *
 * Ownership: every `tdc_*_open`, `tdc_*_load`, `tdc_*_find` or `tdc_*_new` has a matching `_free`,
 * which accepts NULL. Text returned by an accessor belongs to the object and lives as long as it
 * does. Threads: different objects may be used from different threads; one object from one thread
 * at a time. Failure: functions that can fail return a `tdc_status`, 0 on success, and describe the
 * failure in the `struct tdc_error` passed in (may be NULL). The library prints nothing, ends no
 * process and, but for SIGBUS while it reads mapped files, touches no signal.
 */
#ifndef TDCMP_H
#define TDCMP_H

#define TDC_VERSION_MAJOR 1
#define TDC_VERSION_MINOR 0
#define TDC_VERSION_PATCH 0

#include "tdcmp/base.h"
#include "tdcmp/options.h"
#include "tdcmp/dump.h"
#include "tdcmp/table.h"
#include "tdcmp/fields.h"
#include "tdcmp/align.h"
#include "tdcmp/buffer.h"
#include "tdcmp/tensor.h"
#include "tdcmp/result.h"
#include "tdcmp/device.h"
#include "tdcmp/precheck.h"
#include "tdcmp/inspect.h"
#include "tdcmp/ranks.h"
#include "tdcmp/config.h"
#include "tdcmp/analysis.h"
#include "tdcmp/report.h"
#include "tdcmp/trace.h"
#include "tdcmp/graph.h"
#include "tdcmp/visual.h"
#include "tdcmp/kernel_dump.h"
#include "tdcmp/files.h"

#endif
