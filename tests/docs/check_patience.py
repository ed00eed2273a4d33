"""Files of a user are looked at, opened and listed with patience: by io/storage, or with io/file on top of it.

    check_patience.py SOURCE

A plain call holds its thread for as long as a server does not answer. The calls below are made in io/platform and io/storage
alone, but for the places that PLAIN names, each with its reason.
"""
import os
import re
import sys

ROOMS = ("host", "io", "kernels", "reference")
OWN = (os.path.join("io", "platform"), os.path.join("io", "storage"))
CALLS = ("access", "eaccess", "euidaccess", "faccessat", "fdopendir", "fopen", "freopen", "fstatat", "ftw", "glob", "lstat",
         "nftw", "open", "openat", "opendir", "readdir", "readlink", "readlinkat", "realpath", "scandir", "stat", "statfs",
         "statvfs", "statx")

# Results: their folder was looked at with patience before; what is written there cannot be a row.
WRITING = "a file of the results that is being written"
SYSTEM = "a file of the system"
LOCAL = "in a folder that was found to be local"
INSTALLED = "a file that is installed with the program"
PLAIN = {
    ("host/cli/main.c", "open"): SYSTEM,
    ("host/engine/ascend/kernel_file.c", "access"): INSTALLED,
    ("host/engine/ascend/kernel_file.c", "open"): INSTALLED,
    ("host/engine/ascend/kernel_file.c", "realpath"): INSTALLED,
    ("host/precheck/files/error_data.c", "fopen"): WRITING,
    ("host/precheck/run/journal.c", "open"): WRITING,
    ("host/share/share.c", "open"): WRITING,
    ("host/share/share_load.c", "open"): WRITING,
    ("io/base/memory_limit.c", "fopen"): SYSTEM,
    ("io/file/file_map.c", "openat"): LOCAL,
    ("io/file/listed_file.c", "open"): WRITING,
    ("io/file/listed_sweep.c", "openat"): WRITING,
    ("io/file/listed_sweep.c", "opendir"): WRITING,
    ("io/file/listed_sweep.c", "readdir"): WRITING,
    ("io/file/open_folder.c", "open"): LOCAL,
    ("io/file/out_file.c", "open"): WRITING,
}


def calls_of(source):
    """Calls of these names; members of structures may have them, too."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", source, flags=re.S)
    return sorted(set(re.findall(r"(?<![\w.>])(%s)\s*\(" % "|".join(CALLS), code)))


def sources(root):
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(root, room)):
            if os.path.relpath(folder, root) not in OWN:
                yield from (os.path.join(folder, name) for name in names if name.endswith((".c", ".h")))


def main():
    root = sys.argv[1]
    # the check itself: it must see what it is for
    sample = 'int a = stat(b, &c); side->open(d); e.open(f); /* lstat(g) */ char *h = "access(i)"; DIR *j = opendir (k);\n'
    if calls_of(sample) != ["opendir", "stat"]:
        sys.exit("check_patience.py does not see what it should: %s" % calls_of(sample))
    found, wrong = set(), 0
    for path in sorted(sources(root)):
        # what runs on a card is C++, with functions of its own
        name = os.path.relpath(path, root).replace(os.sep, "/")
        if name.startswith("kernels/ascend/"):
            continue
        with open(path, encoding="utf-8") as file:
            for call in calls_of(file.read()):
                found.add((name, call))
                if (name, call) not in PLAIN:
                    print("%s: %s may never return: io/storage has it with patience" % (name, call))
                    wrong += 1
    for name, call in sorted(set(PLAIN) - found):
        print("check_patience.py: %s does not call %s any more" % (name, call))
        wrong += 1
    sys.exit(1 if wrong else 0)


main()
