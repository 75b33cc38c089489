"""count_tests.py on result files as ctest and GoogleTest write them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "count_tests.py"
PASSED = '<testcase name="{}" status="run" result="completed" classname="Suite" />'
SKIPPED = ('<testcase name="{}" status="run" result="skipped" classname="Suite">'
           '<skipped message="a.cc:2&#x0A;needs AVX-512" /></testcase>')
FAILED = ('<testcase name="{}" status="run" result="completed" classname="Suite">'
          '<failure message="a.cc:4&#x0A;1 is not 2" type="" /></testcase>')
NOT_RUN = '<testcase name="{}" status="notrun" result="suppressed" classname="Suite" />'


class CountTestsTest(unittest.TestCase):
    def count(self, programs, **files):
        """Exit code and output for ctest's {program: status} and each program's own test cases."""
        with tempfile.TemporaryDirectory() as folder:
            cases = "".join(f'<testcase name="{name}" status="{status}" />' for name, status in programs.items())
            pathlib.Path(folder, "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")
            for name, tests in files.items():
                body = "".join(test.format(f"Test{i}") for i, test in enumerate(tests))
                pathlib.Path(folder, f"{name}_tests.xml").write_text(
                    f"<testsuites><testsuite>{body}</testsuite></testsuites>")
            result = subprocess.run([sys.executable, SCRIPT, folder], stdout=subprocess.PIPE, text=True)
        return result.returncode, result.stdout.splitlines()

    def test_all_passed(self):
        code, lines = self.count({"core": "run", "kernels": "run"}, core=[PASSED, PASSED, NOT_RUN],
                                 kernels=[PASSED, SKIPPED])
        self.assertEqual(code, 0)
        self.assertEqual(lines[-1], "3 passed, 0 failed, 1 skipped")
        self.assertIn("skipped: kernels: Suite.Test1: a.cc:2 needs AVX-512", lines)

    def test_a_failed_test(self):
        code, lines = self.count({"core": "fail"}, core=[PASSED, FAILED])
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: core: Suite.Test1: a.cc:4 1 is not 2", lines)

    def test_a_crash_leaves_no_file(self):
        code, lines = self.count({"core": "fail", "kernels": "run"}, kernels=[PASSED])
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_leak_at_exit(self):
        code, lines = self.count({"core": "fail"}, core=[PASSED])
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_program_without_a_file_is_one_test(self):
        self.assertEqual(self.count({"command_line": "run"})[1], ["1 passed, 0 failed, 0 skipped"])

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.count({"core": "run"}, core=[])[0], 1)


if __name__ == "__main__":
    unittest.main()
