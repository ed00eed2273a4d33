#include "io/table/xlsx_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define XML_HEAD       "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define SHEETS_SPACE   "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define PACKAGE_SPACE  "http://schemas.openxmlformats.org/package/2006/"
#define RELATION_SPACE "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define SHEETS_TYPE    "application/vnd.openxmlformats-officedocument.spreadsheetml."

/* Pieces of markup with numbers and short names; longer ones than the room do not occur. */
static void __attribute__((format(printf, 2, 3)))
put(const struct tdc_xlsx_book *book, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        tdc_put(book->xml, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static int end_part(struct tdc_xlsx_book *book)
{
    if (!tdc_byte_writer_flush(book->xml))
        return book->xml->failure;
    return book->xml->failure = tdc_zip_end(&book->zip);
}

/* ---- package --------------------------------------------------------------------------------- */

static int put_types(struct tdc_xlsx_book *book)
{
    tdc_zip_begin(&book->zip, "[Content_Types].xml");
    TDC_PUT_LITERAL(
        book->xml, XML_HEAD
        "<Types xmlns=\"" PACKAGE_SPACE "content-types\">"
        "<Default Extension=\"rels\" ContentType=\"application/"
        "vnd.openxmlformats-package.relationships+xml\"/>"
        "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
        "<Override PartName=\"/xl/workbook.xml\" ContentType=\"" SHEETS_TYPE "sheet.main+xml\"/>"
        "<Override PartName=\"/xl/styles.xml\" ContentType=\"" SHEETS_TYPE "styles+xml\"/>");
    for (size_t i = 0; i < book->sheet_count + book->page_count; i++)
        put(book,
            "<Override PartName=\"/xl/worksheets/sheet%zu.xml\" ContentType=\"" SHEETS_TYPE
            "worksheet+xml\"/>",
            i + 1);
    TDC_PUT_LITERAL(book->xml, "</Types>\n");
    return end_part(book);
}

static int put_package_relations(struct tdc_xlsx_book *book)
{
    tdc_zip_begin(&book->zip, "_rels/.rels");
    TDC_PUT_LITERAL(book->xml,
                    XML_HEAD "<Relationships xmlns=\"" PACKAGE_SPACE "relationships\">"
                             "<Relationship Id=\"rId1\" Type=\"" RELATION_SPACE
                             "/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>\n");
    return end_part(book);
}

static int put_book_relations(struct tdc_xlsx_book *book)
{
    tdc_zip_begin(&book->zip, "xl/_rels/workbook.xml.rels");
    TDC_PUT_LITERAL(book->xml, XML_HEAD "<Relationships xmlns=\"" PACKAGE_SPACE "relationships\">");
    for (size_t i = 0; i < book->sheet_count + book->page_count; i++)
        put(book,
            "<Relationship Id=\"rId%zu\" Type=\"" RELATION_SPACE
            "/worksheet\" Target=\"worksheets/sheet%zu.xml\"/>",
            i + 1, i + 1);
    put(book,
        "<Relationship Id=\"rId%zu\" Type=\"" RELATION_SPACE
        "/styles\" Target=\"styles.xml\"/></Relationships>\n",
        book->sheet_count + book->page_count + 1);
    return end_part(book);
}

/* ---- workbook -------------------------------------------------------------------------------- */

static void put_sheet_name(const struct tdc_xlsx_book *book, size_t sheet)
{
    if (book->sheets != NULL)
        put(book, "%s", book->sheets[sheet].name);
    else if (book->sheet != NULL)
        put(book, "%s", book->sheet);
    else
        put(book, "part_%zu", sheet);
}

size_t tdc_xlsx_sheet_rows(const struct tdc_xlsx_book *book, size_t sheet)
{
    if (book->sheets != NULL)
        return book->sheets[sheet].rows;
    size_t before = sheet * book->rows_a_sheet;
    size_t left = before < book->rows ? book->rows - before : 0;
    return left < book->rows_a_sheet ? left : book->rows_a_sheet;
}

/* "$A$1:$C$8" with dollars, "A1:C8" without. */
static void put_range(const struct tdc_xlsx_book *book, size_t sheet, const char *dollar)
{
    size_t columns = book->sheets != NULL ? book->sheets[sheet].column_count : book->column_count;
    const struct tdc_xlsx_column *last = &book->columns[columns - 1];
    put(book, "%sA%s1:%s%.*s%s%zu", dollar, dollar, dollar, (int)last->length, last->letters,
        dollar, tdc_xlsx_sheet_rows(book, sheet) + 1);
}

/* Spreadsheets keep the range of a filter under a hidden name too. */
static void put_filter_names(const struct tdc_xlsx_book *book)
{
    TDC_PUT_LITERAL(book->xml, "<definedNames>");
    for (size_t i = 0; i < book->sheet_count; i++) {
        put(book, "<definedName name=\"_xlnm._FilterDatabase\" localSheetId=\"%zu\" hidden=\"1\">",
            i + (book->page_count != 0));
        put_sheet_name(book, i);
        TDC_PUT_LITERAL(book->xml, "!");
        put_range(book, i, "$");
        TDC_PUT_LITERAL(book->xml, "</definedName>");
    }
    TDC_PUT_LITERAL(book->xml, "</definedNames>");
}

/* Their files are behind those of the table's sheets. */
static void put_pages(const struct tdc_xlsx_book *book, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        put(book, "<sheet name=\"%s\" sheetId=\"%zu\" r:id=\"rId%zu\"/>", book->pages[i].name,
            book->sheet_count + i + 1, book->sheet_count + i + 1);
}

static int put_workbook(struct tdc_xlsx_book *book)
{
    tdc_zip_begin(&book->zip, "xl/workbook.xml");
    TDC_PUT_LITERAL(book->xml,
                    XML_HEAD "<workbook xmlns=\"" SHEETS_SPACE "\" xmlns:r=\"" RELATION_SPACE "\">"
                             "<bookViews><workbookView/></bookViews><sheets>");
    put_pages(book, 0, book->page_count != 0);
    for (size_t i = 0; i < book->sheet_count; i++) {
        TDC_PUT_LITERAL(book->xml, "<sheet name=\"");
        put_sheet_name(book, i);
        put(book, "\" sheetId=\"%zu\" r:id=\"rId%zu\"/>", i + 1, i + 1);
    }
    put_pages(book, 1, book->page_count);
    TDC_PUT_LITERAL(book->xml, "</sheets>");
    if (book->widths != NULL)
        put_filter_names(book);
    TDC_PUT_LITERAL(book->xml, "</workbook>\n");
    return end_part(book);
}

/* ---- styles ---------------------------------------------------------------------------------- */

#define FONT     "<sz val=\"11\"/><name val=\"Calibri\"/><family val=\"2\"/></font>"
#define THIN     " style=\"thin\"><color auto=\"1\"/>"
#define NO_STYLE "numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\""

#define SOLID "<fill><patternFill patternType=\"solid\"><fgColor rgb=\""

/* The original tool stores its yellow with an alpha of 0. Everything shows both alike, but tables
 * are compared by these texts. Polished books are pale. */
static void put_fills(const struct tdc_xlsx_book *book)
{
    const char *yellow = book->argb_yellow ? "00FFFF00" : "FFFFFF00", *red = "FFFF0000";
    if (book->widths != NULL) {
        yellow = "FFFFF2CC";
        red = "FFF8CBAD";
    }
    TDC_PUT_LITERAL(book->xml, "<fills count=\"4\">"
                               "<fill><patternFill patternType=\"none\"/></fill>"
                               "<fill><patternFill patternType=\"gray125\"/></fill>");
    put(book, SOLID "%s\"/><bgColor indexed=\"64\"/></patternFill></fill>", yellow);
    put(book, SOLID "%s\"/><bgColor indexed=\"64\"/></patternFill></fill></fills>", red);
}

/* Number formats of the looks; 164 and above are those of the book. */
static const struct look {
    int id;
    const char *code; /* NULL: one that every spreadsheet has */
} looks[TDC_LOOKS] = {
    [TDC_LOOK_GENERAL] = {0, NULL},  [TDC_LOOK_COSINE] = {164, "0.000000"},
    [TDC_LOOK_ERROR] = {11, NULL},   [TDC_LOOK_VALUE] = {165, "0.0000E+00"},
    [TDC_LOOK_PERCENT] = {10, NULL}, [TDC_LOOK_COUNT] = {3, NULL},
};

static void put_formats(const struct tdc_xlsx_book *book)
{
    TDC_PUT_LITERAL(book->xml, "<numFmts count=\"2\">");
    for (int i = 0; i < TDC_LOOKS; i++)
        if (looks[i].code != NULL)
            put(book, "<numFmt numFmtId=\"%d\" formatCode=\"%s\"/>", looks[i].id, looks[i].code);
    TDC_PUT_LITERAL(book->xml, "</numFmts>");
}

/* TDC_XLSX_BOLD and what follows it. */
static void put_looks(const struct tdc_xlsx_book *book)
{
    TDC_PUT_LITERAL(book->xml, "<xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" "
                               "xfId=\"0\" applyFont=\"1\"/>");
    for (int i = 0; i < TDC_LOOKS; i++)
        for (int colour = TDC_COLOUR_NONE; colour <= TDC_COLOUR_RED; colour++)
            put(book,
                "<xf numFmtId=\"%d\" fontId=\"0\" fillId=\"%d\" borderId=\"0\" xfId=\"0\" "
                "applyNumberFormat=\"1\" applyFill=\"1\"/>",
                looks[i].id, colour == TDC_COLOUR_NONE ? 0 : colour + 1);
}

static int put_styles(struct tdc_xlsx_book *book)
{
    bool polished = book->widths != NULL;
    tdc_zip_begin(&book->zip, "xl/styles.xml");
    TDC_PUT_LITERAL(book->xml, XML_HEAD "<styleSheet xmlns=\"" SHEETS_SPACE "\">");
    if (polished)
        put_formats(book);
    TDC_PUT_LITERAL(book->xml, "<fonts count=\"2\"><font>" FONT "<font><b/>" FONT "</fonts>");
    put_fills(book);
    TDC_PUT_LITERAL(
        book->xml, "<borders count=\"2\"><border><left/><right/><top/><bottom/><diagonal/></border>"
                   "<border><left" THIN "</left><right" THIN "</right><top" THIN
                   "</top><bottom" THIN "</bottom><diagonal/></border></borders>"
                   "<cellStyleXfs count=\"1\"><xf " NO_STYLE "/></cellStyleXfs>");
    put(book, "<cellXfs count=\"%d\">", polished ? TDC_XLSX_LOOKS + 3 * TDC_LOOKS : TDC_XLSX_BOLD);
    TDC_PUT_LITERAL(
        book->xml,
        "<xf " NO_STYLE " xfId=\"0\"/>"
        "<xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"1\" xfId=\"0\" applyFont=\"1\" "
        "applyBorder=\"1\" applyAlignment=\"1\">"
        "<alignment horizontal=\"center\" vertical=\"top\"/></xf>"
        "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"2\" borderId=\"0\" xfId=\"0\" "
        "applyFill=\"1\"/>"
        "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"3\" borderId=\"0\" xfId=\"0\" "
        "applyFill=\"1\"/>");
    if (polished)
        put_looks(book);
    TDC_PUT_LITERAL(
        book->xml,
        "</cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/>"
        "</cellStyles></styleSheet>\n");
    return end_part(book);
}

int tdc_xlsx_put_parts(struct tdc_xlsx_book *book)
{
    int failure = put_types(book);
    if (failure == 0)
        failure = put_package_relations(book);
    if (failure == 0)
        failure = put_workbook(book);
    if (failure == 0)
        failure = put_book_relations(book);
    return failure == 0 ? put_styles(book) : failure;
}

/* ---- sheets ---------------------------------------------------------------------------------- */

/* A width in characters as files hold it: with the padding of 5 pixels at 7 pixels a character, in
 * 256ths. */
static double stored_width(double characters)
{
    return floor((characters * 7 + 5) / 7 * 256) / 256;
}

/* Columns that are folded away form one level; the sign to unfold them is left of each group. */
static void put_columns(const struct tdc_xlsx_book *book)
{
    TDC_PUT_LITERAL(book->xml, "<cols>");
    for (size_t i = 0; i < book->column_count; i++) {
        const char *fold = "";
        if (book->folded != NULL && book->folded[i])
            fold = " hidden=\"1\" outlineLevel=\"1\"";
        else if (book->folded != NULL && i + 1 < book->column_count && book->folded[i + 1])
            fold = " collapsed=\"1\"";
        put(book, "<col min=\"%zu\" max=\"%zu\" width=\"%.10g\" customWidth=\"1\"%s/>", i + 1,
            i + 1, stored_width(book->widths[i]), fold);
    }
    TDC_PUT_LITERAL(book->xml, "</cols>");
}

static void put_pane(const struct tdc_xlsx_book *book, size_t columns)
{
    if (columns == 0) {
        TDC_PUT_LITERAL(book->xml,
                        "><pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\""
                        " state=\"frozen\"/><selection pane=\"bottomLeft\"/>"
                        "</sheetView>");
        return;
    }
    const struct tdc_xlsx_column *first = &book->columns[columns];
    put(book,
        "><pane xSplit=\"%zu\" ySplit=\"1\" topLeftCell=\"%.*s2\" activePane=\"bottomRight\""
        " state=\"frozen\"/><selection pane=\"topRight\"/><selection pane=\"bottomLeft\"/>"
        "<selection pane=\"bottomRight\"/></sheetView>",
        columns, (int)first->length, first->letters);
}

static void begin_member(struct tdc_xlsx_book *book, size_t number)
{
    char name[TDC_ZIP_NAME];
    snprintf(name, sizeof name, "xl/worksheets/sheet%zu.xml", number);
    tdc_zip_begin(&book->zip, name);
    TDC_PUT_LITERAL(book->xml, XML_HEAD "<worksheet xmlns=\"" SHEETS_SPACE "\">");
}

void tdc_xlsx_begin_sheet(struct tdc_xlsx_book *book, size_t sheet)
{
    begin_member(book, sheet + 1);
    if (book->folded != NULL)
        TDC_PUT_LITERAL(book->xml, "<sheetPr><outlinePr summaryRight=\"0\"/></sheetPr>");
    TDC_PUT_LITERAL(book->xml, "<dimension ref=\"");
    put_range(book, sheet, "");
    put(book, "\"/><sheetViews><sheetView%s workbookViewId=\"0\"",
        sheet == 0 && book->page_count == 0 ? " tabSelected=\"1\"" : "");
    if (book->widths != NULL)
        put_pane(book, book->frozen_columns);
    else
        TDC_PUT_LITERAL(book->xml, "/>");
    put(book, "</sheetViews><sheetFormatPr defaultRowHeight=\"15\"%s/>",
        book->folded != NULL ? " outlineLevelCol=\"1\"" : "");
    if (book->widths != NULL)
        put_columns(book);
    TDC_PUT_LITERAL(book->xml, "<sheetData>");
}

void tdc_xlsx_begin_page(struct tdc_xlsx_book *book, size_t page)
{
    const struct tdc_sink_page *made = &book->pages[page];
    begin_member(book, book->sheet_count + page + 1);
    put(book, "<sheetViews><sheetView%s showGridLines=\"0\" workbookViewId=\"0\"",
        page == 0 ? " tabSelected=\"1\"" : "");
    if (made->frozen_header)
        put_pane(book, 0);
    else
        TDC_PUT_LITERAL(book->xml, "/>");
    TDC_PUT_LITERAL(book->xml, "</sheetViews><sheetFormatPr defaultRowHeight=\"15\"/><cols>");
    for (size_t i = 0; i < TDC_PAGE_COLUMNS; i++)
        put(book, "<col min=\"%zu\" max=\"%zu\" width=\"%.10g\" customWidth=\"1\"/>", i + 1, i + 1,
            stored_width(made->widths[i] > 0 ? made->widths[i] : 12));
    TDC_PUT_LITERAL(book->xml, "</cols><sheetData>");
}

int tdc_xlsx_end_page(struct tdc_xlsx_book *book)
{
    TDC_PUT_LITERAL(book->xml, "</sheetData></worksheet>\n");
    return end_part(book);
}

int tdc_xlsx_end_sheet(struct tdc_xlsx_book *book, size_t sheet)
{
    TDC_PUT_LITERAL(book->xml, "</sheetData>");
    if (book->widths != NULL) {
        TDC_PUT_LITERAL(book->xml, "<autoFilter ref=\"");
        put_range(book, sheet, "");
        TDC_PUT_LITERAL(book->xml, "\"/>");
    }
    TDC_PUT_LITERAL(book->xml, "</worksheet>\n");
    return end_part(book);
}
