/*
 * part_file.h - what one process of several has found, in a file that may end at any byte.
 *
 * A part is a line of frames: a length, a checksum, a body. The first body is the head: which
 * command, by which version, of which inputs. Each other one is a record: a key, stamps of the
 * files it was made from, and what was found; the last one of a complete part is the end mark.
 * Frames are appended with one write each: a process that is killed leaves whole frames and at
 * most one torn one, at which reading stops. Nothing in a part is believed: every length is held
 * against what is there, every body against its checksum.
 */
#ifndef TDC_SHARE_PART_FILE_H
#define TDC_SHARE_PART_FILE_H

#include "io/base/text.h"
#include "tdcmp/share.h"

/* One hash in two halves: equal for equal texts, and for no others that anyone will meet. */
struct tdc_share_key {
    uint64_t halves[2];
};

extern const struct tdc_share_key tdc_share_key_start;
void tdc_share_key_add(struct tdc_share_key *key, const void *bytes, size_t size);
/* A text with its end, so that "a", "bc" is not "ab", "c". NULL is unlike "". */
void tdc_share_key_text(struct tdc_share_key *key, const char *text);
void tdc_share_key_number(struct tdc_share_key *key, uint64_t number);

/* A file as it was: size and time of its last change; all 0 for none. */
struct tdc_file_mark {
    uint64_t size, changed; /* bytes, nanoseconds */
};

struct tdc_part_input {
    const char *path;
    struct tdc_file_mark mark;
};

struct tdc_part_head {
    uint32_t index, count; /* this process of so many */
    const char *version;
    const char *settings; /* the options that decide what is found, in one form */
    const char *folder;   /* that relative paths start from */
    const char *const *words;
    size_t word_count;
    const struct tdc_part_input *inputs;
    size_t input_count;
};

enum tdc_part_kind {
    TDC_PART_END,
    TDC_PART_OUTCOME, /* of a pair of tensors */
    TDC_PART_PIECE,   /* sums of some chunks of a large one */
    TDC_PART_CALL,    /* of a precheck */
    TDC_PART_THIRD,   /* of a row against a third run */
    TDC_PART_WORK,    /* how long the process took (work.h) */
    TDC_PART_KINDS
};

struct tdc_part_record {
    enum tdc_part_kind kind;
    struct tdc_share_key key;
    struct tdc_file_mark marks[2];
    const unsigned char *content; /* in the bytes it was read from */
    size_t size;
};

#define TDC_PART_MAGIC      "tdcpart\2"
#define TDC_PART_MAGIC_SIZE 8

/* Appends the beginning of a part: magic and head. */
void tdc_part_put_head(struct tdc_text *bytes, const struct tdc_part_head *head);
/* Appends a record, or the end mark. What is longer than a frame can be fails the text. */
void tdc_part_put(struct tdc_text *bytes, const struct tdc_part_record *record);

/* A part that was read: its bytes are the caller's and stay. */
struct tdc_part {
    struct tdc_part_head head;
    const char **words;            /* what the head points to, */
    struct tdc_part_input *inputs; /* freed by tdc_part_free */
    char *texts;
    size_t first; /* where the records begin */
    size_t whole; /* where the first frame begins that is torn or damaged, or the end */
    bool complete;
};

/* TDC_ERR_FORMAT when there is no whole head; TDC_ERR_MEMORY. */
tdc_status tdc_part_read_head(const unsigned char *bytes, size_t size, struct tdc_part *part,
                              struct tdc_error *error);
void tdc_part_free(struct tdc_part *part);
/* The record at *at, which moves behind it. False at the end and at a frame that is not whole. */
bool tdc_part_next(const unsigned char *bytes, size_t size, size_t *at,
                   struct tdc_part_record *record);

#endif
