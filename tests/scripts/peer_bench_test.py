"""peer_bench.py with made-up sides; no model, no peer, no network."""
import argparse
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import peer_bench  # noqa: E402
import peer_bench_tables  # noqa: E402

# Answers rows with its number times n; argv: milliseconds a row, log file.
SIDE = """
import json, sys
print("{}", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    open(sys.argv[2], "a").write(sys.argv[1] + request["op"] + "\\n")
    ms = float(sys.argv[1]) * request.get("n", 0)
    print(json.dumps({"samples_ms": [ms, ms + 2], "prefill_tokens_per_second": 1000 / float(sys.argv[1]),
                      "mean_nll": 3.5}), flush=True)
"""
SPINNING = "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()\n"
OPTIONS = argparse.Namespace(rows=[1, 4], rounds=2, repeat=2, prefill=512)


class PeerBenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = pathlib.Path(folder.name) / "log"

    def side(self, name, code, *arguments):
        side = peer_bench.Side(name, [sys.executable, "-c", code, *map(str, arguments)])
        self.addCleanup(side.close)
        return side

    def pair(self):
        return [self.side("llama.cpp", SIDE, 6, self.log), self.side("Forerun", SIDE, 3, self.log)]

    def test_sides_take_turns_and_the_order_changes(self):
        peer_bench.measure(self.pair(), OPTIONS, [1, 2])
        first, second = ["6rows", "3rows"], ["3rows", "6rows"]
        expected = first * 2 + ["6prefill", "3prefill"] + second * 2 + ["3prefill", "6prefill", "6nll", "3nll"]
        self.assertEqual(self.log.read_text().split(), expected)

    def test_ratios_are_speed_over_the_peer(self):
        found = peer_bench.measure(self.pair(), OPTIONS, [])
        result = peer_bench.summarize(found["llama.cpp"], found["Forerun"])
        row = result["rows"][1]
        self.assertEqual((row["n"], row["peer"]["ms"], row["forerun"]["median_ms"]), (4, 24, 13))
        self.assertEqual((row["ratio_ms"], row["ratio_median_ms"]), (2, 25 / 13))
        self.assertEqual(len(row["peer"]["samples_ms"]), 4)
        self.assertAlmostEqual(result["prefill_tokens_per_second"]["ratio"], 2)
        lines = peer_bench_tables.row_table(result["rows"]).split("\n")
        self.assertEqual([cell.strip() for cell in lines[3].strip("|").split("|")],
                         ["4", "24.00", "25.00", "4.00", "12.00", "13.00", "4.00", "2.00", "1.92"])
        self.assertEqual(len(set(map(len, lines))), 1)

    def test_a_side_that_spins_while_it_waits_is_seen(self):
        busy = self.side("llama.cpp", SPINNING + SIDE, 6, self.log)
        quiet = self.side("Forerun", SIDE.replace("    request", "    import time; time.sleep(0.5); request", 1), 3,
                          self.log)
        peer_bench.ask_both([busy, quiet], {"op": "nll"}, 0)
        self.assertGreater(busy.idle_cpu(), peer_bench_tables.MOST_IDLE_CPU)
        self.assertLess(quiet.idle_cpu(), busy.idle_cpu())

    def test_errors_are_one_line(self):
        failing = self.side("Forerun", "print('{}', flush=True)\ninput()\nprint('{\"error\": \"no room\"}')")
        with self.assertRaisesRegex(peer_bench.BenchError, "^Forerun: no room$"):
            failing.ask({"op": "rows"})
        with self.assertRaisesRegex(peer_bench.BenchError, "^Forerun ended with code 0$"):
            failing.ask({"op": "rows"})
        with self.assertRaisesRegex(peer_bench.BenchError, "^Forerun ended with code 3$"):
            self.side("Forerun", "import sys; sys.exit(3)")
        with self.assertRaisesRegex(peer_bench.BenchError, "/nowhere/forerun: No such file"):
            peer_bench.Side("Forerun", ["/nowhere/forerun"])
        with self.assertRaisesRegex(peer_bench.BenchError, "models/nowhere.gguf"):
            peer_bench.find_models(["nowhere"])


if __name__ == "__main__":
    unittest.main()
