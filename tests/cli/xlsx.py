"""Reads an xlsx from its XML: the text, type and fill of every cell, and how the sheet is arranged."""
import re
import zipfile
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class Sheet:
    def __init__(self, name):
        self.name = name
        self.texts, self.types, self.fills = [], [], []  # rows of str
        self.frozen_rows = 0
        self.filter = None  # "A1:Z10"
        self.widths = {}  # column number -> width
        self.bold_header = False
        self.frozen_columns = 0
        self.folded = {}  # column number -> whether it is folded away


def column_number(reference):
    number = 0
    for letter in re.match(r"[A-Z]+", reference).group():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def string_text(node):
    text = "".join(part.text or "" for part in node.iter(MAIN + "t"))
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found.group(1), 16)), text)


class Workbook:
    def sheet(self, name):
        return next(sheet for sheet in self.sheets if sheet.name == name)

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        self.names = set(self.zip.namelist())
        self.strings = []
        if "xl/sharedStrings.xml" in self.names:
            self.strings = [string_text(item) for item in self.parse("xl/sharedStrings.xml").findall(MAIN + "si")]
        self.read_styles()
        book = self.parse("xl/workbook.xml")
        targets = {r.get("Id"): r.get("Target") for r in self.parse("xl/_rels/workbook.xml.rels")}
        self.sheets = []
        for entry in book.find(MAIN + "sheets"):
            target = targets[entry.get(RELATION)].lstrip("/")
            self.sheets.append(self.read_sheet(entry.get("name"),
                                               target if target.startswith("xl/") else "xl/" + target))

    def parse(self, name):
        return ElementTree.fromstring(self.zip.read(name))

    def read_styles(self):
        styles = self.parse("xl/styles.xml")
        fills = []
        for fill in styles.find(MAIN + "fills"):
            pattern = fill.find(MAIN + "patternFill")
            solid = pattern is not None and pattern.get("patternType") == "solid"
            colour = pattern.find(MAIN + "fgColor") if solid else None
            fills.append("" if colour is None else colour.get("rgb", ""))
        bold = [font.find(MAIN + "b") is not None for font in styles.find(MAIN + "fonts")]
        formats = styles.find(MAIN + "cellXfs")
        self.fill_of = [fills[int(f.get("fillId", "0"))] for f in formats]
        self.bold_of = [bold[int(f.get("fontId", "0"))] for f in formats]

    def cell(self, node):
        """Text and type: n number, s text, b boolean, f formula, e error, - nothing."""
        kind, value = node.get("t", "n"), node.find(MAIN + "v")
        text = "" if value is None else value.text or ""
        if node.find(MAIN + "f") is not None:
            return text, "f"
        if kind == "s":
            return self.strings[int(text)], "s"
        if kind == "inlineStr":
            return string_text(node), "s"
        if kind == "b":
            return ("True" if text == "1" else "False"), "b"
        if kind in ("str", "e"):
            return text, "f" if kind == "str" else "e"
        return text, "n" if text != "" else "-"

    def read_sheet(self, name, member):
        root, sheet = self.parse(member), Sheet(name)
        for row in root.find(MAIN + "sheetData"):
            texts, types, fills = [], [], []
            for node in row:
                at = column_number(node.get("r"))
                for cells, nothing in ((texts, ""), (types, "-"), (fills, "")):
                    cells.extend([nothing] * (at - len(cells)))
                text, kind = self.cell(node)
                style = int(node.get("s", "0"))
                texts.append(text)
                types.append(kind)
                fills.append(self.fill_of[style])
                if not sheet.texts:
                    sheet.bold_header = self.bold_of[style]
            sheet.texts.append(texts)
            sheet.types.append(types)
            sheet.fills.append(fills)
        pane = root.find("%ssheetViews/%ssheetView/%spane" % (MAIN, MAIN, MAIN))
        if pane is not None and pane.get("state") == "frozen":
            sheet.frozen_rows = int(float(pane.get("ySplit", "0")))
            sheet.frozen_columns = int(float(pane.get("xSplit", "0")))
        found = root.find(MAIN + "autoFilter")
        sheet.filter = None if found is None else found.get("ref")
        for column in root.iterfind("%scols/%scol" % (MAIN, MAIN)):
            for number in range(int(column.get("min")), int(column.get("max")) + 1):
                sheet.widths[number - 1] = float(column.get("width"))
                sheet.folded[number - 1] = column.get("hidden") == "1" and column.get("outlineLevel") == "1"
        width = max(map(len, sheet.texts), default=0)
        for rows, nothing in ((sheet.texts, ""), (sheet.types, "-"), (sheet.fills, "")):
            for row in rows:
                row.extend([nothing] * (width - len(row)))
        return sheet
