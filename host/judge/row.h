/* row.h - a row of the result table before it is written. */
#ifndef TDC_HOST_ROW_H
#define TDC_HOST_ROW_H

#include <stdatomic.h>

#include "host/engine/engine.h"
#include "host/match/match.h"

/* A metric or difference: a number or one of the fixed texts that stand in for it. */
enum tdc_value_form {
    TDC_HOLDS_EMPTY, /* "" */
    TDC_HOLDS_NUMBER,
    TDC_HOLDS_PERCENT,     /* number with a percent sign */
    TDC_HOLDS_NAN,         /* "Nan" */
    TDC_HOLDS_NA,          /* "N/A" */
    TDC_HOLDS_UNSUPPORTED, /* "unsupported" */
    TDC_HOLDS_SHAPE,       /* "shape unmatched" */
    /* statistics of msprobe 26, texts in every format */
    TDC_HOLDS_ZERO,     /* "0" */
    TDC_HOLDS_INF,      /* "inf" */
    TDC_HOLDS_NEG_INF,  /* "-inf" */
    TDC_HOLDS_DIFF,     /* "Diff" */
    TDC_HOLDS_FLOAT,    /* number as Python writes it: "1.0" */
    TDC_HOLDS_INTEGER,  /* integer, digits */
    TDC_HOLDS_UNSIGNED, /* likewise, without a sign */
};

struct tdc_value {
    union {
        double number;
        int64_t integer; /* TDC_HOLDS_INTEGER and TDC_HOLDS_UNSIGNED */
    };
    uint8_t form; /* enum tdc_value_form */
};

/* Columns of a row's values. */
enum tdc_tensor_value {
    TDC_COSINE,
    TDC_EUC_DIST,
    TDC_MAX_ABS,
    TDC_MAX_REL,
    TDC_ONE_THOUSANDTH,
    TDC_FIVE_THOUSANDTHS,
    TDC_TENSOR_VALUES
};

enum {
    TDC_DIFF = 0,                  /* + enum tdc_statistic */
    TDC_RELATIVE = TDC_STATISTICS, /* + enum tdc_statistic */
    TDC_ROW_VALUES = 2 * TDC_STATISTICS
};

/* The verdict column of the compat and compat26 rules; that of the sound rules is the class of the
 * row. */
enum tdc_verdict {
    TDC_VERDICT_EMPTY, /* statistics: nothing suspicious */
    TDC_VERDICT_YES,
    TDC_VERDICT_NO,
    TDC_VERDICT_NONE,
    TDC_VERDICT_UNMATCHED,
    TDC_VERDICT_WARNING,
    TDC_VERDICT_PASS,
    TDC_VERDICT_DIFFERENT,
    TDC_VERDICT_NA,
    TDC_VERDICT_ERROR
};

struct tdc_row {
    uint32_t npu, bench; /* records; TDC_UNPAIRED where there is none */
    uint8_t row_class;   /* tdc_row_class */
    uint8_t verdict;     /* enum tdc_verdict; compat rules only */
    uint8_t colour;      /* tdc_colour */
    atomic_bool judged;  /* all of this is final but colour and origin: a writer may take it */
    uint32_t call;       /* of table->calls; sound rules only */
    uint8_t origin;      /* tdc_origin_kind; sound rules only */
    bool enters;         /* a parameter or input of the run that is not identical */
    bool excused;        /* the distance is large and says nothing: a mask, noise around zero */
    double r, s;         /* relative distance, worst element; sound rules only */
    const char *message; /* Err_message, never NULL; kept by the table */
    uint16_t findings;   /* bits of enum tdc_fault; compat26 rules only, whose list they are */
    uint64_t reasons;    /* bits of enum tdc_reason; sound rules only */
    struct tdc_value values[TDC_ROW_VALUES];
};

/* All rows of a table, as far as rules and origins look beyond one. */
struct tdc_rows {
    const struct tdc_match *match;
    tdc_mode mode;
    struct tdc_row *rows;
    size_t count;
    bool toleranced; /* by limits that were given: what is within them begins nowhere */
};

/* The records that face each other in a row; NULL where there is none. */
static inline const struct tdc_record *tdc_npu_record(const struct tdc_match *match,
                                                      const struct tdc_row *row)
{
    return row->npu == TDC_UNPAIRED ? NULL : &match->npu->records[row->npu];
}

static inline const struct tdc_record *tdc_bench_record(const struct tdc_match *match,
                                                        const struct tdc_row *row)
{
    return row->bench == TDC_UNPAIRED ? NULL : &match->bench->records[row->bench];
}

/* What the sound rules add to a row in tensor mode. */
struct tdc_extra {
    uint64_t elements; /* 0: nothing was computed */
    double mean_abs, rmse;
    double below[2]; /* share of relative errors below 1/100 and 1/10 */
    uint64_t abs_at, rel_at;
    struct tdc_element abs_n, abs_b, rel_n, rel_b;
    uint8_t n_dtype, b_dtype; /* of these elements */
    uint64_t n_nan, n_inf, b_nan, b_inf;
    bool located; /* the positions mean something */
    bool apart;   /* a NaN or infinity does not face its like: first here */
    uint64_t apart_at;
    struct tdc_element apart_n, apart_b;
};

static inline struct tdc_value tdc_value_of(enum tdc_value_form form)
{
    return (struct tdc_value){.form = (uint8_t)form};
}

static inline struct tdc_value tdc_value_number(double number)
{
    return (struct tdc_value){.number = number, .form = TDC_HOLDS_NUMBER};
}

#endif
