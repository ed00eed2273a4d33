"""What `cmake --install` leaves is enough to use the library.

    check_install.py CMAKE BUILD_DIR SOURCE_DIR CC [subproject]

Installs into a temporary folder, looks for every file, takes the programs out of docs/api.md, builds the first one as
that page says, moves the tree elsewhere, builds them all with pkg-config against the shared and the static library and
with find_package, and runs them, the first on two small dumps that this script writes. With `subproject`: builds one in a project that adds this one.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

FILES = [
    "bin/tdcmp",
    "include/tdcmp.h",
    "include/tdcmp/base.h",
    "include/tdcmp/table.h",
    "share/man/man1/tdcmp.1",
    "share/bash-completion/completions/tdcmp",
    "share/zsh/site-functions/_tdcmp",
    "share/fish/vendor_completions.d/tdcmp.fish",
    "share/doc/tdcmp/LICENSE",
    "share/doc/tdcmp/README.md",
]


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def write_npy(path, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}f", *values))


def write_dump(folder, values):
    data = os.path.join(folder, "dump_tensor_data")
    os.makedirs(data)
    name = "Functional.relu.0.forward.output.0.npy"
    write_npy(os.path.join(data, name), values)
    item = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [len(values)],
            "Max": max(values), "Min": min(values), "Mean": 0.0, "Norm": 1.0,
            "requires_grad": False, "data_name": name}
    dump = {"task": "tensor", "level": "L1", "framework": "pytorch",
            "data": {"Functional.relu.0.forward": {"output": [item]}}}
    path = os.path.join(folder, "dump.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(dump, file)
    return path


def install(cmake, build, prefix):
    run([cmake, "--install", build, "--prefix", prefix])
    missing = [name for name in FILES if not os.path.exists(os.path.join(prefix, name))]
    pc = [os.path.join(folder, "tdcmp.pc") for folder, _, names in os.walk(prefix)
          if "tdcmp.pc" in names]
    if missing or len(pc) != 1:
        sys.exit(f"not installed: {missing}, pkg-config files: {pc}")
    libraries = os.path.dirname(os.path.dirname(pc[0]))
    for name in ("libtdcmp.a", "libtdcmp.so"):
        if not os.path.exists(os.path.join(libraries, name)):
            sys.exit(f"not installed: {name}")
    return libraries


def documented(source, folder, home):
    """The lines of docs/api.md that build and run the first program, with the tree in ~/.local."""
    with open(os.path.join(source, "docs", "api.md"), encoding="utf-8") as file:
        lines = re.search(r"--prefix ~/\.local`, with pkg-config:\n\n((?:    .*\n)+)", file.read()).group(1)
    environment = {key: value for key, value in os.environ.items() if key != "PKG_CONFIG_PATH"}
    os.replace(os.path.join(folder, "example0.c"), os.path.join(folder, "example.c"))
    printed = run(["sh", "-ec", lines], cwd=folder, env=dict(environment, HOME=home))
    os.replace(os.path.join(folder, "example.c"), os.path.join(folder, "example0.c"))
    if re.fullmatch(PRINTED[0], printed) is None:
        sys.exit(f"the example of docs/api.md printed:\n{printed}")


def examples(source, folder):
    """The programs of docs/api.md as files."""
    with open(os.path.join(source, "docs", "api.md"), encoding="utf-8") as file:
        programs = re.findall(r"```c\n(.*?)```", file.read(), re.S)
    if len(programs) != len(PRINTED):
        sys.exit(f"docs/api.md has {len(programs)} programs")
    paths = []
    for number, program in enumerate(programs):
        paths.append(os.path.join(folder, f"example{number}.c"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(program)
    return paths


# What the programs of docs/api.md print, in their order.
PRINTED = [
    r"Functional\.relu\.0\.forward\.output\.0: .*\n1 of 1 rows differ\n",
    r"different: off by 0\.5 at element 5: 6\.5 against 6\n",
    r"judged: Torch\.relu\.0\.forward\.output\.0\nmax_diff: 0\.5\n",
]

CONSUMER = """cmake_minimum_required(VERSION 3.22)
project(consumer C)
%s
foreach(number RANGE %d)
    add_executable(shared${number} ${EXAMPLES}/example${number}.c)
    target_link_libraries(shared${number} PRIVATE tdcmp::tdcmp)
    add_executable(static${number} ${EXAMPLES}/example${number}.c)
    target_link_libraries(static${number} PRIVATE tdcmp::static)
