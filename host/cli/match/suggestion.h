/* suggestion.h - layer mapping lines proposed for several ranks, as one yaml file. */
#ifndef TDC_CLI_SUGGESTION_H
#define TDC_CLI_SUGGESTION_H

#include <stdbool.h>
#include <stddef.h>

struct tdc_suggestion {
    struct tdc_suggested {
        char *section, *line; /* "TopLayer:", "  network: module" */
        size_t key_length;    /* of the line */
        size_t order;
    } * lines;
    size_t count, capacity;
};

/* Adds what tdc_match_suggest returned; false when out of memory. */
bool tdc_suggestion_add(struct tdc_suggestion *suggestion, const char *yaml);
/* Prints each section once and, of lines for the same name, the first; may reorder the lines. */
void tdc_suggestion_print(struct tdc_suggestion *suggestion);
void tdc_suggestion_free(struct tdc_suggestion *suggestion);

#endif
