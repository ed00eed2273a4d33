"""What goes beyond POSIX is named in io/platform alone, so that a port has one place to look.

    check_platform.py SOURCE
"""
import os
import re
import sys

PLACE = os.path.join("io", "platform")
ROOMS = ("bench", "host", "include", "io", "kernels", "reference")

HEADERS = ("asm/", "fts.h", "linux/", "malloc.h", "sys/epoll.h", "sys/eventfd.h", "sys/inotify.h", "sys/prctl.h",
           "sys/random.h", "sys/sendfile.h", "sys/signalfd.h", "sys/statfs.h", "sys/syscall.h", "sys/sysinfo.h",
           "sys/uio.h", "sys/vfs.h")
NAMES = ("CPU_COUNT", "F_OFD_\\w+", "MADV_\\w+", "MAP_HUGETLB", "MAP_POPULATE", "O_DIRECT", "O_PATH", "O_TMPFILE",
         "POSIX_FADV_\\w+", "RENAME_\\w+", "RWF_\\w+", "copy_file_range", "fallocate", "fts_\\w+", "getrandom", "gettid",
         "madvise", "malloc_trim", "mallopt", "memfd_create", "mincore", "mremap", "posix_fadvise", "posix_madvise",
         "prctl", "preadv2?", "pwritev2?", "readahead", "renameat2", "sched_[gs]etaffinity", "splice", "statfs",
         "sync_file_range", "syscall")
FILES = ("/proc/", "/sys/")


def code_and_texts(source):
    """The source without comments, and its string literals."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    texts = [match for match in token.findall(source) if match.startswith('"')]
    return token.sub(lambda match: match[0] if match[0].startswith('"') else " ", source), texts


def faults_of(source):
    code, texts = code_and_texts(source)
    for header in re.findall(r"^\s*#\s*include\s*<([^>]+)>", code, re.M):
        if header.startswith(HEADERS):
            yield "<%s>" % header
    for name in re.findall(r"\b(%s)\b" % "|".join(NAMES), re.sub(r'"(?:\\.|[^"\\\n])*"', "", code)):
        yield name
    for text in texts:
        if text[1:].startswith(FILES):
            yield text


def sources(root):
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in names:
                if name.endswith((".c", ".h")) and os.path.relpath(folder, root) != PLACE:
                    yield os.path.join(folder, name)


def main():
    root = sys.argv[1]
    # the check itself: it must see what it is for
    sample = '#include <fts.h>\nint a = O_DIRECT; /* madvise */ char *b = "/proc/self", *c = "O_DIRECT";\n'
    if list(faults_of(sample)) != ["<fts.h>", "O_DIRECT", '"/proc/self"']:
        sys.exit("check_platform.py does not see what it should: %s" % list(faults_of(sample)))
    wrong = 0
    for path in sorted(sources(root)):
        with open(path, encoding="utf-8") as file:
            for fault in faults_of(file.read()):
                print("%s: %s belongs to %s" % (os.path.relpath(path, root), fault, PLACE))
                wrong += 1
    sys.exit(1 if wrong else 0)


main()
