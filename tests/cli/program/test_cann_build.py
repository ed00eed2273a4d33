"""Building the kernels with CANN: the rules alone, with a compiler and CMake functions that only note what they are told.

No CANN is at hand where these tests run. What the real ones make of it is for docs/ascend.md to say.
"""
import os
import stat
import subprocess

import harness

CMAKE = os.environ.get("TDC_CMAKE", "cmake")
SOURCE = os.environ.get("TDC_SOURCE", "")
KERNELS = sorted(["tdc_probe.o"] + ["tdc_pair_%s%s.o" % (pair, rule) for pair in ("f32", "f16", "bf16", "bf16_f32", "f32_bf16")
                                    for rule in ("", "_exact")])

BISHENG = """#!/bin/sh
echo "$@" >> "$ASCEND_HOME_PATH/told"
case "$*" in *-E*) exit %d ;; esac
while [ $# -gt 1 ]; do
    [ "$1" = -o ] && echo object > "$2"
    shift
done
"""

LLD = """#!/bin/sh
echo "ld.lld $*" >> "$ASCEND_HOME_PATH/told"
while [ $# -gt 1 ]; do
    [ "$1" = -o ] && echo linked > "$2"
    shift
done
"""

# As the vendor's: a build of its own installs into the prefix of configuring, when it is built.
VENDOR = """
function(ascendc_fatbin_library name)
    file(APPEND ${ASCEND_CANN_PACKAGE_PATH}/told "${name} ${SOC_VERSION} ${RUN_MODE} ${ARGN}\\n")
    set(object ${CMAKE_INSTALL_PREFIX}/fatbin/${name}/${name}.o)
    add_custom_target(${name} ALL COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_INSTALL_PREFIX}/fatbin/${name}
                      COMMAND ${CMAKE_COMMAND} -E touch ${object})
endfunction()
function(ascendc_include_directories)
endfunction()
function(ascendc_compile_options)
endfunction()
"""


class Build(harness.Case):
    def cann(self, knows_language):
        home = self.path("cann")
        vendor = os.path.join(home, "tools/tikcpp/ascendc_kernel_cmake")
        os.makedirs(os.path.join(home, "bin"))
        os.makedirs(vendor)
        bisheng = harness.write_text(os.path.join(home, "bin/bisheng"), BISHENG % (0 if knows_language else 1))
        lld = harness.write_text(os.path.join(home, "bin/ld.lld"), LLD)
        os.chmod(bisheng, stat.S_IRWXU)
        os.chmod(lld, stat.S_IRWXU)
        harness.write_text(os.path.join(vendor, "ascendc.cmake"), VENDOR)
        return home

    def cmake(self, code, home, *words):
        done = subprocess.run([CMAKE, *words], env=harness.environment(ASCEND_HOME_PATH=home), timeout=200,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode != 0, code != 0, done.stdout)
        return done.stdout

    def build(self, home, soc):
        build, prefix = self.path("build"), self.path("prefix")
        self.cmake(0, home, "-S", os.path.join(SOURCE, "kernels/ascend"), "-B", build, "-DTDC_SOC=" + soc)
        self.cmake(0, home, "--build", build)
        self.cmake(0, home, "--install", build, "--prefix", prefix)
        self.assertEqual(harness.files_below(os.path.join(prefix, "lib/tdcmp/ascend", soc)), KERNELS)
        return harness.read_text(os.path.join(home, "told")).splitlines()

    def test_language(self):
        told = [line for line in self.build(self.cann(True), "Ascend910B3") if " -E " not in line]
        compiled = [line for line in told if not line.startswith("ld.lld")]
        self.assertEqual(len(compiled), 11)
        for line in compiled:
            self.assertIn("-x asc --npu-arch=dav-2201 --aicore-only -O3 -std=c++17 -DTDC_ASC_LANGUAGE", line)
        linked = [line for line in told if line.startswith("ld.lld")]
        self.assertEqual(len(linked), 11)
        for line in linked:
            self.assertRegex(line, r"^ld.lld -m aicorelinux -Ttext=0 \S+_compiled\.o -static -o \S+\.o$")
        # what is installed is what was linked, and the build tree has it where a program of it looks
        for place in ("prefix", "build"):
            for name in KERNELS:
                path = self.path(os.path.join(place, "lib/tdcmp/ascend/Ascend910B3", name))
                self.assertEqual(harness.read_text(path), "linked\n")

    def test_language_for_950(self):
        told = self.build(self.cann(True), "Ascend950PR_9589")
        self.assertTrue(any("--npu-arch=dav-3510" in line for line in told))

    def test_project(self):
        told = [line for line in self.build(self.cann(False), "Ascend910_9391") if " -E " not in line]
        self.assertEqual(sorted(line.split()[0] + ".o" for line in told), KERNELS)
        self.assertEqual(set(tuple(line.split()[1:3]) for line in told), {("Ascend910_9391", "npu")})
        self.assertEqual(harness.files_below(self.path("prefix/fatbin")), [])

    def test_refusals(self):
        kernels = os.path.join(SOURCE, "kernels/ascend")
        self.assertIn("set_env.sh", self.cmake(1, self.path("none"), "-S", kernels, "-B", self.path("b1")))
        self.assertIn("the kernels are for", self.cmake(1, self.cann(True), "-S", kernels, "-B", self.path("b2"),
                                                        "-DTDC_SOC=Ascend310P3"))


if __name__ == "__main__":
    harness.main()
