"""What the tests of mappings share: two sides, mapping files, both forms of the program."""
import os

import harness
import networks
from networks import Side


class MappingCase(harness.Case):
    def sides(self, mode="statistics", npu="mindspore", bench="pytorch"):
        return Side(self.path("npu"), npu, mode), Side(self.path("bench"), bench, mode)

    def guide(self, layers=2, mode="statistics", first=0, change=None):
        npu, bench = self.sides(mode)
        networks.Guide(npu, bench, layers, first, change)
        npu.write()
        bench.write()
        return npu, bench

    def file(self, text, name="map.yaml"):
        return harness.write_text(self.path(name), text)

    def mindspore(self, code, npu, bench, *options, **settings):
        """msprobe's form; a folder with a dump.json stands for it."""
        npu, bench = (os.path.join(path, "dump.json") if os.path.exists(os.path.join(path, "dump.json")) else path
                      for path in (npu, bench))
        return self.msprobe(code, npu, bench, *options, framework="mindspore", **settings)

    def match(self, code, *words):
        """[(NPU name, bench name, reason)] of `tdcmp match`, and the run."""
        result = self.run_code(code, "match", *words)
        return [tuple(line.split("\t")) for line in result.out.splitlines() if not line.startswith("#")], result

    def both_forms(self, npu, bench, friendly, msprobe, expected):
        """The pairs of each form; expected: {NPU row: bench row or "N/A"}. Rows of friendly and msprobe's form."""
        _, result, folder = self.mindspore(0, npu, bench, *msprobe)
        found = harness.read_csv(harness.only_file(folder, "csv"))
        self.assertEqual({row["NPU Name"]: row["Bench Name"] for row in found}, expected)
        lonely = "N/A" in expected.values()
        rows, result = self.compare(1 if lonely else 0, npu, bench, *friendly)
        self.assertEqual({row["NPU Name"]: row["Bench Name"] for row in rows if row["NPU Name"] != "N/A"}, expected)
        return rows, found, result
