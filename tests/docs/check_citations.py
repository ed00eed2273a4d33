"""What sources and documents refer to exists.

    check_citations.py SOURCE_DIR

Every anchor of a page in docs that a comment cites and every link between documents leads to a heading; files that
comments name are there, and so is every tdc_name in comments and documents; nothing cites a document that is not in
the tree.
"""
import os
import re
import sys

ROOMS = ("bench", "cmake", "host", "include", "io", "kernels", "reference", "scripts", "tests")
CODE = (".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".txt", ".yaml")
ELSEWHERE = re.compile(r"\b[Ss]pec(?:ification)? \d|\bsections? \d|\bissue \d")
FILE = re.compile(r"(?<![\w./<-])((?:[\w-]+/)*[\w-]+\.(?:c|h|cpp))(?![\w(])")
NAME = re.compile(r"\b(?:tdc|TDC)_\w+\b(?!\*)")
# headers of others that comments may speak of
FOREIGN = {"cmocka.h"}

failures = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tracked(source):
    """The files of the rooms, without made-up data."""
    yield "CMakeLists.txt"
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(source, room)):
            folders[:] = [name for name in folders if name not in ("corpus", "golden", "__pycache__")]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), source)


def documents(source):
    for name in sorted(os.listdir(source)):
        if name.endswith(".md"):
            yield name
    for name in sorted(os.listdir(os.path.join(source, "docs"))):
        if name.endswith(".md"):
            yield os.path.join("docs", name)


def anchors(text):
    """The names by which browsers find the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        while name in found:
            name += "-1"
        found.add(name)
    return found


def comments(path, text):
    if path.endswith((".c", ".h", ".cpp")):
        return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text), flags=re.S))
    return text


def uncommented(path, text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S) if path.endswith((".c", ".h", ".cpp")) else text


def check_names(source, code, pages):
    """Functions, types and constants that are spoken of exist; `tdc_some_` stands for all that begin so."""
    texts = {path: read(os.path.join(source, path)) for path in code}
    there = {name for path, text in texts.items() for name in NAME.findall(uncommented(path, text))}
    spoken = {path: comments(path, text) for path, text in texts.items() if path.endswith((".c", ".h", ".cpp"))}
    spoken.update((path, read(os.path.join(source, path))) for path in pages)
    for path, text in spoken.items():
        for name in sorted(set(NAME.findall(text)) - there):
            if not (name.endswith("_") and any(other.startswith(name) for other in there)):
                failures.append(f"{path}: there is no {name}")


def check_citation(path, page, anchor, pages):
    if page not in pages:
        failures.append(f"{path}: there is no {page}")
    elif anchor and anchor not in pages[page]:
        failures.append(f"{path}: {page} has no section '{anchor}'")


def check_code(source, path, pages, names):
    text = read(os.path.join(source, path))
    if not path.startswith(os.path.join("tests", "docs")):
        for words in ELSEWHERE.findall(comments(path, text)):
            failures.append(f"{path}: '{words}' is of a document that is not here")
    for page, anchor in re.findall(r"\b(docs/[\w-]+\.md)(?:#([\w-]+))?", text):
        check_citation(path, page, anchor, pages)
    if not path.endswith((".c", ".h", ".cpp")):
        return
    for name in FILE.findall(comments(path, text)):
        if os.path.basename(name) not in names | FOREIGN:
            failures.append(f"{path}: a comment names {name}, which is not here")
        elif name.startswith(tuple(room + "/" for room in ROOMS)) and \
                not os.path.exists(os.path.join(source, name)):
            failures.append(f"{path}: a comment names {name}, which is not there")


def check_document(source, path, pages):
    text = read(os.path.join(source, path))
    for words in ELSEWHERE.findall(text):
        failures.append(f"{path}: '{words}' is of a document that is not here")
    for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            page = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            check_citation(path, page, anchor, pages)


def main():
    source = sys.argv[1]
    pages = {path: anchors(read(os.path.join(source, path))) for path in documents(source)}
    code = [path for path in tracked(source) if path.endswith(CODE)]
    names = {os.path.basename(path) for path in tracked(source)}
    if len(pages) < 5 or len(code) < 300:
        failures.append(f"{source}: no tree of sources")
    for path in code:
        check_code(source, path, pages, names)
    for path in pages:
        check_document(source, path, pages)
    check_names(source, code, pages)
    readme = read(os.path.join(source, "README.md"))
    failures.extend(f"README.md: {path} is not among the documents" for path in pages
                    if path != "README.md" and f"]({path})" not in readme)
    for failure in failures:
        print(failure)
    print(f"{len(failures)} failures in {len(code)} sources and {len(pages)} documents")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
