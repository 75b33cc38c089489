"""peer_bench.py with made-up sides; no model, no peer, no network."""
import argparse
import pathlib
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import peer_bench  # noqa: E402
import peer_bench_busy  # noqa: E402
import peer_bench_forwards  # noqa: E402
import peer_bench_sides as sides  # noqa: E402
import peer_bench_tables  # noqa: E402

# Answers rows with its number times n, twice that after 2048 tokens; argv: milliseconds a row, log file.
SIDE = """
import json, sys
print("{}", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    open(sys.argv[2], "a").write(sys.argv[1] + request["op"] + "\\n")
    ms = float(sys.argv[1]) * request.get("n", 0) * (2 if request.get("context") == 2048 else 1)
    print(json.dumps({"samples_ms": [ms, ms + 2] * (request.get("repeat", 2) // 2), "mean_nll": 3.5,
                      "prefill_tokens_per_second": 1000 / float(sys.argv[1])}), flush=True)
"""
SPINNING = "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()\n"
OPTIONS = argparse.Namespace(rows=[1, 4], rounds=2, repeat=2, prefill=512, contexts=[64])


class PeerBenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = pathlib.Path(folder.name) / "log"

    def side(self, name, code, *arguments):
        side = sides.Side(name, [sys.executable, "-c", code, *map(str, arguments)])
        self.addCleanup(side.close)
        return side

    def pair(self):
        return [self.side("llama.cpp", SIDE, 6, self.log), self.side("Forerun", SIDE, 3, self.log)]

    def test_sides_take_turns_and_the_order_changes(self):
        peer_bench_forwards.measure(self.pair(), OPTIONS, [1, 2])
        first, second = ["6rows", "3rows"], ["3rows", "6rows"]
        expected = first * 2 + ["6prefill", "3prefill"] + second * 2 + ["3prefill", "6prefill", "6nll", "3nll"]
        self.assertEqual(self.log.read_text().split(), expected)

    def test_ratios_are_speed_over_the_peer(self):
        found = peer_bench_forwards.measure(self.pair(), OPTIONS, [])
        result = peer_bench_forwards.summarize(found["llama.cpp"], found["Forerun"])
        row = result["rows"][1]
        self.assertEqual((row["n"], row["peer"]["ms"], row["forerun"]["median_ms"]), (4, 24, 13))
        self.assertEqual((row["ratio_ms"], row["ratio_median_ms"]), (2, 25 / 13))
        self.assertEqual(len(row["peer"]["samples_ms"]), 4)
        self.assertAlmostEqual(result["prefill_tokens_per_second"]["ratio"], 2)
        lines = peer_bench_tables.row_table(result["rows"]).split("\n")
        self.assertEqual([cell.strip() for cell in lines[3].strip("|").split("|")],
                         ["4", "24.00", "25.00", "4.00", "12.00", "13.00", "4.00", "2.00", "1.92"])
        self.assertEqual(len(set(map(len, lines))), 1)

    def test_contexts_are_compared_within_a_run(self):
        options = argparse.Namespace(**{**vars(OPTIONS), "contexts": [64, 2048]})
        found = peer_bench_forwards.measure(self.pair(), options, [])
        rows = peer_bench_forwards.summarize(found["llama.cpp"], found["Forerun"])["rows"]
        self.assertEqual([(row["context"], row["n"], row["forerun"]["ms"]) for row in rows],
                         [(64, 1, 3), (64, 4, 12), (2048, 1, 6), (2048, 4, 24)])
        line = peer_bench_tables.depth_table(rows).split("\n")[3]
        self.assertEqual([cell.strip() for cell in line.strip("|").split("|")],
                         ["4", "24.00", "48.00", "+100%", "12.00", "24.00", "+100%"])

    def test_the_busy_case_takes_turns_and_lasts_long_enough(self):
        switched = []
        spinner = argparse.Namespace(switch=switched.append)
        found = peer_bench_busy.measure(self.pair(), spinner, rounds=2, seconds=0.1, context=64)
        self.assertEqual(switched, [False, False, True, False] * 2 + [True, False, False, False] * 2)
        for cases in found.values():
            for samples in cases.values():
                self.assertGreater(sum(samples), 90)  # milliseconds; the made-up forwards differ in length
        samples = {"quiet": [2, 2, 2], "busy": [2.5, 2.5, 10]}
        kept = peer_bench_busy.summarize({"Forerun": samples})["Forerun"]
        self.assertEqual((kept["kept"], kept["kept_mean"]), (0.8, 0.4))

    def test_the_spinner_uses_a_core_only_while_on(self):
        def used():
            with open(f"/proc/{spinner.process.pid}/stat") as file:
                return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))

        spinner = peer_bench_busy.Spinner()
        self.addCleanup(spinner.close)
        time.sleep(0.1)
        before = used()
        time.sleep(0.2)
        self.assertEqual(used(), before)
        spinner.switch(True)
        deadline = time.monotonic() + 30
        while used() < before + 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertGreaterEqual(used(), before + 5)

    def test_options_reach_the_sides(self):
        program = self.log.with_suffix(".sh")
        program.write_text(f"#!/bin/sh\necho \"$@\" >> {self.log}\necho '{{}}'\n")
        program.chmod(0o755)
        options = peer_bench.parse(["--isa", "avx2", "--full-logits", "--threads", "3", "--forerun", str(program)])
        sides.close_all(sides.forward_sides(options, str(program), "/m.gguf"))
        peer, forerun = self.log.read_text().splitlines()
        self.assertRegex(peer, "peer_bench_worker.py .*m.gguf --threads 3$")
        self.assertRegex(forerun, "^bench model .*m.gguf --threads 3 --serve --isa avx2 --full-logits$")

    def test_a_side_that_spins_while_it_waits_is_seen(self):
        busy = self.side("llama.cpp", SPINNING + SIDE, 6, self.log)
        quiet = self.side("Forerun", SIDE.replace("    request", "    import time; time.sleep(0.5); request", 1), 3,
                          self.log)
        sides.ask_both([busy, quiet], {"op": "nll"}, 0)
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
            sides.Side("Forerun", ["/nowhere/forerun"])
        with self.assertRaisesRegex(peer_bench.BenchError, "models/nowhere.gguf"):
            peer_bench.find_models(["nowhere"])


if __name__ == "__main__":
    unittest.main()
