"""The speculative comparison of peer_bench.py with made-up sides; no model, no peer, no network."""
import argparse
import array
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import peer_bench_sides as sides  # noqa: E402
import peer_bench_speculative as speculative  # noqa: E402
import peer_bench_tables  # noqa: E402

# A side of `seconds a token`, twice as fast in its second arm, which writes two tokens a round; logs what it is asked.
SIDE = """
import json, sys
name, seconds, log, prompts = sys.argv[1], float(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
print(json.dumps({"baseline": "plain", "arms": [{"name": "fast"}, {"name": "plain"}], "end_tokens": [9],
                  "isa": name, "threads": 2, "version": "1", "prompts": prompts}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    fast = request["arm"] in (0, "fast")
    open(log, "a").write(f"{name} {json.dumps(request)}\\n")
    print(json.dumps({"ids": [1, 2, 3, 4], "rounds": 2 if fast else 4, "decode_seconds": 4 * seconds / (1 + fast),
                      "seconds": {"draft": seconds if fast else 0}}), flush=True)
"""
PROMPTS = [{"id": str(i), "tokens": [i, i + 1]} for i in range(2)]


def fake_peer_modules():
    """What peer_bench_decoding.py needs of the peer, so that its own logic runs without it."""
    class LlamaDraftModel:
        pass

    package = types.ModuleType("llama_cpp")
    package.Llama = object
    package.llama_log_callback = lambda function: function
    inner = types.ModuleType("llama_cpp.llama_speculative")
    inner.LlamaDraftModel = inner.LlamaPromptLookupDecoding = LlamaDraftModel
    numpy = types.ModuleType("numpy")
    numpy.intc, numpy.array = int, lambda values, dtype: list(values)
    return {"llama_cpp": package, "llama_cpp.llama_speculative": inner, "numpy": numpy}


class CountingModel:
    """The next token is the last plus one; `kv` is what a real one's cache would hold."""

    def __init__(self):
        self.kv, self.computed = [], 0

    def clear(self):
        self.kv = []

    def drop_from(self, position):
        del self.kv[position:]

    def fill(self, tokens, first=0):
        assert first == len(self.kv)
        self.kv += tokens
        self.computed += len(tokens)
        return 0.5

    def decode(self, tokens, first, wanted):
        self.fill(list(tokens), first)

    def logits(self, row):
        return types.SimpleNamespace(argmax=lambda: self.kv[-1] + 1)


class PeerBenchSpeculativeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = pathlib.Path(folder.name) / "log"

    def pair(self):
        pair = []
        for name, seconds in (("llama.cpp", 6.0), ("Forerun", 3.0)):
            command = [sys.executable, "-c", SIDE, name, str(seconds), str(self.log), json.dumps(PROMPTS)]
            pair.append(sides.Side(name, command))
            self.addCleanup(pair[-1].close)
        return pair

    def test_every_arm_stands_between_two_runs_of_both_plain_arms(self):
        pair = self.pair()
        speculative.measure(pair, pair[1].about, 8)
        asked = [line.split(" ", 1) for line in self.log.read_text().splitlines()]
        arms = [(name, json.loads(request)["arm"]) for name, request in asked]
        there = [("llama.cpp", "plain"), ("Forerun", 1), ("llama.cpp", "fast"), ("Forerun", 0), ("llama.cpp", "plain"),
                 ("Forerun", 1)]
        self.assertEqual(arms, there + there[::-1])
        self.assertEqual(json.loads(asked[0][1]),
                         {"arm": "plain", "ids": [0, 1], "end_tokens": [9], "max_new_tokens": 8})

    def test_speeds_and_ratios(self):
        pair = self.pair()
        found = speculative.measure(pair, pair[1].about, 8)
        rows = speculative.summarize(found, {"llama.cpp": "plain", "Forerun": "plain"})
        fast = rows[-1]
        self.assertEqual((fast["side"], fast["arm"], fast["tokens_per_round"], fast["same_ids"]),
                         ("Forerun", "fast", 2, 2))
        self.assertAlmostEqual(fast["tokens_per_second"], 2 / 3)
        self.assertEqual(fast["draft_share"], 0.5)
        self.assertEqual(fast["against"]["llama.cpp"]["speedup"], 4)
        self.assertEqual(fast["against"]["Forerun"]["per_prompt"], [2, 2])
        self.assertIsNone(fast["against"]["Forerun"]["interval"])
        table = peer_bench_tables.speculative_table(rows, 2).split("\n")
        self.assertEqual(len(set(map(len, table))), 1)
        self.assertIn("2.00, 2.00, 2.00", table[-1])

    def test_prompts_weigh_by_their_time(self):
        # 10 tokens in 10 s where the baseline needs 2 s each, and 10 in 30 s where it needs 3.
        self.assertEqual(speculative.speedup([(10, 10.0, 2.0), (10, 30.0, 3.0)]), 50 / 40)
        low, high = speculative.interval([(10, 10.0, 2.0), (10, 30.0, 3.0)] * 4)
        self.assertTrue(1 < low < 50 / 40 < high < 2, (low, high))
        self.assertEqual(speculative.interval([(1, 1.0, 2.0)] * 4), [2, 2])

    def test_sampled_arms_are_refused(self):
        config = self.log.with_suffix(".json")
        config.write_text("{}")
        program = self.log.with_suffix(".sh")
        about = {"arms": [{"name": "warm", "sampling": {"temperature": 0.8}}], "prompts": []}
        program.write_text(f"#!/bin/sh\necho \"$@\" > {self.log}\necho '{json.dumps(about)}'\n")
        program.chmod(0o755)
        options = argparse.Namespace(forerun=str(program), config=str(config), threads=2, isa="avx2", limit=3,
                                     max_new_tokens=8, prompts="other.jsonl")
        with self.assertRaisesRegex(sides.BenchError, "warm: expected greedy"):
            speculative.open_forerun(options)
        for part in ('engine={"threads": 2, "isa": "avx2"}', 'other.jsonl"}', "--limit 3", "max_new_tokens=8"):
            self.assertIn(part, self.log.read_text())


class PeerBenchDecodingTest(unittest.TestCase):
    def setUp(self):
        with mock.patch.dict(sys.modules, fake_peer_modules()):
            import peer_bench_decoding
            self.decoding = peer_bench_decoding

    def test_the_draft_keeps_what_its_cache_shares_with_the_text(self):
        model = CountingModel()
        draft = self.decoding.ModelDraft(model, 3)
        self.assertEqual(draft(array.array("i", [5, 6, 7])), [8, 9, 10])
        self.assertEqual((model.kv, model.computed), ([5, 6, 7, 8, 9], 5))
        # Two of three were accepted, then a correction: of the five positions held, all before it stay.
        self.assertEqual(draft(array.array("i", [5, 6, 7, 8, 9, 20])), [21, 22, 23])
        self.assertEqual((model.kv, model.computed), ([5, 6, 7, 8, 9, 20, 21, 22], 8))
        # Another prompt altogether; then the very same text again, whose last logits are computed anew.
        self.assertEqual(draft(array.array("i", [1])), [2, 3, 4])
        self.assertEqual(draft(array.array("i", [1])), [2, 3, 4])
        self.assertEqual(model.kv, [1, 2, 3])

    def test_plain_decoding_starts_with_the_prompts_last_token(self):
        decoder = self.decoding.Decoder.__new__(self.decoding.Decoder)
        decoder.peer = CountingModel()
        answer = decoder.plain([5, 6], {99}, 3)
        self.assertEqual((answer["ids"], answer["rounds"], answer["prefill_seconds"]), ([7, 8, 9], 3, 0.5))
        self.assertEqual(decoder.peer.kv, [5, 6, 7, 8])
        self.assertEqual(decoder.plain([5, 6], {8}, 10)["ids"], [7, 8])
        self.assertEqual(decoder.plain([8], {8}, 1)["ids"], [9])  # an end token of the prompt ends nothing


if __name__ == "__main__":
    unittest.main()
