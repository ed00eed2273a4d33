"""The results of the real tools on small inputs, unpacked for a test: tests/golden/analysis.tar.xz."""
import glob
import json
import os
import shutil
import tarfile
import tempfile
import unittest

import harness

ARCHIVE = os.path.join(os.path.dirname(harness.GOLDEN), "analysis.tar.xz")


class GoldenCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="tdcmp-analysis-")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(cls.root)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tdcmp-analysis-out-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = os.path.join(self.folder, "out")

    def cases(self, subject):
        found = sorted(path for path in glob.glob(os.path.join(self.root, subject, "*")) if os.path.isdir(path))
        self.assertTrue(found, subject)
        return found

    def clear(self):
        shutil.rmtree(self.out, ignore_errors=True)

    def written(self, start):
        """The one file whose name begins so, None when there is none."""
        found = [name for name in harness.files_below(self.out) if name.startswith(start)]
        self.assertLessEqual(len(found), 1, found)
        return os.path.join(self.out, found[0]) if found else None

    def copy(self, *path):
        """A copy of a part of the archive, to be changed."""
        target = os.path.join(self.folder, path[-1])
        shutil.copytree(os.path.join(self.root, *path), target)
        return target


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
