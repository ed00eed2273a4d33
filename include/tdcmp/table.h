/* table.h - comparing matched dumps, and what became of each row. */
#ifndef TDCMP_TABLE_H
#define TDCMP_TABLE_H

#include "tdcmp/dump.h"

TDC_INTERFACE_BEGIN

/* ---- compare --------------------------------------------------------------------------------- */

/* One row per pair, nothing compared yet. stack_json may be NULL; then the table has a stack column
 * only if the NPU's dump was loaded from memory with a stack. */
tdc_status tdc_table_new(const tdc_match *match, const struct tdc_options *options,
                         const char *stack_json, tdc_table **table, struct tdc_error *error);
void tdc_table_free(tdc_table *table);

/* Rows and bytes that tdc_compare will have to read, for a progress display. */
void tdc_table_work(const tdc_table *table, uint64_t *rows, uint64_t *bytes);

/*
 * Compares all tables (one per rank) in one run over all threads. A tensor that cannot be read is a
 * row with an error text, not a failure. On TDC_ERR_INTERRUPTED the tables hold no result.
 */
tdc_status tdc_compare(tdc_table *const *tables, size_t count, const struct tdc_options *options,
                       struct tdc_error *error);

typedef enum {
    TDC_FORMAT_NONE = 0,
    TDC_FORMAT_XLSX = 1,
    TDC_FORMAT_CSV = 2,
    TDC_FORMAT_JSON = 4,
    TDC_FORMAT_JSONL = 8 /* a line for the whole, then one a row (docs/schema) */
} tdc_format;

/* Bits of tdc_output.flags. */
enum {
    TDC_OUTPUT_EXCLUSIVE = 1,    /* a file of that name is not replaced: TDC_ERR_WRITE */
    TDC_OUTPUT_MAKE_FOLDERS = 2, /* the folder of the file and its parents are made if missing */
    TDC_OUTPUT_STREAM = 4        /* goes to tdc_output.stream, once it is complete */
};

/* A file to write while comparing. */
struct tdc_output {
    size_t size; /* of this struct: set by tdc_output_init, the same for all of an array */
    tdc_table *table;
    tdc_format format;
    unsigned flags;   /* TDC_OUTPUT_... */
    const char *path; /* with TDC_OUTPUT_STREAM a name for messages */
    /* Rows to write: bits 1 << tdc_row_class, 0 for all. With TDC_ROW_DIFFERENT those where
     * differences begin are written too, whatever their class. */
    unsigned classes;
    int stream; /* an open descriptor */
};

void tdc_output_init(struct tdc_output *output, size_t size, tdc_table *table, tdc_format format,
                     const char *path);

/* tdc_compare, and each output is written while the rest is still being compared: rows follow as
 * they are done, in order. On failure no output is left behind; when it is TDC_ERR_WRITE, the
 * tables hold their results all the same. */
tdc_status tdc_compare_to(tdc_table *const *tables, size_t count, const struct tdc_output *outputs,
                          size_t output_count, const struct tdc_options *options,
                          struct tdc_error *error);

/* ---- rows ------------------------------------------------------------------------------------ */

/* What became of a row, whatever the mode. The sound rules give levels, from TDC_ROW_IDENTICAL to
 * TDC_ROW_DIFFERENT in this order (docs/verdicts.md has their limits); the compat rules know
 * TDC_ROW_SAME and TDC_ROW_DIFFERENT. */
typedef enum {
    TDC_ROW_NONE = 0,  /* not compared: not yet, or nothing to judge (empty, no data kept) */
    TDC_ROW_SHOWN,     /* compared and shown, but its numbers mean nothing: no verdict */
    TDC_ROW_SAME,      /* within the tolerance of rules without levels */
    TDC_ROW_IDENTICAL, /* no element differs */
    TDC_ROW_ROUNDING,  /* within what the coarser dtype explains */
    TDC_ROW_CLOSE,     /* more than rounding, within tolerance */
    TDC_ROW_DIFFERENT, /* out of tolerance */
    TDC_ROW_UNMATCHED, /* one side only, or shapes that do not fit */
    TDC_ROW_ERROR,     /* could not be read */
    TDC_ROW_IGNORED,   /* a tolerance file leaves it out: counts for nothing */
    TDC_ROW_ALLOWED,   /* different, and a tolerance file allows it */
    TDC_ROW_CLASSES    /* how many there are in this version */
} tdc_row_class;

typedef enum {
    TDC_COLOUR_NONE = 0,
    TDC_COLOUR_YELLOW,
    TDC_COLOUR_RED
} tdc_colour;

/* How much a row asks for attention, whatever was coloured. */
typedef enum {
    TDC_SEVERITY_NONE = 0,
    TDC_SEVERITY_LOOK,      /* yellow: worth a look */
    TDC_SEVERITY_DIFFERENT, /* red: out of tolerance */
    TDC_SEVERITY_START      /* red: differences begin here */
} tdc_severity;

