#!/usr/bin/env python3
"""Draws the upper left part of a result table as a spreadsheet program shows it.

    scripts/picture.py RESULT.xlsx docs/images/result.png [FIRST_ROW [LAST_ROW]]

Needs libreoffice (calc), pdftoppm and ImageMagick. Columns that are not in COLUMNS are hidden, nothing else is
changed: numbers, texts and colours are those of the file.
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile

COLUMNS = {"NPU Name": 42, "NPU Tensor Shape": 19, "Cosine": 14, "MaxAbsErr": 14,
           "One Thousandth Err Ratio": 26, "Worst Abs At": 14, "Accuracy Reached or Not": 26,
           "Err_message": 62}


def header(sheet, strings):
    first = re.search(r'<row r="1".*?</row>', sheet, re.S).group(0)
    names = []
    for cell in re.findall(r"<c .*?</c>", first, re.S):
        shared = re.search(r't="s".*?<v>(\d+)</v>', cell)
        names.append(strings[int(shared.group(1))] if shared
                     else re.search(r"<t[^>]*>(.*?)</t>", cell).group(1))
    return names


def shown(sheet, names, first_row, last_row):
    columns = "".join(
        f'<col min="{i}" max="{i}" width="{COLUMNS.get(name, 10)}" customWidth="1"'
        f'{"" if name in COLUMNS else " hidden=" + chr(34) + "1" + chr(34)}/>'
        for i, name in enumerate(names, 1))
    sheet = re.sub(r"<cols>.*?</cols>", f"<cols>{columns}</cols>", sheet, flags=re.S)
    sheet = re.sub(r"<autoFilter.*?/>", "", sheet)
    sheet = re.sub(r'<row r="(\d+)".*?(?:/>|</row>)', lambda row: row.group(0)
                   if int(row.group(1)) == 1 or first_row <= int(row.group(1)) <= last_row
                   else f'<row r="{row.group(1)}" hidden="1"/>', sheet, flags=re.S)
    sheet = re.sub(r"(<worksheet[^>]*>)(<sheetPr.*?</sheetPr>|<sheetPr[^>]*/>)?",
                   r'\1<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>', sheet, count=1, flags=re.S)
    page = ('<printOptions headings="1" gridLines="1"/>'
            '<pageMargins left="0.1" right="0.1" top="0.1" bottom="0.1" header="0" footer="0"/>'
            '<pageSetup paperSize="8" orientation="landscape" fitToWidth="1" fitToHeight="0"/>')
    return re.sub(r"<pageMargins[^>]*/>(<pageSetup[^>]*/>)?", page, sheet)


def main():
    source, target = sys.argv[1:3]
    first_row, last_row = (int(sys.argv[3]) if len(sys.argv) > 3 else 2,
                           int(sys.argv[4]) if len(sys.argv) > 4 else 40)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.xlsx")
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(copy, "w") as new:
            strings = []
            if "xl/sharedStrings.xml" in old.namelist():
                table = old.read("xl/sharedStrings.xml").decode()
                strings = [re.sub(r"<[^>]*>", "", item)
                           for item in re.findall(r"<si>(.*?)</si>", table, re.S)]
            for name in old.namelist():
                data = old.read(name)
                if name == "xl/worksheets/sheet1.xml":
                    sheet = data.decode()
                    data = shown(sheet, header(sheet, strings), first_row, last_row).encode()
                if name == "xl/workbook.xml":
                    # the filter's name would point at a filter that is gone
                    data = re.sub(rb"<definedNames>.*?</definedNames>", b"", data, flags=re.S)
                new.writestr(name, data)
        subprocess.run(["soffice", "--headless", "--convert-to", "pdf", "--outdir", folder, copy],
                       check=True, capture_output=True)
        subprocess.run(["pdftoppm", "-png", "-r", "110", "-f", "1", "-l", "1", "-singlefile",
                        os.path.join(folder, "copy.pdf"), os.path.join(folder, "page")], check=True)
        subprocess.run(["convert", os.path.join(folder, "page.png"), "-trim", "-bordercolor", "white",
                        "-border", "6", "-colors", "64", "-strip", f"PNG8:{target}"], check=True)


if __name__ == "__main__":
    main()
