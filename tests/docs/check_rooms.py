"""The rooms of docs/architecture.md against the #include lines.

    check_rooms.py SOURCE_DIR

Every folder with C files has a row in the table of rooms, every row a folder. A file includes headers of its own
room, of those in its row's "may use", and of those that every room may use. Rooms do not know each other in a circle,
unless they are declared to be one subject. A room has a handful of files and a file can be read at a sitting.
"""
import os
import re
import sys

SUFFIXES = (".c", ".h", ".cpp")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
NAME = re.compile(r"`([\w./*]+)`")
MOST_FILES, MOST_LINES = 28, 600
# Of one room with all below: the test's own division is its own affair, and the interface is one thing.
WHOLE = ("tests", "include")


class Rooms:
    """What docs/architecture.md says."""

    def __init__(self, text):
        self.may_use, self.contracts, self.subjects = {}, {}, []
        section = text[text.index("## Rooms"):]
        section = section[:section.index("\n## ", 1)]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            row = re.fullmatch(r"`([\w/]+)`", cells[0])
            if line.startswith("|") and row and len(cells) >= 3:
                self.may_use[row.group(1)] = None if cells[-1] == "everything" else NAME.findall(
                    cells[3] if len(cells) > 3 else "")
                self.contracts[row.group(1)] = [name for name in NAME.findall(cells[2]) if name.endswith(".h")]
            elif line.startswith("- one subject:"):
                self.subjects.append(NAME.findall(line.split(":")[1]))
        common = re.search(r"Every room may use ([^.]*(?:\.h`[^.]*)*)\.", section)
        self.common = NAME.findall(common.group(1)) if common else []

    def allowed(self, room):
        """Rooms and headers, or None for all."""
        names = self.may_use[room]
        if names is None:
            return None
        found = set(self.common) | {room}
        for name in names:
            found.update(r for r in self.may_use if r.startswith(name[:-1])) if name.endswith("/*") else found.add(name)
        return found


def room_of(path):
    folder = os.path.dirname(path)
    top = folder.split("/")[0]
    return top if top in WHOLE else folder


def one_subject(rooms, names):
    return any(set(names) <= set(subject) for subject in rooms.subjects)


