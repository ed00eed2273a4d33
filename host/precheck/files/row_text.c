#include "host/precheck/files/row_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/table/json_object.h"
#include "io/text/pytext.h"
#include "io/base/utf8_step.h"

#define MESSAGE_LIMIT ((size_t)1 << 20)

const char tdc_result_header[] = "API Name,Forward Test Success,Backward Test Success,Message\r\n";
const char tdc_standard_result_header[] =
    "API name,Forward Test Success,Backward Test Success,Message\r\n";
const char tdc_details_header[] =
    "API Name,Bench Dtype,Tested Dtype,Shape,Cosine,MaxAbsErr,MaxRelativeErr,Status,Message\r\n";

static void add_number(struct tdc_text *text, const struct tdc_slot_row *row, double number)
{
    char digits[TDC_FLOAT_TEXT];
    if (row->measured)
        tdc_text_add(text, digits, tdc_float_repr(number, digits));
}

/* Names of records are plain, but nothing forces a file to keep to that. */
static void add_name(struct tdc_text *text, const struct tdc_call_check *check,
                     enum tdc_direction direction, size_t number)
{
    struct tdc_text name;
    tdc_text_init(&name, MESSAGE_LIMIT);
    tdc_text_addf(&name, "%s.%s.output.%zu", check->call->name, tdc_direction_name[direction],
                  number);
    tdc_csv_field(text, tdc_text_get(&name));
    text->failed |= name.failed;
    tdc_text_free(&name);
}

static void details_row(struct tdc_text *text, const struct tdc_call_check *check,
                        enum tdc_direction direction, const struct tdc_slot_row *row)
{
    add_name(text, check, direction, row->number);
    tdc_text_addf(text, ",%s,%s,", row->bench_dtype, row->tested_dtype);
    tdc_csv_field(text, row->shape);
    tdc_text_addc(text, ',');
    add_number(text, row, row->metrics.cosine);
    tdc_text_addc(text, ',');
    add_number(text, row, row->metrics.max_abs);
    tdc_text_addc(text, ',');
    add_number(text, row, row->metrics.max_relative);
    tdc_text_addf(text, ",%s,", tdc_check_text(row->status));
    tdc_csv_field(text, row->message);
    tdc_text_adds(text, "\r\n");
}

/* A direction by TDC_STANDARD_PYTORCH; one that was skipped for a reason has a row with it. */
static void standard_rows(struct tdc_text *text, const struct tdc_call_check *check,
                          enum tdc_direction direction)
{
    const struct tdc_direction_check *checked = &check->directions[direction];
    size_t count =
        checked->status == TDC_CHECK_SKIP ? checked->reason.text[0] != '\0' : checked->count;
    for (size_t i = 0; i < count; i++) {
        struct tdc_standard_row skipped = {
            .bench_dtype = " ", .device_dtype = " ", .shape = " ", .status = TDC_CHECK_SKIP};
        snprintf(skipped.message, sizeof skipped.message, "%s", checked->reason.text);
        bool judged = checked->status != TDC_CHECK_SKIP && checked->standard != NULL;
        struct tdc_text name;
        tdc_text_init(&name, MESSAGE_LIMIT);
        tdc_text_addf(&name, "%s.%s.output.%zu", check->call->name, tdc_direction_name[direction],
                      judged ? checked->rows[i].number : 0);
        tdc_standard_text(text, tdc_text_get(&name), judged ? &checked->standard[i] : &skipped);
        text->failed |= name.failed;
        tdc_text_free(&name);
    }
}

/* A direction without a verdict is a blank, a message only there when something was skipped. */
static void standard_result_row(struct tdc_text *text, const struct tdc_call_check *check)
{
    tdc_csv_field(text, check->call->name);
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        tdc_check status = check->directions[d].status;
        tdc_text_addf(text, ",%s", status == TDC_CHECK_NONE ? " " : tdc_check_text(status));
    }
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        if (check->directions[d].status != TDC_CHECK_SKIP)
            continue;
        tdc_text_addc(text, ',');
        tdc_csv_field(text, check->directions[d].reason.text);
        break;
    }
    tdc_text_adds(text, "\r\n");
}

void tdc_details_rows(struct tdc_text *text, const struct tdc_call_check *check)
{
    if (check->checker->options->standard == TDC_STANDARD_PYTORCH) {
        standard_rows(text, check, TDC_FORWARD);
        standard_rows(text, check, TDC_BACKWARD);
        return;
    }
    for (int d = 0; d < TDC_DIRECTIONS; d++)
        for (size_t i = 0; i < check->directions[d].count; i++)
            details_row(text, check, (enum tdc_direction)d, &check->directions[d].rows[i]);
}

