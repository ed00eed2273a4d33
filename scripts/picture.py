#!/usr/bin/env python3
"""Draws a part of a result table as a spreadsheet shows it.

    scripts/picture.py RESULT.xlsx docs/images/result.png [FIRST_ROW [LAST_ROW]]

Needs Pillow. Columns that are not in COLUMNS are left out; numbers, texts and colours are those of the file, numbers
with six digits.
"""
import re
import sys
import zipfile
from xml.etree import ElementTree

from PIL import Image, ImageDraw, ImageFont

COLUMNS = {"Verdict": 90, "Severity": 75, "NPU Name": 290, "Err_message": 520, "NPU Tensor Shape": 140, "Cosine": 90,
           "MaxAbsErr": 100, "MaxRelativeErr": 120, "Worst Abs At": 105, "Worst Abs NPU": 115, "Worst Abs Bench": 125}
LINE, TEXT, NUMBERS = 21, 14, 44
PLAIN, GRID, HEAD = "#ffffff", "#c8c8c8", "#ececec"
SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def fills(book):
    """Colour of each cell style, None where it has no fill."""
    root = ElementTree.fromstring(book.read("xl/styles.xml"))
    colours = []
    for fill in root.find(SPACE + "fills"):
        front = fill.find(SPACE + "patternFill/" + SPACE + "fgColor")
        colours.append(None if front is None or front.get("rgb") is None else "#" + front.get("rgb")[-6:])
    return [colours[int(style.get("fillId", 0))] for style in root.find(SPACE + "cellXfs")]


def shared_texts(book):
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    root = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
    return ["".join(part.text or "" for part in item.iter(SPACE + "t")) for item in root]


def rows(path):
    """{row number: {column letters: (text, whether it is a number, colour)}}"""
    with zipfile.ZipFile(path) as book:
        styles, texts, found = fills(book), shared_texts(book), {}
        for row in ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(SPACE + "row"):
            cells = found.setdefault(int(row.get("r")), {})
            for cell in row:
                kind, value = cell.get("t", "n"), cell.findtext(SPACE + "v")
                if kind == "inlineStr":
                    text = "".join(part.text or "" for part in cell.iter(SPACE + "t"))
                else:
                    text = texts[int(value)] if kind == "s" else value or ""
                letters = re.match("[A-Z]+", cell.get("r")).group(0)
                cells[letters] = (text, kind == "n" and text != "", styles[int(cell.get("s", 0))])
    return found


def draw_cell(draw, font, box, text, number=False, colour=None):
    left, top, right, _ = box
    draw.rectangle(box, fill=colour or PLAIN, outline=GRID)
    if number:
        text = "%.6g" % float(text)
    text = " ".join(text.split("\n"))
    while text and draw.textlength(text, font=font) > right - left - 8:
        text = text[:-1]
    at = right - 4 - draw.textlength(text, font=font) if number else left + 4
    draw.text((at, top + 2), text, fill="black", font=font)


def main():
    source, target = sys.argv[1:3]
    first, last = (int(sys.argv[i]) if len(sys.argv) > i else other for i, other in ((3, 2), (4, 25)))
    table = rows(source)
    shown = [(letters, text) for letters, (text, _, _) in table[1].items() if text in COLUMNS]
    lines = [1] + [row for row in sorted(table) if first <= row <= last]
    font = ImageFont.load_default(size=TEXT)
    width = NUMBERS + sum(COLUMNS[name] for _, name in shown) + 1
    picture = Image.new("RGB", (width, LINE * (len(lines) + 1) + 1), PLAIN)
    draw = ImageDraw.Draw(picture)
    for line, row in enumerate([None] + lines):
        top, left = line * LINE, NUMBERS
        draw_cell(draw, font, (0, top, left, top + LINE), str(row or ""), colour=HEAD)
        for letters, name in shown:
            box = (left, top, left + COLUMNS[name], top + LINE)
            if row is None:
                draw_cell(draw, font, box, letters, colour=HEAD)
            else:
                draw_cell(draw, font, box, *table[row].get(letters, ("", False, None)))
            left = box[2]
    picture.quantize(64).save(target, optimize=True)


if __name__ == "__main__":
    main()
