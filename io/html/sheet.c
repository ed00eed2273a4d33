#include "io/html/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names and messages of some hundred thousand rows. */
#define TEXTS_LIMIT ((size_t)4 << 30)
#define FIRST_ROWS  1024

/* Above every NaN that arithmetic makes: sign, exponent, and the two highest bits of the rest. */
#define BOX ((uint64_t)0xfffc0000 << 32)

uint64_t tdc_html_box(uint32_t place)
{
    return BOX | place;
}

bool tdc_html_boxed(uint64_t bits, uint32_t *place)
{
    *place = (uint32_t)bits;
    return bits >> 32 == BOX >> 32;
}

static double box(uint32_t place)
{
    uint64_t bits = tdc_html_box(place);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

void tdc_html_sheet_init(struct tdc_html_sheet *sheet, const char *name)
{
    *sheet = (struct tdc_html_sheet){.name = name};
    tdc_arena_init(&sheet->arena, TEXTS_LIMIT);
    tdc_names_init(&sheet->texts);
}

void tdc_html_sheet_free(struct tdc_html_sheet *sheet)
{
    for (size_t i = 0; i < sheet->column_count; i++) {
        free(sheet->columns[i].texts);
        free(sheet->columns[i].numbers);
    }
    tdc_names_free(&sheet->texts);
    tdc_arena_free(&sheet->arena);
    *sheet = (struct tdc_html_sheet){.name = sheet->name};
}

/* ---- dictionary ------------------------------------------------------------------------------ */

/* The place of a text in a dictionary; TDC_NAME_NONE when out of memory. */
static uint32_t place_in(struct tdc_name_table *texts, struct tdc_arena *arena, const char *text,
                         size_t length)
{
    bool fresh;
    if (texts->count == 0 && tdc_names_put(texts, "", 0, &fresh) == TDC_NAME_NONE)
        return TDC_NAME_NONE;
    return length == 0 ? 0 : tdc_names_keep(texts, arena, text, length);
}

static bool is_recent(const struct tdc_html_recent *recent, const char *text, size_t length)
{
    return recent->text != NULL && recent->length == length &&
           memcmp(recent->text, text, length) == 0;
}

/* Where a text is looked for among the recent ones: by its length and its last letters. */
static size_t recent_slot(const char *text, size_t length)
{
    uint32_t letters = (unsigned char)text[0];
    if (length >= sizeof letters)
        memcpy(&letters, text + length - sizeof letters, sizeof letters);
    return (letters ^ (uint32_t)length) * 0x9e3779b1u >> 29 & (TDC_HTML_RECENT - 1);
}

static uint32_t place_of(struct tdc_html_sheet *sheet, struct tdc_html_column *column,
                         const char *text, size_t length)
{
    if (length == 0 && sheet->texts.count != 0)
        return 0;
    struct tdc_html_recent *recent = &column->recent[recent_slot(text, length)];
    if (is_recent(recent, text, length))
        return recent->place;
    if (!is_recent(&sheet->found, text, length)) {
        uint32_t place = place_in(&sheet->texts, &sheet->arena, text, length);
        if (place == TDC_NAME_NONE)
            return place;
        sheet->found = (struct tdc_html_recent){sheet->texts.keys[place].text, length, place};
    }
    *recent = sheet->found;
    return recent->place;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Room for so many rows in every column. */
static bool reserve(struct tdc_html_sheet *sheet, size_t capacity)
{
    for (size_t i = 0; i < sheet->column_count; i++) {
        struct tdc_html_column *column = &sheet->columns[i];
        void *held = column->numbers != NULL ? (void *)column->numbers : (void *)column->texts;
        size_t size = column->numbers != NULL ? sizeof(double) : sizeof(uint32_t);
        void *grown = capacity <= SIZE_MAX / size ? realloc(held, capacity * size) : NULL;
        if (grown == NULL)
            return false;
        if (column->numbers != NULL)
            column->numbers = grown;
        else
            column->texts = grown;
    }
    sheet->capacity = capacity;
    return true;
}

int tdc_html_sheet_column(struct tdc_html_sheet *sheet, const char *name)
{
    for (size_t i = 0; i < sheet->column_count; i++)
        if (strcmp(sheet->columns[i].name, name) == 0)
            return (int)i;
    if (sheet->column_count == TDC_HTML_MOST_COLUMNS)
        return -1;
    if (sheet->capacity == 0)
        sheet->capacity = FIRST_ROWS;
    struct tdc_html_column column = {.name = tdc_arena_text(&sheet->arena, name, strlen(name)),
                                     .texts = calloc(sheet->capacity, sizeof(uint32_t))};
    if (column.name == NULL || column.texts == NULL) {
        free(column.texts);
        return -1;
    }
    sheet->columns[sheet->column_count] = column;
    return (int)sheet->column_count++;
}

/* A column of texts becomes one of numbers. */
static bool widen(const struct tdc_html_sheet *sheet, struct tdc_html_column *column)
{
    double *numbers = malloc(sheet->capacity * sizeof *numbers);
    if (numbers == NULL)
        return false;
    for (size_t row = 0; row < sheet->rows; row++)
        numbers[row] = box(column->texts[row]);
    free(column->texts);
    column->texts = NULL;
    column->numbers = numbers;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A number whose digits are known and that a double does not hold stays the text it is. */
static bool keeps_text(const struct tdc_cell *cell)
{
    return cell->kind == TDC_CELL_TEXT || (cell->kind == TDC_CELL_NUMBER && cell->text != NULL &&
                                           isfinite(cell->number) && fabs(cell->number) >= 0x1p53);
}

static bool put_text(struct tdc_html_sheet *sheet, struct tdc_html_column *column, const char *text,
                     size_t length)
{
    uint32_t place = place_of(sheet, column, text, length);
    if (place == TDC_NAME_NONE)
        return false;
    if (column->numbers != NULL)
        column->numbers[sheet->rows] = box(place);
    else
        column->texts[sheet->rows] = place;
    return true;
}

static bool put_cell(struct tdc_html_sheet *sheet, struct tdc_html_column *column,
                     const struct tdc_cell *cell)
{
    if (keeps_text(cell))
        return put_text(sheet, column, cell->text, cell->length);
    if (cell->kind == TDC_CELL_BOOL)
        return put_text(sheet, column, cell->truth ? "True" : "False", cell->truth ? 4 : 5);
    if (cell->kind == TDC_CELL_NONE)
        return put_text(sheet, column, "", 0);
    if (column->numbers == NULL && !widen(sheet, column))
        return false;
    column->numbers[sheet->rows] = isnan(cell->number) ? NAN : cell->number;
    return true;
}

static void put_nothing(struct tdc_html_sheet *sheet)
{
    for (size_t i = 0; i < sheet->column_count; i++) {
        struct tdc_html_column *column = &sheet->columns[i];
        if (column->numbers != NULL)
            column->numbers[sheet->rows] = box(0);
        else
            column->texts[sheet->rows] = 0;
    }
}

bool tdc_html_sheet_reserve(struct tdc_html_sheet *sheet, size_t rows)
{
    size_t capacity = sheet->rows <= SIZE_MAX - rows ? sheet->rows + rows : SIZE_MAX;
    return capacity <= sheet->capacity || reserve(sheet, capacity);
}

bool tdc_html_sheet_row(struct tdc_html_sheet *sheet, const int *places,
                        const struct tdc_cell *cells, size_t count)
{
    if (sheet->rows >= sheet->capacity &&
        (sheet->capacity > SIZE_MAX / 2 ||
         !reserve(sheet, sheet->capacity != 0 ? 2 * sheet->capacity : FIRST_ROWS)))
        return false;
    if (count < sheet->column_count)
        put_nothing(sheet);
    for (size_t i = 0; i < count; i++)
        if (!put_cell(sheet, &sheet->columns[places[i]], &cells[i]))
            return false;
    sheet->rows++;
    return true;
}

/* ---- keeping some ---------------------------------------------------------------------------- */

/* New places of the texts that kept rows use, by old place; TDC_NAME_NONE: not used. */
struct renaming {
    struct tdc_arena arena;
    struct tdc_name_table texts;
    uint32_t *places;
};

static bool rename_text(const struct tdc_html_sheet *sheet, struct renaming *renaming,
                        uint32_t place)
{
    if (renaming->places[place] != TDC_NAME_NONE)
        return true;
    const struct tdc_name_key *key = &sheet->texts.keys[place];
    renaming->places[place] = place_in(&renaming->texts, &renaming->arena, key->text, key->length);
    return renaming->places[place] != TDC_NAME_NONE;
}

static bool cell_text(const struct tdc_html_column *column, size_t row, uint32_t *place)
{
    if (column->texts != NULL) {
        *place = column->texts[row];
        return true;
    }
    uint64_t bits;
    memcpy(&bits, &column->numbers[row], sizeof bits);
    return tdc_html_boxed(bits, place);
}

/* The new dictionary, in the order of rows as a new sheet would have it; and the columns' names. */
static bool collect(const struct tdc_html_sheet *sheet, const bool *flags,
                    struct renaming *renaming, const char **names)
{
    for (size_t i = 0; i < sheet->column_count; i++) {
        const char *name = sheet->columns[i].name;
        names[i] = tdc_arena_text(&renaming->arena, name, strlen(name));
        if (names[i] == NULL)
            return false;
    }
    if (!rename_text(sheet, renaming, 0))
        return false;
    for (size_t row = 0; row < sheet->rows; row++) {
        uint32_t place;
        for (size_t i = 0; flags[row] && i < sheet->column_count; i++)
            if (cell_text(&sheet->columns[i], row, &place) && !rename_text(sheet, renaming, place))
                return false;
    }
    return true;
}

static void move_rows(struct tdc_html_sheet *sheet, const bool *flags, const uint32_t *places)
{
    size_t kept = 0;
    for (size_t row = 0; row < sheet->rows; row++) {
        if (!flags[row])
            continue;
        for (size_t i = 0; i < sheet->column_count; i++) {
            struct tdc_html_column *column = &sheet->columns[i];
            uint32_t place;
            bool text = cell_text(column, row, &place);
            if (column->texts != NULL)
                column->texts[kept] = places[place];
            else
                column->numbers[kept] = text ? box(places[place]) : column->numbers[row];
        }
        kept++;
    }
    sheet->rows = kept;
}

bool tdc_html_sheet_keep(struct tdc_html_sheet *sheet, const bool *flags)
{
    if (sheet->texts.count == 0)
        return true; /* no row ever had a cell */
    struct renaming renaming = {.places = malloc(sheet->texts.count * sizeof(uint32_t))};
    const char *names[TDC_HTML_MOST_COLUMNS];
    tdc_arena_init(&renaming.arena, TEXTS_LIMIT);
    tdc_names_init(&renaming.texts);
    if (renaming.places != NULL)
        memset(renaming.places, 0xff, sheet->texts.count * sizeof(uint32_t));
    if (renaming.places == NULL || !collect(sheet, flags, &renaming, names)) {
        free(renaming.places);
        tdc_names_free(&renaming.texts);
        tdc_arena_free(&renaming.arena);
        return false;
    }
    move_rows(sheet, flags, renaming.places);
    free(renaming.places);
    tdc_names_free(&sheet->texts);
    tdc_arena_free(&sheet->arena);
    sheet->texts = renaming.texts;
    sheet->arena = renaming.arena;
    for (size_t i = 0; i < sheet->column_count; i++) {
        sheet->columns[i].name = names[i];
        memset(sheet->columns[i].recent, 0, sizeof sheet->columns[i].recent);
    }
    sheet->found = (struct tdc_html_recent){0};
    return true;
}
