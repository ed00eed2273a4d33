"""What `cmake --install` leaves is enough to use the library.

    check_install.py CMAKE BUILD_DIR SOURCE_DIR CC

Installs into a temporary folder, looks for every file, takes the example program out of
docs/api.md, builds it with pkg-config against the shared and the static library, and runs it on two
small dumps that this script writes.
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
    # the file names the prefix of the configuration; the tree was installed elsewhere
    with open(pc[0], encoding="utf-8") as file:
        text = re.sub(r"^prefix=.*$", f"prefix={prefix}", file.read(), flags=re.M)
    with open(pc[0], "w", encoding="utf-8") as file:
        file.write(text)
    return libraries


def example(source, folder):
    with open(os.path.join(source, "docs", "api.md"), encoding="utf-8") as file:
        program = re.search(r"```c\n(.*?)```", file.read(), re.S).group(1)
    path = os.path.join(folder, "example.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    return path


def flags(libraries, *options):
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))
    return run(["pkg-config", *options, "tdcmp"], env=environment).split()


def main():
    cmake, build, source, compiler = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "prefix")
        libraries = install(cmake, build, prefix)
        program = example(source, folder)
        npu = write_dump(os.path.join(folder, "npu"), [0.5, 1.0, 3.0])
        bench = write_dump(os.path.join(folder, "bench"), [0.5, 1.0, 1.0])
        strict = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
        shared, static = os.path.join(folder, "shared"), os.path.join(folder, "static")
        run([compiler, *strict, program, "-o", shared, *flags(libraries, "--cflags", "--libs"),
             f"-Wl,-rpath,{libraries}"])
        libs = flags(libraries, "--cflags", "--libs", "--static")
        libs = [os.path.join(libraries, "libtdcmp.a") if lib == "-ltdcmp" else lib for lib in libs]
        run([compiler, *strict, program, "-o", static, *libs])
        for binary in (shared, static):
            output = run([binary, npu, bench])
            if "Functional.relu.0.forward.output.0" not in output or "1 of 1 rows" not in output:
                sys.exit(f"{binary} printed:\n{output}")
        version = run([os.path.join(prefix, "bin", "tdcmp"), "--version"])
        if not version.startswith("tdcmp "):
            sys.exit(f"tdcmp --version printed: {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
