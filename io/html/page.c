#include "io/html/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/text.h"
#include "io/file/out_file.h"
#include "io/file/byte_writer.h"
#include "io/html/pack.h"
#include "io/html/parts.h"
#include "io/table/json_object.h"

#define FACTS_LIMIT ((size_t)1 << 30)

/* A page being written. Block 0 is of the facts, which name all others by their number. */
struct writing {
    const struct tdc_html_page *page;
    struct tdc_byte_writer writer;
    struct tdc_html_block *blocks;
    size_t block_count;
    struct tdc_text facts;
};

/* ---- facts ----------------------------------------------------------------------------------- */

static size_t count_blocks(const struct tdc_html_page *page)
{
    size_t count = 1;
    for (size_t i = 0; i < page->sheet_count; i++) {
        const struct tdc_html_sheet *sheet = page->sheets[i];
        count += sheet->column_count;
        for (uint32_t text = 0; text < sheet->texts.count; count++)
            text = tdc_html_texts_end(sheet, text);
    }
    return count;
}

/* The block of which a column of numbers is packed as the difference; the number of blocks when of
 * none. */
static size_t base_of(const struct writing *writing, const struct tdc_html_block *block,
                      size_t first_block)
{
    size_t i = first_block;
    bool numbers = block->column->numbers != NULL && !block->whole;
    for (; i < writing->block_count; i++) {
        const struct tdc_html_block *other = &writing->blocks[i];
        if (numbers && other->column->numbers != NULL && !other->whole && other->base == NULL &&
            tdc_html_alike(other->column, block->column, block->sheet->rows))
            break;
    }
    return i;
}

/* Of columns with the same content, as those of both sides often have it, the first is packed. */
static size_t block_of(struct writing *writing, const struct tdc_html_sheet *sheet, size_t index,
                       size_t first_block)
{
    const struct tdc_html_column *column = &sheet->columns[index];
    for (size_t i = first_block; i < writing->block_count; i++)
        if (tdc_html_same_column(writing->blocks[i].column, column, sheet->rows))
            return i;
    struct tdc_html_block block = {
        .sheet = sheet, .column = column, .whole = tdc_html_all_whole(column, sheet->rows)};
    size_t base = base_of(writing, &block, first_block);
    if (base != writing->block_count)
        block.base = writing->blocks[base].column;
    writing->blocks[writing->block_count] = block;
    return writing->block_count++;
}

/* The place in the facts of a column that another one is based on. */
static size_t index_of(const struct tdc_html_sheet *sheet, const struct tdc_html_column *column)
{
    return (size_t)(column - sheet->columns);
}

static void plan_columns(struct writing *writing, const struct tdc_html_sheet *sheet)
{
    size_t first_block = writing->block_count;
    for (size_t i = 0; i < sheet->column_count; i++) {
        const struct tdc_html_column *column = &sheet->columns[i];
        size_t number = block_of(writing, sheet, i, first_block);
        const struct tdc_html_block *block = &writing->blocks[number];
        tdc_text_adds(&writing->facts, i != 0 ? ",\n{\"name\": " : "{\"name\": ");
        tdc_json_add_string(&writing->facts, column->name, strlen(column->name));
        tdc_text_addf(&writing->facts, ", \"numbers\": %s, \"whole\": %s, \"block\": %zu",
                      column->numbers != NULL ? "true" : "false", block->whole ? "true" : "false",
                      number);
        if (block->base != NULL)
            tdc_text_addf(&writing->facts, ", \"base\": %zu", index_of(sheet, block->base));
        tdc_text_addc(&writing->facts, '}');
    }
}

static void plan_texts(struct writing *writing, const struct tdc_html_sheet *sheet)
{
    for (uint32_t first = 0; first < sheet->texts.count;) {
        uint32_t end = tdc_html_texts_end(sheet, first);
        tdc_text_addf(&writing->facts, "%s%zu", first != 0 ? ", " : "", writing->block_count);
        writing->blocks[writing->block_count++] =
            (struct tdc_html_block){.sheet = sheet, .first = first, .end = end};
        first = end;
    }
}

static bool plan(struct writing *writing)
{
    const struct tdc_html_page *page = writing->page;
    struct tdc_text *facts = &writing->facts;
    writing->blocks = calloc(count_blocks(page), sizeof *writing->blocks);
    if (writing->blocks == NULL)
        return false;
    writing->block_count = 1;
    tdc_text_addf(facts, "{%s%s\n\"sheets\": [", page->members,
                  page->members[0] != '\0' ? "," : "");
    for (size_t i = 0; i < page->sheet_count; i++) {
        const struct tdc_html_sheet *sheet = page->sheets[i];
        tdc_text_addf(facts, "%s\n{\"name\": \"%s\", \"rows\": %zu, \"columns\": [",
                      i != 0 ? "," : "", sheet->name, sheet->rows);
        plan_columns(writing, sheet);
        tdc_text_adds(facts, "], \"texts\": [");
        plan_texts(writing, sheet);
        tdc_text_adds(facts, "]}");
    }
    tdc_text_adds(facts, "]}\n");
    writing->blocks[0].text = tdc_text_get(facts);
    writing->blocks[0].length = facts->length;
    return !facts->failed;
}

/* ---- markup ---------------------------------------------------------------------------------- */

