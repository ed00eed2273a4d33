#include "io/table/xml_reader.h"

#include <string.h>

#define TAG_LIMIT   ((size_t)64 << 10)
#define DEPTH_LIMIT 1000u

void tdc_xml_start(struct tdc_xml *xml, tdc_xml_source *source, void *context)
{
    *xml = (struct tdc_xml){.source = source, .context = context};
    tdc_text_init(&xml->tag, TAG_LIMIT);
}

void tdc_xml_free(struct tdc_xml *xml)
{
    tdc_text_free(&xml->tag);
}

static enum tdc_xml_event wrong(struct tdc_xml *xml, const char *reason)
{
    if (xml->reason == NULL)
        xml->reason = reason;
    return TDC_XML_WRONG;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool refill(struct tdc_xml *xml)
{
    const unsigned char *bytes = NULL;
    size_t size = xml->source(xml->context, &bytes);
    if (size == 0)
        return false;
    xml->at = bytes;
    xml->end = bytes + size;
    return true;
}

/* The next byte, which stays; -1 at the end. */
static int peek(struct tdc_xml *xml)
{
    if (xml->at == xml->end && !refill(xml))
        return -1;
    return *xml->at;
}

static int take(struct tdc_xml *xml)
{
    int byte = peek(xml);
    if (byte >= 0)
        xml->at++;
    return byte;
}

static bool is_blank(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static void skip_blanks(struct tdc_xml *xml)
{
    while (is_blank(peek(xml)))
        xml->at++;
}

/* Up to and with the mark, which is at most 3 bytes long; content is appended when there is a text
 * for it. False at the end of the document. */
static bool pass(struct tdc_xml *xml, const char *mark, struct tdc_text *content)
{
    size_t length = strlen(mark);
    char last[3] = {0}; /* the bytes before, not yet known to be content */
    size_t held = 0;
    for (int byte; (byte = take(xml)) >= 0;) {
        if (held == length) {
            if (content != NULL)
                tdc_text_addc(content, last[0]);
            memmove(last, last + 1, --held);
        }
        last[held++] = (char)byte;
        if (held == length && memcmp(last, mark, length) == 0)
            return true;
    }
    return false;
}

/* ---- characters ------------------------------------------------------------------------------ */

static void add_character(struct tdc_text *text, unsigned long c)
{
    if (c < 0x80) {
        tdc_text_addc(text, (char)c);
        return;
    }
    char bytes[4];
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(unsigned char)(0x80 | (c & 0x3f));
    static const unsigned char leads[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(unsigned char)(leads[length] | c);
    tdc_text_add(text, bytes, length);
}

static bool add_numbered(struct tdc_text *text, const char *digits)
{
    unsigned base = *digits == 'x' ? 16 : 10;
    digits += base == 16;
    unsigned long c = 0;
    if (*digits == '\0')
        return false;
    for (; *digits != '\0'; digits++) {
        unsigned letter = (unsigned char)*digits | 0x20u;
        unsigned digit = *digits >= '0' && *digits <= '9' ? (unsigned)(*digits - '0')
                         : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                          : 16;
        if (digit >= base || c > 0x10ffff)
            return false;
        c = c * base + digit;
    }
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return false;
    add_character(text, c);
    return true;
}

/* Behind the '&'. */
static bool add_entity(struct tdc_xml *xml, struct tdc_text *text)
{
    static const struct {
        const char *name;
        char character;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    char name[10];
    size_t length = 0;
    int byte;
    while ((byte = take(xml)) >= 0 && byte != ';' && length < sizeof name - 1)
        name[length++] = (char)byte;
    name[length] = '\0';
    if (byte != ';')
        return false;
    if (name[0] == '#')
        return add_numbered(text, name + 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return tdc_text_addc(text, known[i].character);
    return false;
}

/* Characters up to a '<' or the end of the document. */
static bool take_text(struct tdc_xml *xml)
{
    for (int byte; (byte = peek(xml)) >= 0 && byte != '<';) {
        const unsigned char *run = xml->at;
        while (run < xml->end && *run != '<' && *run != '&')
            run++;
        if (xml->text != NULL)
            tdc_text_add(xml->text, (const char *)xml->at, (size_t)(run - xml->at));
        xml->at = run;
        if (run == xml->end || *run != '&')
            continue;
        xml->at++;
        struct tdc_text ignored;
        tdc_text_init(&ignored, 16);
        bool known = add_entity(xml, xml->text != NULL ? xml->text : &ignored);
        tdc_text_free(&ignored);
        if (!known)
            return false;
    }
    return true;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static bool ends_name(int byte)
{
    return byte < 0 || is_blank(byte) || byte == '=' || byte == '/' || byte == '>' || byte == '<';
}

/* Appends the name that comes, without its prefix, terminated; false when there is none. */
static bool take_name(struct tdc_xml *xml)
{
    size_t start = xml->tag.length;
    while (!ends_name(peek(xml)) && !xml->tag.failed) {
        tdc_text_addc(&xml->tag, (char)*xml->at);
        if (*xml->at == ':') /* what came so far was the prefix */
            xml->tag.length = start;
        xml->at++;
    }
    bool named = xml->tag.length > start;
    tdc_text_addc(&xml->tag, '\0');
    return named && !xml->tag.failed;
}

static bool take_value(struct tdc_xml *xml)
{
    skip_blanks(xml);
    if (take(xml) != '=')
        return false;
    skip_blanks(xml);
    int quote = take(xml);
    if (quote != '"' && quote != '\'')
        return false;
    for (int byte; (byte = take(xml)) != quote;) {
        if (byte < 0 || byte == '<' || (byte == '&' && !add_entity(xml, &xml->tag)))
            return false;
        if (byte != '&')
            tdc_text_addc(&xml->tag, (char)byte);
        if (xml->tag.failed)
            return false;
    }
    return tdc_text_addc(&xml->tag, '\0');
}

static enum tdc_xml_event open_tag(struct tdc_xml *xml)
{
    if (!take_name(xml))
        return wrong(xml, "a tag without a name");
    xml->attributes = xml->tag.length;
    for (;;) {
        skip_blanks(xml);
        int byte = peek(xml);
        if (byte == '/' || byte == '>')
            break;
        if (byte < 0 || !take_name(xml) || !take_value(xml))
            return wrong(xml, "wrong or too many attributes");
    }
    xml->closes = *xml->at == '/';
    xml->at += xml->closes;
    if (take(xml) != '>')
        return wrong(xml, "a tag without an end");
    if (++xml->depth > DEPTH_LIMIT)
        return wrong(xml, "nested too deep");
    xml->name = xml->tag.data;
    return TDC_XML_OPEN;
}

static enum tdc_xml_event close_tag(struct tdc_xml *xml)
{
    bool named = take_name(xml);
    skip_blanks(xml);
    if (!named || take(xml) != '>')
        return wrong(xml, "wrong end of a tag");
    if (xml->depth == 0)
        return wrong(xml, "more ends than beginnings");
    xml->depth--;
    xml->name = xml->tag.data;
    return TDC_XML_CLOSE;
}

/* Behind "<!": a comment or quoted characters; anything else is refused. */
static bool pass_declaration(struct tdc_xml *xml)
{
    static const char quoted[] = "[CDATA[";
    if (peek(xml) == '-') {
        xml->at++;
        return take(xml) == '-' && pass(xml, "-->", NULL);
    }
    for (size_t i = 0; quoted[i] != '\0'; i++)
        if (take(xml) != quoted[i])
            return false;
    return pass(xml, "]]>", xml->text);
}

enum tdc_xml_event tdc_xml_next(struct tdc_xml *xml)
{
    if (xml->reason != NULL)
        return TDC_XML_WRONG;
    if (xml->closes) {
        xml->closes = false;
        xml->depth--;
        return TDC_XML_CLOSE;
    }
    for (;;) {
        if (!take_text(xml))
            return wrong(xml, "unknown entity");
        if (xml->text != NULL && xml->text->failed)
            return wrong(xml, "a text is too long");
        if (take(xml) < 0)
            return xml->depth == 0 ? TDC_XML_END : wrong(xml, "it ends inside a tag");
        tdc_text_clear(&xml->tag);
        int byte = peek(xml);
        if (byte == '?') {
            if (!pass(xml, "?>", NULL))
                return wrong(xml, "it ends inside an instruction");
        } else if (byte == '!') {
            xml->at++;
            if (!pass_declaration(xml))
                return wrong(xml, "a document type or a declaration");
        } else if (byte == '/') {
            xml->at++;
            return close_tag(xml);
        } else {
            return open_tag(xml);
        }
    }
}

const char *tdc_xml_attribute(const struct tdc_xml *xml, const char *name)
{
    const char *at = xml->tag.data + xml->attributes, *end = xml->tag.data + xml->tag.length;
    while (at < end) {
        const char *value = at + strlen(at) + 1;
        if (strcmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}
