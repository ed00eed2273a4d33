#include "host/dump/python_value.h"

#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include "io/base/utf8_step.h"
#include "io/text/pytext.h"

bool tdc_json_truthy(const struct tdc_json *value)
{
    if (value == NULL)
        return false;
    switch (value->kind) {
    case TDC_JSON_NULL:
    case TDC_JSON_FALSE:
        return false;
    case TDC_JSON_TRUE:
        return true;
    case TDC_JSON_INTEGER:
    case TDC_JSON_FLOAT:
        return value->number != 0;
    case TDC_JSON_STRING:
        return value->length != 0;
    case TDC_JSON_LIST:
    case TDC_JSON_OBJECT:
        return value->children != 0;
    }
    return false;
}

const char *tdc_python_class(const struct tdc_json *value)
{
    if (value == NULL)
        return "<class 'NoneType'>";
    switch (value->kind) {
    case TDC_JSON_NULL:
        return "<class 'NoneType'>";
    case TDC_JSON_FALSE:
    case TDC_JSON_TRUE:
        return "<class 'bool'>";
    case TDC_JSON_INTEGER:
        return "<class 'int'>";
    case TDC_JSON_FLOAT:
        return "<class 'float'>";
    case TDC_JSON_STRING:
        return "<class 'str'>";
    case TDC_JSON_LIST:
        return "<class 'list'>";
    case TDC_JSON_OBJECT:
        return "<class 'dict'>";
    }
    return "";
}

/* zlib.crc32 of the text in UTF-8, in which a NUL is one byte. */
static uLong python_crc32(const char *text)
{
    uLong sum = crc32_z(0, NULL, 0);
    for (const char *nul; (nul = strstr(text, TDC_UTF8_NUL)) != NULL; text = nul + 2) {
        sum = crc32_z(sum, (const Bytef *)text, (size_t)(nul - text));
        sum = crc32_z(sum, (const Bytef *)"", 1);
    }
    return crc32_z(sum, (const Bytef *)text, strlen(text));
}

bool tdc_value_digest(struct tdc_text *scratch, const struct tdc_json *value,
                      char digits[TDC_VALUE_DIGEST])
{
    tdc_text_clear(scratch);
    if (value != NULL)
        tdc_pytext_str(scratch, value);
    snprintf(digits, TDC_VALUE_DIGEST, "%08lx",
             (unsigned long)python_crc32(tdc_text_get(scratch)) & 0xffffffffu);
    return !scratch->failed;
}
