"""Reads the HTML page of a report without a browser: the packed blocks, and what the markup promises."""
import base64
import hashlib
import html.parser
import json
import math
import re
import struct
import zlib

BOX = 0xFFFC0000  # upper half of a cell that is a text in a column of numbers


class Markup(html.parser.HTMLParser):
    """The elements of a page; the text of scripts and styles is theirs."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.elements, self.held = [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", **dict(attrs)}
        self.elements.append(element)
        self.held = element if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self.held = None

    def handle_data(self, data):
        if self.held is not None:
            self.held["text"] += data

    def of(self, tag):
        return [element for element in self.elements if element["tag"] == tag]


class Sheet:
    def __init__(self, facts, unpack):
        self.rows, self.names = facts["rows"], [column["name"] for column in facts["columns"]]
        self.texts = [text for block in facts["texts"] for text in json.loads(unpack(block))]
        self.columns = {column["name"]: self.cells(unpack(column["block"]), column["numbers"])
                        for column in facts["columns"]}

    def cells(self, planes, numbers):
        rows, above, cells = self.rows, 0, []
        for row in range(rows):
            word = planes[row::rows] if rows else b""
            if not numbers:
                above = (above + struct.unpack("<I", word)[0]) & 0xFFFFFFFF
                cells.append(self.texts[above])
                continue
            low, high = struct.unpack("<II", word)
            cells.append(self.texts[low] if high == BOX else struct.unpack("<d", word)[0])
        return cells

    def row(self, number):
        return {name: self.columns[name][number] for name in self.names}


class Page:
    def __init__(self, data):
        self.text = data.decode()
        self.markup = Markup(self.text)
        self.blocks = {element["id"]: element["text"] for element in self.markup.of("script")
                       if element.get("type") == "application/octet-stream"}
        self.facts = json.loads(self.unpack(0))
        self.sheets = {sheet["name"]: Sheet(sheet, self.unpack) for sheet in self.facts["sheets"]}
        self.rows = self.sheets["rows"]

    def unpack(self, number):
        return zlib.decompress(base64.b64decode(self.blocks["block%d" % number], validate=True))

    def policy(self):
        """The directives of the page's policy."""
        content = next(element["content"] for element in self.markup.of("meta")
                       if element.get("http-equiv") == "Content-Security-Policy")
        return {words[0]: words[1:] for words in (part.split() for part in content.split(";"))}

    def digests(self, tag):
        """What the policy must list for the scripts or styles that are run."""
        return ["'sha256-%s'" % base64.b64encode(hashlib.sha256(element["text"].encode()).digest()).decode()
                for element in self.markup.of(tag) if "type" not in element]

    def lasting(self):
        """Everything that two runs over the same dumps have in common, as bytes."""
        facts = {name: value for name, value in self.facts.items()
                 if name not in ("time", "seconds", "command", "sheets")}
        for source in facts["sources"] + facts["prechecks"]:
            source["csv"] = None
        rows = {name: [sheet.row(number) for number in range(sheet.rows)] for name, sheet in self.sheets.items()}
        return json.dumps([facts, rows], sort_keys=True).encode()


def same_number(shown, cell):
    """A cell of a csv file against one of the page."""
    if isinstance(cell, str):
        return shown == cell or shown.lstrip("'") == cell
    try:
        number = float(re.sub(r"\s", "", shown))
    except ValueError:
        return False
    return number == cell or (math.isnan(number) and math.isnan(cell)) or math.isclose(number, cell, rel_tol=1e-15)
