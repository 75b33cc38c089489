"""train_head.py: prompts that keep apart, published layouts, and (where PyTorch is) heads, measure and resuming."""
import json
import pathlib
import struct
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from head_training import prompts, topics  # noqa: E402

try:
    import torch
    from head_training import checkpoint, eagle, features, golden, losses, medusa, start, target, training
except ImportError as error:
    torch = None
    MISSING = str(error)
else:
    MISSING = ""

try:
    import gguf
except ImportError:
    gguf = None

GOLDEN = ROOT / "tests" / "golden" / "heads"


def header(path):
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + length]), len(data) - 8 - length


class PromptsTest(unittest.TestCase):
    def test_same_seed_same_prompts(self):
        self.assertEqual(prompts.make("train", 50, 1), prompts.make("train", 50, 1))
        self.assertNotEqual(prompts.make("train", 50, 1), prompts.make("train", 50, 2))

    def test_parts_share_no_topic(self):
        for table in (topics.SUBJECTS, topics.PEOPLE, topics.PLACES, topics.TASKS, topics.SENTENCES, topics.NAMES,
                      topics.THINGS):
            self.assertFalse(set(topics.split(table, "train")) & set(topics.split(table, "held_out")))

    def test_prompts_differ(self):
        rows = prompts.make("train", 2400, 1)
        self.assertEqual(len({row["prompt"] for row in rows}), len(rows))
        held_out = {row["prompt"] for row in prompts.make("held_out", 60, 2)}
        shared = held_out & {row["prompt"] for row in rows}
        self.assertLessEqual(len(shared), 1, shared)  # sums of bare numbers may meet


class LayoutTest(unittest.TestCase):
    def test_eagle_names_and_shapes(self):
        entries, size = header(GOLDEN / "tiny-eagle3" / "model.safetensors")
        config = json.loads((GOLDEN / "tiny-eagle3" / "config.json").read_text())
        entries.pop("__metadata__")
        width, words = config["hidden_size"], config["draft_vocab_size"]
        self.assertEqual(entries["fc.weight"]["shape"], [width, 3 * config["target_hidden_size"]])
        self.assertEqual(entries["midlayer.self_attn.k_proj.weight"]["shape"],
                         [config["num_key_value_heads"] * config["head_dim"], 2 * width])
        self.assertEqual(entries["lm_head.weight"]["shape"], [words, width])
        self.assertEqual((entries["d2t"]["dtype"], entries["d2t"]["shape"]), ("I64", [words]))
        self.assertEqual(entries["t2d"]["shape"], [config["vocab_size"]])
        self.assertEqual(sorted(name for name in entries if "norm" in name),
                         ["midlayer.hidden_norm.weight", "midlayer.input_layernorm.weight",
                          "midlayer.post_attention_layernorm.weight", "norm.weight"])
        self.assertEqual(max(entry["data_offsets"][1] for entry in entries.values()), size)

    def test_medusa_has_blocks_alone(self):
        entries, _ = header(GOLDEN / "tiny-medusa" / "medusa_lm_head.safetensors")
        entries.pop("__metadata__")
        self.assertEqual(sorted(entries), sorted(f"{head}.0.linear.{part}" for head in range(3)
                                                 for part in ("weight", "bias")))


@unittest.skipIf(torch is None, f"needs PyTorch: {MISSING}")
class HeadTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.head = eagle.EagleHead(checkpoint.eagle_config(golden.TINY, golden.TINY_WORDS, [2, 4, 5]))

    def golden_chain(self, shift):
        """Largest difference to the golden logits, with the taps moved by `shift` rows."""
        with open(GOLDEN / "tiny-eagle3.json") as file:
            found = json.load(file)
        checkpoint.load_state(self.head, str(GOLDEN / "tiny-eagle3" / "model.safetensors"))
        tensor = lambda values: torch.tensor(values).view(-1, golden.TINY.width)
        taps = torch.stack([tensor(tap) for tap in found["taps"]]).roll(shift, 0)
        embedding, words = tensor(found["embedding"]), torch.tensor(found["words"])
        chain = golden.greedy_chain(self.head, words, taps, lambda ids: embedding[ids], torch.tensor(found["ids"]), 4)
        return max(float((logits - torch.tensor(step["logits"])).abs().max())
                   for (_, logits), step in zip(chain, found["steps"]))

    def test_golden_chain(self):
        self.assertLess(self.golden_chain(0), 1e-4)
        self.assertGreater(self.golden_chain(1), 0.1)  # control: taps in another order

    @torch.no_grad() if torch else (lambda test: test)
    def test_unrolled_rows_are_chains(self):
        taps, embeddings = torch.randn(3, 7, 16), torch.randn(7, 16)
        unrolled = list(self.head.unroll(taps, embeddings, 3))
        for row in (0, 3, 4):
            feature = self.head.features(taps[:, :row + 1])
            q, keys, values = self.head.keys(embeddings[:row + 1], feature, torch.arange(row + 1))
            feature = self.head.finish(feature, self.head.mix(q, (keys, values), []))[-1:]
            for step in range(3):
                self.assertLess(float((feature[0] - unrolled[step][row]).abs().max()), 1e-5)
                if step < 2:
                    at = row + 1 + step
                    q, key, value = self.head.keys(embeddings[at:at + 1], feature, torch.tensor([at]))
                    keys, values = torch.cat([keys, key], 1), torch.cat([values, value], 1)
                    feature = self.head.finish(feature, self.head.mix(q, (keys, values), []))

    def test_untrained_medusa_repeats_the_base(self):
        x = torch.randn(5, 16)
        self.assertTrue(torch.equal(medusa.MedusaHeads(2, 16)(x)[1], x))


