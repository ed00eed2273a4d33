/*
 * out_file.h - results that appear whole or not at all.
 *
 * The content goes to a temporary file in the folder of the result (mode 0640) and is renamed when
 * complete. Temporaries that killed processes left in that folder are removed
 * (io/file/listed_file.h).
 */
#ifndef TDC_IO_OUT_FILE_H
#define TDC_IO_OUT_FILE_H

#include "io/file/listed_file.h"
#include "tdcmp.h"

struct tdc_out_file {
    char *path;                       /* final name */
    struct tdc_listed_file temporary; /* while it is being written */
    int fd;                           /* of the temporary, to write to; -1 when done */
    int stream;                       /* gets the content when it is complete; -1: none */
    bool unflushed;                   /* the commit renames only */
};

#define TDC_OUT_FILE_NONE                                                                          \
    ((struct tdc_out_file){.temporary = {.slot = -1, .fd = -1}, .fd = -1, .stream = -1})

/* Creates the temporary. The folder must exist. A file that has the final name stays until the
 * commit. At most 64 at a time in a process. */
tdc_status tdc_out_file_open(const char *path, struct tdc_out_file *file, struct tdc_error *error);
/* The same for one of many files of a folder: nothing is looked for there, and the commit does not
 * wait for the disk. */
tdc_status tdc_out_file_open_many(const char *path, struct tdc_out_file *file,
                                  struct tdc_error *error);
/* The same for a result that goes to an open descriptor: its temporary is in the folder of
 * temporaries ($TMPDIR, /tmp), and a commit copies it and removes it. The name is for messages. */
tdc_status tdc_out_file_open_stream(const char *name, int stream, struct tdc_out_file *file,
                                    struct tdc_error *error);
/* Flushes to the disk, unless it is one of many, and renames. On failure the temporary is removed.
 */
tdc_status tdc_out_file_commit(struct tdc_out_file *file, struct tdc_error *error);
/* The same, but never replaces a file: that is a failure. */
tdc_status tdc_out_file_commit_new(struct tdc_out_file *file, struct tdc_error *error);
/* Removes the temporary. Harmless after a commit, and for TDC_OUT_FILE_NONE. */
void tdc_out_file_discard(struct tdc_out_file *file);

/* tdc_out_files_remove is public: tdcmp.h. After it a commit fails. */

/* Creates a folder and its missing parents (mode 0750). */
tdc_status tdc_make_folders(const char *path, struct tdc_error *error);
/* The same for the folder that a file of that name is in. */
tdc_status tdc_make_folder_of(const char *path, struct tdc_error *error);

#endif
