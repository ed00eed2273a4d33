"""What scripts/package.sh makes can be installed and runs.

    check_package.py TDCMP BUILD_DIR SOURCE_DIR

The tarball is unpacked, and its program runs with an empty environment, as root in a folder where nothing else is: no
library, no /proc, no /dev. Its tables are those of the ordinary program to the byte, its precheck comes to the same
verdicts. The Debian package is installed by dpkg into a folder of its own, or unpacked where dpkg is not allowed to.
"""
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile


def run(words, code=0, **options):
    result = subprocess.run(words, capture_output=True, text=True, **options)
    if result.returncode != code:
        sys.exit(f"{' '.join(words)}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def only(pattern):
    found = glob.glob(pattern)
    if len(found) != 1:
        sys.exit(f"{pattern}: {found}")
    return found[0]


def needs_no_loader(path):
    """An ELF program without an interpreter and without a list of libraries."""
    with open(path, "rb") as file:
        head = file.read(64)
        start, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        file.seek(start)
        kinds = {struct.unpack_from("<I", file.read(size))[0] for _ in range(count)}
    return head[:4] == b"\x7fELF" and not kinds & {2, 3}


def content(pattern):
    with open(only(pattern), "rb") as file:
        return file.read()


def verdicts(folder):
    """Name and status of every call and slot; numbers may differ in their last digits."""
    text = content(os.path.join(folder, "accuracy_checking_details_*.csv")).decode()
    return [(line.split(",")[0], re.findall(r"\b(?:pass|error|SKIP|Warning)\b", line)) for line in text.splitlines()]


def check_static(program, ordinary, folder):
    """The static program beside the ordinary one, in an empty world."""
    if not needs_no_loader(program):
        sys.exit(f"{program} is not static")
    world = os.path.join(folder, "world")
    os.makedirs(os.path.join(world, "bin"))
    shutil.copy(program, os.path.join(world, "bin", "tdcmp"))
    run([ordinary, "bench", "make", world, "--tensors", "40", "--elements", "64K", "--share", "0.1"])
    shutil.copytree(os.path.join(folder, "ms_tensor"), os.path.join(world, "ms_tensor"))
    alone = {"env": {}, "cwd": world}
    tdcmp = os.path.join(world, "bin", "tdcmp")
    if os.geteuid() == 0:
        tdcmp = "/bin/tdcmp"
        alone.update(preexec_fn=lambda: (os.chroot(world), os.chdir("/")), cwd=None)
    compare = ["compare", "npu", "bench", "--format", "csv,xlsx,json", "-o"]
    run([tdcmp, *compare, "alone"], code=1, **alone)
    run([ordinary, *compare, "beside"], code=1, cwd=world)
    for ending in ("csv", "xlsx"):
        both = [os.path.join(world, name, f"compare_*.{ending}") for name in ("alone", "beside")]
        if ending == "csv" and content(both[0]) != content(both[1]):
            sys.exit("the static program writes another table")
        if len(content(both[0])) < 1000:
            sys.exit(f"no {ending} from the static program")
    run([tdcmp, "precheck", "ms_tensor", "-o", "checked"], code=1, **alone)
    run([ordinary, "precheck", "ms_tensor", "-o", "checked_beside"], code=1, cwd=world)
    both = [verdicts(os.path.join(world, name)) for name in ("checked", "checked_beside")]
    if both[0] != both[1] or len(both[0]) < 100:
        sys.exit("the static program's precheck comes to other verdicts")
    if "static program" not in subprocess.run([tdcmp, "devices"], capture_output=True, text=True, **alone).stdout:
        sys.exit("the static program does not say why it has no card")


def install_deb(package, root):
    if os.geteuid() == 0:
        os.makedirs(os.path.join(root, "var", "lib", "dpkg", "info"))
        open(os.path.join(root, "var", "lib", "dpkg", "status"), "w").close()
        # what it depends on is on this machine and not in the folder
        run(["dpkg", f"--root={root}", f"--log={root}/log", "--force-depends", "--force-script-chrootless", "-i", package])
    else:
        run(["dpkg-deb", "-x", package, root])


def check_deb(package, ordinary, root):
    install_deb(package, root)
    fields = run(["dpkg-deb", "-f", package, "Package", "Version", "Depends"])
    version = run([ordinary, "--version"]).split()[1]
    if f"Version: {version}\n" not in fields or "libc6" not in fields:
        sys.exit(f"{package}:\n{fields}")
    tdcmp = os.path.join(root, "usr", "bin", "tdcmp")
    if run([tdcmp, "--version"], env={}) != run([ordinary, "--version"], env={}):
        sys.exit("another version in the package")
    for name in ("lib/libtdcmp.so.1", "lib/pkgconfig/tdcmp.pc", "include/tdcmp.h", "share/man/man1/tdcmp.1.gz",
                 "share/bash-completion/completions/tdcmp", "share/doc/tdcmp/copyright"):
        if not os.path.exists(os.path.join(root, "usr", name)):
            sys.exit(f"{package} has no {name}")


def main():
    ordinary, build, source = map(os.path.abspath, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        packages = os.path.join(folder, "packages")
        run([os.path.join(source, "scripts", "package.sh"), "-o", packages, build])
        with tarfile.open(only(os.path.join(packages, "tdcmp-*-linux-*.tar.gz"))) as packed:
            packed.extractall(os.path.join(folder, "unpacked"))
        with tarfile.open(os.path.join(source, "tests", "golden", "precheck.tar.xz")) as packed:
            packed.extractall(folder, [member for member in packed.getmembers() if member.name.startswith("ms_tensor")])
        program = only(os.path.join(folder, "unpacked", "*", "bin", "tdcmp"))
        only(os.path.join(folder, "unpacked", "*", "share", "man", "man1", "tdcmp.1"))
        check_static(program, ordinary, folder)
        if shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"):
            check_deb(only(os.path.join(packages, "tdcmp_*.deb")), ordinary, os.path.join(folder, "root"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