@unittest.skipIf(torch is None, f"needs PyTorch: {MISSING}")
class MeasureTest(unittest.TestCase):
    def test_tally_walks_rounds(self):
        tally = losses.Tally(2)
        tally.add(torch.tensor([[True, False], [True, True], [True, True], [False, True], [False, False], [True, True],
                                [True, True]]))
        # rows 0 (1 accepted), 2 (2), 5 (2): 3 rounds, 5 accepted
        self.assertEqual(tally.result(), {"tau": 2.667, "rounds": 3, "conditional": [1.0, 0.667]})

    def test_hits_line_up_with_the_text(self):
        sequence = type("Text", (), {"ids": torch.arange(10, 20), "__len__": lambda self: 10})()
        best = [torch.arange(14, 20), torch.arange(15, 20)]  # rows 2, 3, ... speak about tokens 4, 5, ...
        self.assertEqual(losses.hits(best, sequence, 2).long().sum(0).tolist(), [6, 5])
        self.assertEqual(losses.hits([best[0] + 1], sequence, 2).long().sum().item(), 0)


@unittest.skipIf(torch is None, f"needs PyTorch: {MISSING}")
class TrainingTest(unittest.TestCase):
    def weights(self, folder, name, stops):
        torch.manual_seed(5)
        model = torch.nn.Linear(4, 1)
        loss_of = lambda x, step: ((model(x) - x.sum()).pow(2).sum(), 1.0)
        for steps in stops:
            training.train(model, loss_of, list(range(8)), lambda index: torch.full((4,), 0.1 * index),
                           str(pathlib.Path(folder, name)), steps, 3, 0.01, 1, lambda line: None, planned=20)
        return model.weight.detach()

    def test_resumed_training_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = self.weights(folder, "whole", [20])
            self.assertTrue(torch.equal(whole, self.weights(folder, "parts", [7, 20])))
            self.assertFalse(torch.equal(whole, self.weights(folder, "fewer", [7])))


@unittest.skipIf(torch is None or gguf is None, "needs PyTorch and the Python package gguf")
class TargetTest(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.target = target.Target(str(ROOT / "tests" / "data" / "tiny-python" / "tiny-python-target-f16.gguf"))
        with open(ROOT / "tests" / "golden" / "oracle" / "tiny-python-target-f16.json") as file:
            self.cases = json.load(file)["cases"]

    def test_likelihood_is_the_oracles(self):
        case = self.cases[0]
        ids = torch.tensor(case["ids"][:128])
        _, final = self.target.forward(ids)
        found = torch.nn.functional.cross_entropy(final[:-1] @ self.target.lm_head.T, ids[1:], reduction="none")
        self.assertLess(float((found - torch.tensor(case["nll"][:127])).abs().max()), 2e-3)

    def test_features_to_a_trained_head(self):
        with tempfile.TemporaryDirectory() as folder:
            requests = [(f"r{index}", case["ids"][:20], case["ids"][20:60]) for index, case in enumerate(self.cases)]
            files = features.cache(self.target, requests, folder, 64, lambda line: None)
            head = eagle.EagleHead(checkpoint.eagle_config(self.target, 512, self.target.taps(), self.target.heads, True))
            head.words = torch.from_numpy(features.frequent_words(requests, 512, self.target.vocab))
            loss_of = lambda sequence, step: losses.eagle_loss(head, sequence, self.target, 3)
            mean = lambda: sum(float(total.detach() / weight) for total, weight in
                               (loss_of(features.Sequence(path), 0) for path in files)) / len(files)
            untrained = mean()
            start.closed_form(head, self.target, [features.Sequence(path) for path in files],
                              lambda sequence: loss_of(sequence, 0)[0])
            before = mean()
            self.assertLess(before, 0.8 * untrained)
            training.train(head, loss_of, files, features.Sequence, str(pathlib.Path(folder, "state")), 12, 2, 1e-3, 1,
                           lambda line: None)
            self.assertLess(mean(), 0.96 * before)


if __name__ == "__main__":
    unittest.main()
