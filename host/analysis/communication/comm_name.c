#include "host/analysis/communication/comm_name.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

bool tdc_comm_is_call(const char *name)
{
    static const char *const prefixes[] = {"Distributed", "MintDistributed",
                                           "communication.comm_func"};
    /* longer names such as reduce_scatter_tensor contain one of these */
    static const char *const kinds[] = {"send",   "recv",    "broadcast", "reduce",
                                        "gather", "scatter", "all_to_all"};
    bool distributed = false;
    for (size_t i = 0; i < COUNT(prefixes) && !distributed; i++)
        distributed = strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
    for (size_t i = 0; i < COUNT(kinds) && distributed; i++)
        if (strstr(name, kinds[i]) != NULL)
            return true;
    return false;
}

struct tdc_comm_api tdc_comm_api_of(const char *name)
{
    /* api, call number, direction: the last three parts */
    const char *ends[3], *at = name + strlen(name);
    for (size_t i = 0; i < COUNT(ends); i++) {
        ends[i] = at;
        while (at > name && at[-1] != '.')
            at--;
        if (at == name)
            return (struct tdc_comm_api){"", 0};
        if (i + 1 < COUNT(ends))
            at--;
    }
    return (struct tdc_comm_api){at, (size_t)(ends[2] - at)};
}

static bool is_api(struct tdc_comm_api api, const char *text)
{
    return strlen(text) == api.length && memcmp(api.text, text, api.length) == 0;
}

struct tdc_comm_api tdc_comm_partner_api(struct tdc_comm_api api)
{
    static const char *const pairs[][2] = {
        {"send", "recv"}, {"isend", "irecv"}, {"send_object_list", "recv_object_list"}};
    for (size_t i = 0; i < COUNT(pairs); i++)
        for (int side = 0; side < 2; side++)
            if (is_api(api, pairs[i][side])) {
                const char *other = pairs[i][1 - side];
                return (struct tdc_comm_api){other, strlen(other)};
            }
    return api;
}

enum tdc_comm_end tdc_comm_opposite(enum tdc_comm_end end)
{
    return end == TDC_COMM_SRC ? TDC_COMM_DST : end == TDC_COMM_DST ? TDC_COMM_SRC : end;
}

enum tdc_comm_end tdc_comm_named_end(struct tdc_comm_api api)
{
    static const char *const to[] = {"send", "isend", "gather", "send_object_list"};
    static const char *const from[] = {"recv", "irecv", "broadcast", "scatter", "recv_object_list"};
    for (size_t i = 0; i < COUNT(to); i++)
        if (is_api(api, to[i]))
            return TDC_COMM_DST;
    for (size_t i = 0; i < COUNT(from); i++)
        if (is_api(api, from[i]))
            return TDC_COMM_SRC;
    return TDC_COMM_LINK;
}
