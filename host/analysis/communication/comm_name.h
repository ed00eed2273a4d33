/* comm_name.h - which calls communicate, and with whom they pair. */
#ifndef TDC_ANALYSIS_COMM_NAME_H
#define TDC_ANALYSIS_COMM_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* `Distributed.all_reduce.0.forward` and the like: a communication API that sends, receives,
 * gathers, reduces or scatters. */
bool tdc_comm_is_call(const char *name);

/* `all_reduce` of such a name: the part before call number and direction. Empty when the name has
 * too few parts. */
struct tdc_comm_api {
    const char *text;
    size_t length;
};
struct tdc_comm_api tdc_comm_api_of(const char *name);

/* The API at the other end: recv for send, and the API itself for collectives. */
struct tdc_comm_api tdc_comm_partner_api(struct tdc_comm_api api);

/* Which end an API is on that names one rank as an argument. */
enum tdc_comm_end {
    TDC_COMM_LINK, /* no direction: a collective */
    TDC_COMM_SRC,
    TDC_COMM_DST
};
enum tdc_comm_end tdc_comm_opposite(enum tdc_comm_end end);
/* The end that the rank in the argument is on: of send the destination, of broadcast the source;
 * TDC_COMM_LINK for an API without a direction. */
enum tdc_comm_end tdc_comm_named_end(struct tdc_comm_api api);

#endif
