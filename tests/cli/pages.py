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
        self.texts = []
        for block in facts["texts"]:
            text, parts = "", json.loads(unpack(block))
            for shared, rest in zip(parts[::2], parts[1::2]):
                text = text[:shared] + rest
                self.texts.append(text)
        self.facts, self.unpack = facts["columns"], unpack
        self.columns = {column["name"]: self.cells(column) for column in facts["columns"]}

    def cells(self, column):
        words, above, cells = self.words(column), 0, []
        if "base" in column:
            base = self.words(self.facts[column["base"]])
            words = [bytes(x ^ y for x, y in zip(word, other)) for word, other in zip(words, base)]
        for word in words:
            if len(word) == 4:
                step, = struct.unpack("<I", word)
                above = (above + (step >> 1 ^ -(step & 1))) & 0xFFFFFFFF
                cells.append(float(above) if column["whole"] else self.texts[above])
                continue
            low, high = struct.unpack("<II", word)
            cells.append(self.texts[low] if high == BOX else struct.unpack("<d", word)[0])
        return cells

    def words(self, column):
        """See io/html/pack.h."""
        packed = self.unpack(column["block"])
        width = 8 if column["numbers"] and not column["whole"] else 4
        usual, at, others = None, 1 + width, self.rows
        is_usual = [0] * self.rows
        if width == 8:
            at += 1
            if packed[at - 1]:
                usual, at = packed[at:at + 8], at + 8
                is_usual = [packed[at + row // 8] >> row % 8 & 1 for row in range(self.rows)]
                at, others = at + (self.rows + 7) // 8, self.rows - sum(is_usual)
        planes = []
        for byte in range(width):
            there = packed[0] >> byte & 1
            planes.append(packed[at:at + others] if there else packed[1 + byte:2 + byte] * others)
            at += others * there
        if at != len(packed):
            raise ValueError("%s: %d bytes, not %d" % (column["name"], len(packed), at))
        words = map(bytes, zip(*planes))
        return [usual if flag else next(words) for flag in is_usual]

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