struct tdc_summary {
    uint64_t rows;
    uint64_t origins;             /* see tdc_table_origin */
    uint64_t entering;            /* parameters and inputs of the run that are not identical */
    uint64_t tensors;             /* rows of tensors that were judged */
    uint64_t no_data;             /* rows of tensors with elements that neither side has data of */
    uint64_t bytes;               /* of tensor data compared, both sides */
    double seconds;               /* that reading and comparing the data of the whole run took */
    uint64_t classes[32];         /* by tdc_row_class */
    uint64_t coloured[8];         /* by tdc_colour */
    uint64_t calls;               /* entries of the dumps that the rows belong to */
    uint64_t different_calls;     /* of those, with a row that is different or an origin */
    uint64_t different_arguments; /* rows that are different and no tensors */
};

/* The answer of a comparison in one word: colours, counts and exit codes agree with it. */
typedef enum {
    TDC_ANSWER_NONE = 0,  /* nothing was compared */
    TDC_ANSWER_IDENTICAL, /* no element differs */
    TDC_ANSWER_SAME,      /* within what rounding explains, or within tolerance: see the rules */
    TDC_ANSWER_CLOSE,     /* more than rounding, within tolerance */
    TDC_ANSWER_UNMATCHED, /* nothing differs, but some rows have no partner */
    TDC_ANSWER_DIFFERENT  /* a row is out of tolerance, or differences begin somewhere */
} tdc_answer;

/* Of one table or of the sum of several. Rows without a partner count unless they are allowed.
 * Rows that could not be read (TDC_ROW_ERROR) are no answer: the caller looks at their number. */
tdc_answer tdc_summary_answer(const struct tdc_summary *summary, bool allow_unmatched);
/* "IDENTICAL", "SAME", ...; "NOTHING COMPARED" */
const char *tdc_answer_text(tdc_answer answer);

size_t tdc_table_rows(const tdc_table *table);
tdc_mode tdc_table_mode(const tdc_table *table);
/* What was found while the files of a row were compared, in words; "" if nothing. With
 * TDC_RULES_COMPAT26 it stands in no column. */
const char *tdc_table_remark(const tdc_table *table, size_t row);
tdc_row_class tdc_table_class(const tdc_table *table, size_t row);
tdc_colour tdc_table_colour(const tdc_table *table, size_t row);
tdc_severity tdc_table_severity(const tdc_table *table, size_t row);
void tdc_table_summary(const tdc_table *table, struct tdc_summary *summary, size_t size);
/* False when nothing was compared: no row was judged, or no tensor although there are some. Such a
 * run is no success, whatever its counts. */
bool tdc_table_compared(const tdc_table *table);
/* "identical", "rounding", ...: the word for a class in the tables of the sound rules. */
const char *tdc_level_text(tdc_row_class level);

/* The entry of the dump that a row belongs to: "Functional.linear.0.forward", of the NPU where it
 * has one. */
const char *tdc_table_call(const tdc_table *table, size_t row);
/* Number of a row in the sheet and in csv, where the header is row 1. */
size_t tdc_sheet_row(size_t row);
/* Whether an output of these classes (see tdc_output) has the row. */
bool tdc_table_selected(const tdc_table *table, size_t row, unsigned classes);

/* ---- tolerance files ------------------------------------------------------------------------- */

/* How often a rule of the tolerance file has judged, or a pattern of its lists has fitted. */
struct tdc_tolerance_use {
    const char *what;      /* "rule", "ignore", "may_fail", "may_miss" */
    const char *text;      /* the predicate, or the pattern */
    uint64_t rows, failed; /* failed: of rules alone */
};
/* Their number; rules come first, in the order of the file. 0 without a tolerance file. */
size_t tdc_table_tolerances(const tdc_table *table);
void tdc_table_tolerance(const tdc_table *table, size_t index, struct tdc_tolerance_use *use);

/* ---- a third run ----------------------------------------------------------------------------- */

/* What a third dump is to the two that are compared (docs/third.md). */
typedef enum {
    TDC_THIRD_NONE = 0,
    TDC_THIRD_TRUTH, /* the same computed more exactly: which side is nearer? */
    TDC_THIRD_NOISE  /* the reference once more: how far is it from itself? */
} tdc_third;

typedef enum {
    TDC_NEARER_NONE = 0,
    TDC_NEARER_A, /* the side under test */
    TDC_NEARER_B, /* the reference */
    TDC_NEARER_TIE,
    TDC_NEARER_TIE_ROUNDING, /* both are as near as their types allow */
    TDC_NEARER_TIE_EXACT,
    TDC_NEARER_NEITHER /* both are not finite where the truth is */
} tdc_nearer;
/* "A", "B", "tie", "tie (rounding)", "tie (exact)", "neither"; "" */
const char *tdc_nearer_text(tdc_nearer nearer);
/* "nearer the truth: A 12, B 3, tie 40 (37 rounding)"; counts by tdc_nearer. */
void tdc_nearer_summary(const uint64_t counts[TDC_NEARER_NEITHER + 1], char *line, size_t size);

