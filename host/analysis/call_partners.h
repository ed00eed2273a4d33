/*
 * call_partners.h - with which ranks a communication call exchanges data, from its records.
 *
 * Arguments named src or dst, the ranks of a group, and the peers of point-to-point operations.
 */
#ifndef TDC_ANALYSIS_CALL_PARTNERS_H
#define TDC_ANALYSIS_CALL_PARTNERS_H

#include "host/analysis/communication/comm_graph.h"
#include "host/dump/dump.h"

/* Made with zeros; one serves for many calls. */
struct tdc_call_partners {
    long *ranks; /* in the order of the arguments, repeated or not */
    size_t count, capacity;
    enum tdc_comm_end end;
    bool failed; /* out of memory, until it is freed */
};

/*
 * Reads the call that is an entry of the dump of a rank. As msprobe does, only arguments by name
 * count. `closer`: a rank that is given by its place counts too, and what a call between two ranks
 * says of its group does not.
 */
void tdc_call_partners_read(struct tdc_call_partners *partners, const struct tdc_dump *dump,
                            size_t entry, long rank, bool closer);
void tdc_call_partners_free(struct tdc_call_partners *partners);

#endif