/* msprobe writes messages without a gap; else each is said once, and kept apart from the next. */
static void say(struct tdc_text *message, const char *text, bool compat)
{
    if (!compat && (text[0] == '\0' || strstr(tdc_text_get(message), text) != NULL))
        return;
    if (!compat && message->length != 0)
        tdc_text_adds(message, "; ");
    tdc_text_adds(message, text);
}

void tdc_result_row(struct tdc_text *text, const struct tdc_call_check *check)
{
    const struct tdc_direction_check *forward = &check->directions[TDC_FORWARD];
    const struct tdc_direction_check *backward = &check->directions[TDC_BACKWARD];
    if (forward->status == TDC_CHECK_NONE && backward->status == TDC_CHECK_NONE)
        return;
    if (check->checker->options->standard == TDC_STANDARD_PYTORCH) {
        standard_result_row(text, check);
        return;
    }
    struct tdc_text message;
    tdc_text_init(&message, MESSAGE_LIMIT);
    bool compat = check->checker->options->profile == TDC_PROFILE_COMPAT;
    if (forward->status != TDC_CHECK_PASS || backward->status != TDC_CHECK_PASS) {
        for (int d = 0; d < TDC_DIRECTIONS; d++)
            for (size_t i = 0; i < check->directions[d].count; i++)
                say(&message, check->directions[d].rows[i].message, compat);
        say(&message, forward->reason.text, compat);
        say(&message, backward->reason.text, compat);
    }
    tdc_csv_field(text, check->call->name);
    tdc_text_addf(text, ",%s,%s,", tdc_check_text(forward->status),
                  tdc_check_text(backward->status));
    tdc_csv_field(text, tdc_text_get(&message));
    tdc_text_adds(text, "\r\n");
    text->failed |= message.failed;
    tdc_text_free(&message);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* "(2, 3)" as a list, null where it is none. */
static void json_shape(struct tdc_json_object *object, const char *shape)
{
    size_t length = strlen(shape);
    if (length < 2 || shape[0] != '(' || strspn(shape + 1, "0123456789, ") != length - 2) {
        tdc_object_null(object, "shape");
        return;
    }
    tdc_object_key(object, "shape");
    tdc_text_addc(object->out, '[');
    const char *between = "";
    for (const char *at = shape + 1; *at != '\0' && *at != ')';) {
        size_t digits = strspn(at, "0123456789");
        if (digits != 0) {
            tdc_text_adds(object->out, between);
            tdc_text_add(object->out, at, digits);
            between = ", ";
        }
        at += digits != 0 ? digits : 1;
    }
    tdc_text_addc(object->out, ']');
}

static void json_number(struct tdc_json_object *object, const char *name, bool known, double number)
{
    if (known)
        tdc_object_number(object, name, number);
    else
        tdc_object_null(object, name);
}

static void json_row(struct tdc_text *text, const struct tdc_call_check *check,
                     enum tdc_direction direction, const struct tdc_slot_row *row)
{
    struct tdc_json_object object;
    tdc_text_adds(text, ",\n  ");
    tdc_object_begin(&object, text);
    tdc_object_text(&object, "call", check->call->name);
    tdc_object_text(&object, "direction", tdc_direction_name[direction]);
    tdc_object_whole(&object, "slot", row->number);
    tdc_object_text(&object, "bench_dtype", row->bench_dtype);
    tdc_object_text(&object, "tested_dtype", row->tested_dtype);
    json_shape(&object, row->shape);
    json_number(&object, "cosine", row->measured, row->metrics.cosine);
    json_number(&object, "max_abs_err", row->measured, row->metrics.max_abs);
    json_number(&object, "max_relative_err", row->measured, row->metrics.max_relative);
    json_number(&object, "max_ulp", row->measured && row->floating, row->metrics.max_ulp);
    json_number(&object, "error", row->bounded, row->bound.error);
    json_number(&object, "bound", row->bounded, row->bound.bound);
    tdc_object_text(&object, "status", tdc_check_text(row->status));
    tdc_object_text(&object, "message", row->message);
    tdc_object_end(&object);
}

void tdc_details_json(struct tdc_text *text, const struct tdc_call_check *check)
{
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        const struct tdc_direction_check *checked = &check->directions[d];
        for (size_t i = 0; i < checked->count; i++)
            json_row(text, check, (enum tdc_direction)d, &checked->rows[i]);
        if (checked->status != TDC_CHECK_SKIP)
            continue;
        struct tdc_json_object object;
        tdc_text_adds(text, ",\n  ");
        tdc_object_begin(&object, text);
        tdc_object_text(&object, "call", check->call->name);
        tdc_object_text(&object, "direction", tdc_direction_name[d]);
        tdc_object_text(&object, "status", "SKIP");
        tdc_object_text(&object, "message", checked->reason.text);
        tdc_object_end(&object);
    }
}
