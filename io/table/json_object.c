#include "io/table/json_object.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/base/utf8_step.h"
#include "io/text/pytext.h"

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static void add_escape(struct tdc_text *out, unsigned char byte)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
        if ((unsigned char)letters[i] == byte) {
            const char pair[] = {'\\', letters[i + 1]};
            tdc_text_add(out, pair, sizeof pair);
            return;
        }
    }
    tdc_text_addf(out, "\\u%04x", byte);
}

void tdc_json_add_string(struct tdc_text *out, const char *text, size_t length)
{
    tdc_text_addc(out, '"');
    for (size_t at = 0; at < length;) {
        size_t run = at;
        while (run < length && is_plain((unsigned char)text[run]))
            run++;
        tdc_text_add(out, text + at, run - at);
        at = run;
        if (at == length)
            break;
        size_t taken;
        uint32_t character = tdc_utf8_step(text + at, length - at, &taken);
        if (character < 0x80)
            add_escape(out, (unsigned char)character);
        else if (character == TDC_UTF8_REPLACEMENT)
            tdc_text_adds(out, TDC_UTF8_REPLACEMENT_TEXT);
        else
            tdc_text_add(out, text + at, taken);
        at += taken;
    }
    tdc_text_addc(out, '"');
}

/* A negative zero keeps its ".0", so that readers do not take it for the integer 0. */
void tdc_json_add_finite(struct tdc_text *out, double value)
{
    char text[TDC_FLOAT_TEXT];
    size_t length = tdc_float_repr(value, text);
    bool negative_zero = value == 0 && signbit(value);
    if (length > 2 && !negative_zero && memcmp(text + length - 2, ".0", 2) == 0)
        length -= 2;
    tdc_text_add(out, text, length);
}

const char *tdc_json_word(double value)
{
    return isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

/* ---- objects --------------------------------------------------------------------------------- */

void tdc_object_begin_bare(struct tdc_json_object *object, struct tdc_text *out)
{
    object->out = out;
    object->begun = false;
    object->not_finite = 0;
}

void tdc_object_begin(struct tdc_json_object *object, struct tdc_text *out)
{
    tdc_object_begin_bare(object, out);
    tdc_text_addc(out, '{');
}

void tdc_object_end_bare(struct tdc_json_object *object)
{
    if (object->not_finite == 0)
        return;
    tdc_object_key(object, "not_finite");
    for (unsigned i = 0; i < object->not_finite; i++)
        tdc_text_addf(object->out, "%s\"%s\": \"%s\"", i == 0 ? "{" : ", ", object->others[i].name,
                      object->others[i].word);
    tdc_text_addc(object->out, '}');
}

void tdc_object_end(struct tdc_json_object *object)
{
    tdc_object_end_bare(object);
    tdc_text_addc(object->out, '}');
}

void tdc_object_key(struct tdc_json_object *object, const char *name)
{
    tdc_text_adds(object->out, object->begun ? ", \"" : "\"");
    tdc_text_adds(object->out, name);
    tdc_text_adds(object->out, "\": ");
    object->begun = true;
}

void tdc_object_null(struct tdc_json_object *object, const char *name)
{
    tdc_object_key(object, name);
    tdc_text_adds(object->out, "null");
}

void tdc_object_text(struct tdc_json_object *object, const char *name, const char *text)
{
    tdc_object_key(object, name);
    if (text != NULL)
        tdc_json_add_string(object->out, text, strlen(text));
    else
        tdc_text_adds(object->out, "null");
}

void tdc_object_truth(struct tdc_json_object *object, const char *name, bool value)
{
    tdc_object_key(object, name);
    tdc_text_adds(object->out, value ? "true" : "false");
}

void tdc_object_whole(struct tdc_json_object *object, const char *name, uint64_t number)
{
    tdc_object_key(object, name);
    tdc_text_addf(object->out, "%" PRIu64, number);
}

void tdc_object_number(struct tdc_json_object *object, const char *name, double number)
{
    if (isfinite(number)) {
        tdc_object_key(object, name);
        tdc_json_add_finite(object->out, number);
        return;
    }
    tdc_object_null(object, name);
    if (object->not_finite < TDC_OBJECT_NUMBERS) {
        object->others[object->not_finite].name = name;
        object->others[object->not_finite++].word = tdc_json_word(number);
    }
}
