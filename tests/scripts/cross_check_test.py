"""The arithmetic of cross_check.py on made-up lists: it must find a wrong length, and a wrong token."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import cross_check  # noqa: E402

PROMPT = [7, 8]
OUTPUT = [1, 2, 3, 4, 5]
TARGET = [[8, 1.0], [1, 1.0], [2, 1.0], [3, 1.0], [4, 1.0], [5, 1.0]]  # after each id but the last
DRAFT = [[0, 1.0], [1, 1.0], [2, 1.0], [9, 0.5], [4, 1.0], [0, 1.0]]  # wrong at the third and fifth


def rows(*lengths):
    made, committed = [], len(PROMPT)
    for accepted, budget in lengths:
        made.append({"committed": committed, "budget": budget, "drafted": budget, "accepted": accepted})
        committed += accepted + 1
    return made


class CrossCheckTest(unittest.TestCase):
    def wrong(self, rounds, output=OUTPUT, target=TARGET):
        return cross_check.check_prompt(PROMPT, output, rounds, target, DRAFT)

    def test_right_lengths_pass(self):
        self.assertEqual(self.wrong(rows((2, 4), (1, 1))), [])
        self.assertEqual(self.wrong(rows((1, 1), (0, 1), (1, 1))), [])

    def test_a_length_too_short_or_too_long_is_found_with_its_margin(self):
        self.assertIn("round 0: accepted 1, expected 2", self.wrong(rows((1, 4)))[0])
        self.assertIn("round 0: accepted 3, expected 2; the draft's margin there is 0.5", self.wrong(rows((3, 4)))[0])

    def test_a_budget_that_was_not_used_is_found(self):
        lines = rows((2, 4))
        lines[0]["drafted"] = 3
        self.assertIn("drafted 3 of 4", self.wrong(lines)[0])

    def test_a_token_that_the_target_would_not_write_is_found(self):
        self.assertIn("token 4 is 6, its best 5", self.wrong(rows(), output=[1, 2, 3, 4, 6])[0])


if __name__ == "__main__":
    unittest.main()