endforeach()
# nothing of how tdcmp is compiled comes along
get_directory_property(options COMPILE_OPTIONS)
get_directory_property(folders INCLUDE_DIRECTORIES)
if(options OR folders)
    message(FATAL_ERROR "flags leaked: ${options} ${folders}")
endif()
"""


def consume(cmake, compiler, folder, name, how, extra):
    """A project of the user's, by CMake; the programs it builds."""
    source, build = os.path.join(folder, name), os.path.join(folder, f"{name}_build")
    os.makedirs(source)
    with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(CONSUMER % (how, len(PRINTED) - 1))
    run([cmake, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={compiler}", f"-DEXAMPLES={folder}",
         "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", *extra])
    return build


def check_programs(binaries, npu, bench):
    for number, binary in enumerate(binaries):
        output = run([binary, npu, bench] if number == 0 else [binary])
        if re.fullmatch(PRINTED[number], output) is None:
            sys.exit(f"{binary} printed:\n{output}")


def flags(libraries, *options):
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))
    return run(["pkg-config", *options, "tdcmp"], env=environment).split()


def by_pkg_config(compiler, libraries, folder, programs):
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    libs = flags(libraries, "--cflags", "--libs", "--static")
    libs = [os.path.join(libraries, "libtdcmp.a") if lib == "-ltdcmp" else lib for lib in libs]
    shared, static = [], []
    for number, program in enumerate(programs):
        shared.append(os.path.join(folder, f"shared{number}"))
        run([compiler, *strict, program, "-o", shared[-1], *flags(libraries, "--cflags", "--libs"),
             f"-Wl,-rpath,{libraries}"])
        static.append(os.path.join(folder, f"static{number}"))
        run([compiler, *strict, program, "-o", static[-1], *libs])
    return [shared, static]


def by_find_package(cmake, compiler, prefix, folder):
    build = consume(cmake, compiler, folder, "found", "find_package(tdcmp 1.0 REQUIRED)",
                    [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"])
    run([cmake, "--build", build])
    return [[os.path.join(build, f"{kind}{number}") for number in range(len(PRINTED))] for kind in ("shared", "static")]


def by_subproject(cmake, compiler, source, folder):
    """Without optimisation: what is built is looked at, and runs."""
    build = consume(cmake, compiler, folder, "added", f"add_subdirectory({source} tdcmp)", ["-DCMAKE_BUILD_TYPE=None"])
    with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
        targets = file.read()
    for unwanted in ("test_engine", "host/cli/main.c", "bench/"):
        if unwanted in targets:
            sys.exit(f"a project that adds tdcmp builds {unwanted}")
    # the user's own program has the user's flags alone
    rule = re.search(r"\nbuild CMakeFiles/shared0\.dir/\S*example0\.c\.o:.*?\n\n", targets, re.S).group(0)
    own = re.search(r"FLAGS = (.*)", rule).group(1).split()
    if [flag for flag in own if flag not in ("-Wall", "-Wextra", "-Werror", "-fPIE", "-std=gnu11")]:
        sys.exit(f"a project that adds tdcmp is compiled with {own}")
    run([cmake, "--build", build, "--target", "shared1", "static1"])
    for kind in ("shared", "static"):
        output = run([os.path.join(build, f"{kind}1")])
        if re.fullmatch(PRINTED[1], output) is None:
            sys.exit(f"{kind}1 of a project that adds tdcmp printed:\n{output}")


def main():
    cmake, build, source, compiler = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[5:] == ["subproject"]:
            examples(source, folder)
            by_subproject(cmake, compiler, source, folder)
            return 0
        home = os.path.join(folder, "home")
        first, prefix = os.path.join(home, ".local"), os.path.join(folder, "moved", "prefix")
        libraries = install(cmake, build, first).replace(first, prefix)
        programs = examples(source, folder)
        npu = write_dump(os.path.join(folder, "npu"), [0.5, 1.0, 3.0])
        bench = write_dump(os.path.join(folder, "bench"), [0.5, 1.0, 1.0])
        documented(source, folder, home)
        os.makedirs(os.path.dirname(prefix))
        os.rename(first, prefix)
        for binaries in by_pkg_config(compiler, libraries, folder, programs):
            check_programs(binaries, npu, bench)
        for binaries in by_find_package(cmake, compiler, prefix, folder):
            check_programs(binaries, npu, bench)
        version = run([os.path.join(prefix, "bin", "tdcmp"), "--version"])
        if not version.startswith("tdcmp "):
            sys.exit(f"tdcmp --version printed: {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