static const struct tdc_html_part *find_part(const char *name, size_t length)
{
    for (size_t i = 0; i < tdc_html_part_count; i++)
        if (strlen(tdc_html_parts[i].name) == length &&
            memcmp(tdc_html_parts[i].name, name, length) == 0)
            return &tdc_html_parts[i];
    return NULL;
}

static void put_text(struct tdc_byte_writer *writer, const char *text)
{
    tdc_put(writer, text, strlen(text));
}

static unsigned digit(char hex)
{
    return (unsigned)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

static void put_digest(struct tdc_byte_writer *writer, const char *sha256)
{
    unsigned char bytes[32];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(digit(sha256[2 * i]) << 4 | digit(sha256[2 * i + 1]));
    put_text(writer, " 'sha256-");
    char letters[TDC_HTML_BASE64(sizeof bytes)];
    tdc_put(writer, letters, tdc_html_base64(bytes, sizeof bytes, letters));
    tdc_putc(writer, '\'');
}

static void put_digests(struct tdc_byte_writer *writer, const char *ending)
{
    for (size_t i = 0; i < tdc_html_part_count; i++)
        if (tdc_ends_in(tdc_html_parts[i].name, ending))
            put_digest(writer, tdc_html_parts[i].sha256);
}

/* Nothing may be fetched or sent; scripts and styles are those that were built in. */
static void put_policy(struct tdc_byte_writer *writer)
{
    put_text(writer, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "base-uri 'none'; form-action 'none'; script-src");
    put_digests(writer, ".js");
    put_text(writer, "; style-src");
    put_digests(writer, ".css");
    put_text(writer, "\">\n");
}

static void put_blocks(struct writing *writing)
{
    struct tdc_byte_writer *writer = &writing->writer;
    for (size_t i = 0; i < writing->block_count; i++) {
        char head[80];
        snprintf(head, sizeof head, "<script type=\"application/octet-stream\" id=\"block%zu\">",
                 i);
        put_text(writer, head);
        tdc_put(writer, writing->blocks[i].letters, writing->blocks[i].size);
        put_text(writer, "</script>\n");
    }
}

/* The name between `before` and the next quote, if a line begins so. */
static const struct tdc_html_part *named_part(const char *line, size_t length, const char *before)
{
    size_t head = strlen(before);
    if (length < head || memcmp(line, before, head) != 0)
        return NULL;
    const char *quote = memchr(line + head, '"', length - head);
    return quote != NULL ? find_part(line + head, (size_t)(quote - line) - head) : NULL;
}

/* Lines that name another file are replaced by it, two by what the page is made of anew. */
static void put_line(struct writing *writing, const char *line, size_t length)
{
    static const char policy[] = "<!-- policy -->", data[] = "<!-- data -->";
    struct tdc_byte_writer *writer = &writing->writer;
    const struct tdc_html_part *style =
        named_part(line, length, "<link rel=\"stylesheet\" href=\"");
    const struct tdc_html_part *script = named_part(line, length, "<script src=\"");
    if (length == sizeof policy - 1 && memcmp(line, policy, length) == 0) {
        put_policy(writer);
    } else if (length == sizeof data - 1 && memcmp(line, data, length) == 0) {
        put_blocks(writing);
    } else if (style != NULL || script != NULL) {
        put_text(writer, style != NULL ? "<style>" : "<script>");
        put_text(writer, style != NULL ? style->text : script->text);
        put_text(writer, style != NULL ? "</style>\n" : "</script>\n");
    } else {
        tdc_put(writer, line, length);
        tdc_putc(writer, '\n');
    }
}

static void put_page(struct writing *writing)
{
    static const char name[] = "report.html";
    const struct tdc_html_part *frame = find_part(name, sizeof name - 1);
    for (const char *line = frame->text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        put_line(writing, line, length);
        line += length + (line[length] == '\n');
    }
}

/* ---- file ------------------------------------------------------------------------------------ */

static tdc_status write_file(struct writing *writing, struct tdc_error *error)
{
    const char *path = writing->page->path;
    struct tdc_out_file file = TDC_OUT_FILE_NONE;
    tdc_status status = tdc_out_file_open(path, &file, error);
    if (status == TDC_OK && !tdc_byte_writer_start(&writing->writer, file.fd))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (status == TDC_OK) {
        put_page(writing);
        if (!tdc_byte_writer_flush(&writing->writer))
            status = tdc_fail_errno(error, TDC_ERR_WRITE, writing->writer.failure,
                                    "%s: cannot be written", path);
    }
    if (status == TDC_OK)
        status = writing->page->exclusive ? tdc_out_file_commit_new(&file, error)
                                          : tdc_out_file_commit(&file, error);
    tdc_byte_writer_free(&writing->writer);
    tdc_out_file_discard(&file);
    return status;
}

tdc_status tdc_html_write(const struct tdc_html_page *page, struct tdc_error *error)
{
    struct writing writing = {.page = page};
    tdc_text_init(&writing.facts, FACTS_LIMIT);
    tdc_status status;
    if (plan(&writing) && tdc_html_pack(writing.blocks, writing.block_count, page->threads))
        status = write_file(&writing, error);
    else
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", page->path);
    tdc_html_blocks_free(writing.blocks, writing.block_count);
    free(writing.blocks);
    tdc_text_free(&writing.facts);
    return status;
}