/* A row against the third run, c: over the elements that are finite on all three sides. */
struct tdc_third_row {
    bool known; /* all three have it, in one shape */
    tdc_nearer nearer;
    uint64_t elements;
    double rmse_a, rmse_b;   /* root of the mean of (a-c)^2, (b-c)^2 */
    double noise_a, noise_b; /* what rounding c to the type of the side costs */
    uint64_t a_nearer, b_nearer, equal;
    double factor; /* root of the mean of (a-b)^2, over rmse_b or noise_b if that is more */
};

/*
 * Reads the rows' tensors beside those of a third run. To be called before tdc_compare; with
 * TDC_THIRD_NOISE rows that differ by no more than the reference from itself become TDC_ROW_SAME.
 * `third` is a match of the table's NPU dump with the third one; NULL for a table of logical
 * tensors, whose third run was given to tdc_align_match.
 */
tdc_status tdc_table_third(tdc_table *table, tdc_third kind, const tdc_match *third,
                           const struct tdc_options *options, struct tdc_error *error);
/* False for a row that is not known. */
bool tdc_table_third_row(const tdc_table *table, tdc_third kind, size_t row,
                         struct tdc_third_row *numbers);
/* The known rows of a truth as csv. */
tdc_status tdc_truth_write(const tdc_table *table, const char *path, struct tdc_error *error);

/* ---- cells ----------------------------------------------------------------------------------- */

typedef enum {
    TDC_CELL_NONE = 0,
    TDC_CELL_TEXT,
    TDC_CELL_NUMBER,
    TDC_CELL_BOOL
} tdc_cell_kind;

struct tdc_cell {
    tdc_cell_kind kind;
    bool truth;       /* TDC_CELL_BOOL */
    double number;    /* TDC_CELL_NUMBER; may be NaN or infinite */
    const char *text; /* TDC_CELL_TEXT: UTF-8, `length` bytes, not necessarily terminated;
                         TDC_CELL_NUMBER: what csv shows, NULL for the number with 16 digits */
    size_t length;
};

/* Columns as they are written to files: their number, and the name of one. */
size_t tdc_table_columns(const tdc_table *table);
const char *tdc_table_column(const tdc_table *table, size_t column);
/*
 * Fills all tdc_table_columns(table) cells of a row. Texts stay valid until the next call for the
 * same table.
 */
tdc_status tdc_table_row(tdc_table *table, size_t row, struct tdc_cell *cells,
                         struct tdc_error *error);

/* The number that condemns a row most and where it is, as one short text ("MaxAbsErr 0.5 at [3, 7]:
 * 1.5 against 1"); empty when there is none. Valid until the next call for the same table. */
const char *tdc_table_worst(tdc_table *table, size_t row);

/* ---- origins --------------------------------------------------------------------------------- */

/*
 * Where differences begin (sound rules): calls whose outputs differ more than their inputs can
 * explain, in network order. What follows from them is no origin. docs/verdicts.md has the rules.
 */
typedef enum {
    TDC_ORIGIN_NONE = 0,
    TDC_ORIGIN_OPERATOR, /* the inputs agree, an output does not */
    TDC_ORIGIN_ENTRY,    /* a parameter or input that no recorded call has produced */
    TDC_ORIGIN_ARGUMENT, /* an argument that is not a tensor */
    TDC_ORIGIN_RANDOM    /* a random operator in another state: told once */
} tdc_origin_kind;

struct tdc_origin {
    tdc_origin_kind kind;
    size_t row;             /* the output, input or argument that shows it */
    bool backward;          /* of a backward call or of gradients */
    bool consequence;       /* statistics: may come from an earlier one, which they cannot tell */
    double distance, worst; /* of the row: ||n-b|| / ||b||, max|n-b| / max|b| */
    double input_distance, input_worst; /* the largest of what went into the call */
    uint64_t explains; /* rows that are different and follow from it, its own included */
};

/* Number of origins, and one of them; none before the table is filled or with compat rules. */
size_t tdc_table_origins(const tdc_table *table);
const struct tdc_origin *tdc_table_origin(const tdc_table *table, size_t index);
/* "operator", "entry", "argument", "random" */
const char *tdc_origin_text(tdc_origin_kind kind);

/* ---- write ----------------------------------------------------------------------------------- */

/* Writes the table to path; complete or not at all. */
tdc_status tdc_table_write(tdc_table *table, tdc_format format, const char *path,
                           struct tdc_error *error);
/* Writes the advisor's three lines for the first suspicious row. */
tdc_status tdc_advice_write(tdc_table *table, const char *path, struct tdc_error *error);
/* The text alone, valid until the table is freed; NULL when out of memory. */
const char *tdc_advice_text(tdc_table *table);

TDC_INTERFACE_END
#endif
