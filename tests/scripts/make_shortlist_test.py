"""make_shortlist.py on a made-up vocabulary and program; no model."""
import collections
import contextlib
import io
import json
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import gguf_vocabulary  # noqa: E402
import make_shortlist  # noqa: E402

# Bytes, words and marks, the mark in the middle and padding at the end.
TOKENS = ["a", "b", "Ġ", "ab", "aba", "<|end|>", "bb", "bab", "é", "[PAD9]"]
KINDS = [1, 1, 1, 1, 1, 3, 1, 1, 1, 5]

# `tokenize` gives a number's digits as ids; `serve` answers every prompt with 7, 7.
PROGRAM = """#!%s
import json, sys
if sys.argv[1] == "tokenize":
    print(json.dumps([int(digit) for digit in open(sys.argv[sys.argv.index("--file") + 1]).read() if digit.isdigit()]))
else:
    config = json.load(open(sys.argv[2]))
    lines = [json.loads(line) for line in open(config["prompts"]["file"])]
    print(json.dumps({"prompts": [{"tokens": line["ids"]} for line in lines]}), flush=True)
    for line in sys.stdin:
        assert config["arms"][json.loads(line)["arm"]]["drafter"]["type"] == "ngram"
        print(json.dumps({"ids": [7, 7]}), flush=True)
"""


def gguf(tokens=TOKENS, kinds=KINDS, model="gpt2"):
    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def entry(key, kind, value):
        return text(key) + struct.pack("<I", kind) + value

    entries = [entry("general.name", 8, text("toy")), entry("general.flag", 7, b"\1"),
               entry("nested", 9, struct.pack("<IQ", 9, 1) + struct.pack("<IQB", 0, 1, 5)),
               entry("tokenizer.ggml.model", 8, text(model)),
               entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, len(tokens)) + b"".join(map(text, tokens))),
               entry("tokenizer.ggml.token_type", 9,
                     struct.pack("<IQ", 5, len(kinds)) + struct.pack(f"<{len(kinds)}i", *kinds))]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


class MakeShortlistTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.model = self.root / "toy.gguf"
        self.model.write_bytes(gguf())
        self.program = self.root / "forerun"
        self.program.write_text(PROGRAM % sys.executable)
        self.program.chmod(0o755)

    def write(self, name, text):
        path = self.root / name
        path.write_text(text)
        return str(path)

    def make(self, *arguments):
        """The file made, and what was printed."""
        out, shown = self.root / "list.json", io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
            make_shortlist.main([str(self.model), "--out", str(out), "--forerun", str(self.program), *arguments])
        return json.loads(out.read_text()), shown.getvalue()

    def test_bytes_and_marks_first_then_by_count_then_the_lowest(self):
        vocabulary = gguf_vocabulary.Vocabulary(self.model)
        self.assertEqual(vocabulary.indispensable(), {0, 1, 2, 5, 8})
        counts = collections.Counter({7: 3, 6: 1, 4: 1, 9: 5})
        choose = make_shortlist.choose
        self.assertEqual(choose(vocabulary, counts, 5), [0, 1, 2, 5, 8])
        self.assertEqual(choose(vocabulary, counts, 6), [0, 1, 2, 5, 7, 8])
        self.assertEqual(choose(vocabulary, counts, 7), [0, 1, 2, 4, 5, 7, 8])  # of equal counts the lowest
        self.assertEqual(choose(vocabulary, collections.Counter(), 6), [0, 1, 2, 3, 5, 8])
        self.assertEqual(choose(vocabulary, counts, 100), list(range(9)))  # padding never
        with self.assertRaisesRegex(make_shortlist.BenchError, "^--size 4: expected at least 5"):
            choose(vocabulary, counts, 4)

    def test_byte_tokens_of_other_vocabularies(self):
        self.model.write_bytes(gguf(["<unk>", "<0x41>", "a", "b"], [2, 6, 1, 1], "llama"))
        self.assertEqual(gguf_vocabulary.Vocabulary(self.model).indispensable(), {0, 1})

    def test_text_is_counted_and_the_rest_measured(self):
        made, shown = self.make("--size", "6", "--text", self.write("a.txt", "7777"), "--held-out",
                                self.write("b.txt", "7634"))
        self.assertEqual(made, {"vocab_size": 10, "ranges": [[0, 2], [5, 5], [7, 8]]})
        self.assertIn("counted text, 4 tokens: 100.00% covered; the lowest ids alone 0.00%", shown)
        self.assertIn("held-out text, 4 tokens: 25.00% covered; the lowest ids alone 25.00%", shown)

    def test_every_fifth_document_is_not_counted(self):
        lines = [{"prompt": text} for text in ("4", "4", "4", "4", "6666")]
        made, shown = self.make("--size", "6", "--text", self.write("a.jsonl", "\n".join(map(json.dumps, lines))))
        self.assertEqual(made["ranges"], [[0, 2], [4, 5], [8, 8]])
        self.assertIn("held-out text, 4 tokens: 0.00% covered", shown)

    def test_the_model_answers_prompts(self):
        made, shown = self.make("--size", "7", "--prompts", self.write("p.jsonl", '{"ids": [3]}\n'))
        self.assertEqual(made["ranges"], [[0, 3], [5, 5], [7, 8]])  # 7 was its answer, 3 its prompt
        self.assertIn("counted text, 3 tokens: 100.00% covered", shown)

    def test_errors_are_one_line(self):
        for damage, part in ((b"GGUF", "ends within its header"), (b"nothing here", "no GGUF file"),
                             (gguf(kinds=[1]), "10 tokens and 1 token types"),
                             (gguf()[:-30], "ends within its header"),
                             (b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "has no tokenizer.ggml.model")):
            self.model.write_bytes(damage)
            with self.assertRaisesRegex(gguf_vocabulary.FormatError, f"toy.gguf: .*{part}"):
                gguf_vocabulary.Vocabulary(self.model)
        with self.assertRaisesRegex(make_shortlist.BenchError, "models/nowhere.gguf"):
            make_shortlist.find_model("nowhere")
        with self.assertRaisesRegex(make_shortlist.BenchError, "absent.txt"):
            make_shortlist.read_documents(str(self.root / "absent.txt"))

    def test_shipped_lists_are_well_formed(self):
        folder = pathlib.Path(make_shortlist.ROOT) / "experiments" / "shortlists"
        for path in folder.glob("*.json"):
            made = json.loads(path.read_text())
            self.assertEqual(set(made), {"vocab_size", "ranges"})
            flat = [-2] + [id for pair in made["ranges"] for id in pair]
            self.assertEqual(flat, sorted(flat))
            self.assertLess(flat[-1], made["vocab_size"])
            gaps = [(before, first) for (_, before), (first, _) in zip(made["ranges"], made["ranges"][1:])]
            self.assertTrue(all(first > before + 1 for before, first in gaps))
            self.assertLess(path.stat().st_size, 300_000)


if __name__ == "__main__":
    unittest.main()
