/*
 * yaml_map.h - the mapping files people write by hand: small yaml trees with line numbers.
 *
 * Built on libyaml's events. Anchors and aliases, multiple documents and tags other than the
 * implicit ones are refused; depth, size of the file (1 GiB) and number of nodes are bounded. A
 * repeated key is an error that names both lines; keys are compared and kept as their text. What is
 * well formed but refused, or nested too deep, is TDC_ERR_UNSUPPORTED; too large is TDC_ERR_MEMORY.
 */
#ifndef TDC_IO_YAML_MAP_H
#define TDC_IO_YAML_MAP_H

#include "io/base/arena.h"
#include "tdcmp.h"

enum tdc_yaml_kind {
    TDC_YAML_SCALAR,
    TDC_YAML_LIST,
    TDC_YAML_MAP
};

struct tdc_yaml {
    enum tdc_yaml_kind kind;
    unsigned line;    /* 1-based, where the value starts */
    const char *text; /* scalar, terminated; a plain null (~, null, empty) has is_null set */
    bool is_null;
    bool quoted;     /* any style but plain, block texts included */
    const char *key; /* inside a map */
    unsigned key_line;
    struct tdc_yaml *child, *next;
    size_t children;
};

/* Reads the file; *root is NULL for an empty file. Messages name the file and the line. */
tdc_status tdc_yaml_load(const char *path, struct tdc_arena *arena, struct tdc_yaml **root,
                         struct tdc_error *error);
tdc_status tdc_yaml_parse(const char *bytes, size_t size, const char *name, struct tdc_arena *arena,
                          struct tdc_yaml **root, struct tdc_error *error);

#endif