def circles(rooms):
    """Pairs of rooms that reach each other through the table, and are not one subject."""
    graph = {room: {name for name in rooms.allowed(room) or () if name in rooms.may_use and name != room}
             for room in rooms.may_use if rooms.may_use[room] is not None}
    reached = {}
    for room in graph:
        seen, waiting = set(), [room]
        while waiting:
            for name in graph.get(waiting.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
        reached[room] = seen
    return [(a, b) for a in sorted(graph) for b in sorted(reached[a])
            if a < b and a in reached.get(b, ()) and not one_subject(rooms, (a, b))]


def check_table(rooms, files):
    found = {room_of(path) for path in files}
    for room in sorted(found - set(rooms.may_use)):
        yield f"{room}: no row in docs/architecture.md"
    for room in sorted(set(rooms.may_use) - found):
        yield f"docs/architecture.md: no folder {room} with C files"
    for room, names in rooms.may_use.items():
        for name in names or ():
            known = any(r.startswith(name[:-1]) for r in rooms.may_use) if name.endswith("/*") else name in rooms.may_use
            if not known:
                yield f"docs/architecture.md: {room} may use {name}, which has no row"
        for header in rooms.contracts[room]:
            if header not in files:
                yield f"docs/architecture.md: no contract {header}"
    for a, b in circles(rooms):
        yield f"docs/architecture.md: {a} and {b} know each other"


def header_path(name, path, files):
    """Where an included header lies; None outside the tree."""
    for folder in ("", "include/", os.path.dirname(path) + "/"):
        if folder + name in files:
            return folder + name
    return None


def check_includes(rooms, files):
    for path, text in sorted(files.items()):
        room = room_of(path)
        if room not in rooms.may_use:
            continue
        allowed = rooms.allowed(room)
        for name in INCLUDE.findall(text):
            header = header_path(name, path, files)
            if allowed is None or header is None and "/" not in name:
                continue # a header of a library, or made by the build
            if header is None:
                yield f"{path}: no header {name}"
            elif room_of(header) not in allowed and header not in allowed:
                yield f"{path} includes {name}: {room} may not use {room_of(header)}"


def check_sizes(files):
    rooms = {}
    for path, text in files.items():
        if room_of(path) in WHOLE:
            continue
        rooms[room_of(path)] = rooms.get(room_of(path), 0) + 1
        if text.count("\n") > MOST_LINES:
            yield f"{path}: more than {MOST_LINES} lines; it has more than one idea"
    for room, count in sorted(rooms.items()):
        if count > MOST_FILES:
            yield f"{room}: {count} files; it has more than one subject"


def failures(document, files):
    rooms = Rooms(document)
    return [*check_table(rooms, files), *check_includes(rooms, files), *check_sizes(files)]


def read_tree(source):
    files = {}
    for folder, folders, names in os.walk(source):
        at = os.path.relpath(folder, source).replace(os.sep, "/")
        if "CMakeCache.txt" in names or (at != "." and os.path.exists(os.path.join(folder, ".git"))):
            folders[:] = []
            continue
        folders[:] = [name for name in folders if not name.startswith(".") and not (at == "." and name == "build")]
        for name in names:
            if name.endswith(SUFFIXES):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    files[name if at == "." else at + "/" + name] = file.read()
    return files


# ---- the check itself: a small house with one thing wrong at a time

HOUSE = """## Rooms
Every room may use `include` and `low/types.h`.
| folder | what lives there | contract | may use |
|---|---|---|---|
| `include` | the interface | `include/all.h` | |
| `low` | base | `low/types.h` | |
| `high` | work | `high/work.h` | `low` |
| `high/inner` | part of it | | `high`, `low` |
| `tests` | tests | | everything |

## Next
"""
FILES = {
    "include/all.h": "", "low/types.h": "", "low/low.h": '#include "all.h"\n', "high/work.h": '#include "low/low.h"\n',
    "high/inner/part.c": '#include "high/work.h"\n#include "low/types.h"\n', "tests/unit/test.c": '#include "high/work.h"\n',
}
FAULTS = [
    ("low may not use high", HOUSE, {"low/low.h": '#include "high/work.h"\n'}),
    ("no header high/gone.h", HOUSE, {"high/work.h": '#include "high/gone.h"\n'}),
    ("attic: no row", HOUSE, {"attic/old.c": ""}),
    ("no folder cellar", HOUSE.replace("| `tests`", "| `cellar` | | | |\n| `tests`"), {}),
    ("may use cellar", HOUSE.replace("| `low` |\n", "| `low`, `cellar` |\n"), {}),
    ("no contract high/plan.h", HOUSE.replace("`high/work.h`", "`high/plan.h`"), {}),
    ("high and high/inner know each other", HOUSE.replace("| `low` |\n", "| `low`, `high/inner` |\n"), {}),
    ("more than one idea", HOUSE, {"low/long.c": "\n" * (MOST_LINES + 1)}),
    ("more than one subject", HOUSE, {f"low/file{i}.c": "" for i in range(MOST_FILES)}),
]


def check_itself():
    assert failures(HOUSE, FILES) == [], failures(HOUSE, FILES)
    for expected, document, changes in FAULTS:
        found = failures(document, {**FILES, **changes})
        assert any(expected in text for text in found), (expected, found)
    subject = FAULTS[6][1].replace("\n## Next", "\n- one subject: `high`, `high/inner`: both.\n\n## Next")
    assert failures(subject, FILES) == [], failures(subject, FILES)


def main():
    check_itself()
    source = sys.argv[1]
    with open(os.path.join(source, "docs", "architecture.md"), encoding="utf-8") as file:
        document = file.read()
    found = failures(document, read_tree(source))
    print("\n".join(found))
    print(f"{len(found)} failures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
