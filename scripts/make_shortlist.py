#!/usr/bin/env python3
"""Makes a draft-head shortlist: the token ids that a draft model may propose (drafter.shortlist in a config).

    scripts/make_shortlist.py MODEL --out FILE.json [--size N] [--text FILE ...] [--prompts FILE.jsonl ...]

A draft model spends a large part of its forward on logits of words that it hardly ever proposes. The list has the ids
of all single bytes and control tokens, then those that occur in the text given, most frequent first, and is filled up
with the lowest ids: the merges of a BPE vocabulary are numbered in order of their frequency in its training text. The
text is --text FILES, and what MODEL itself answers to the prompts of --prompts; by default it answers the project's.
Every fifth document is not counted; how much of its text the list covers is printed (or of --held-out FILES).
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

from gguf_vocabulary import FormatError, Vocabulary
from peer_bench_sides import ROOT, BenchError, Side

HELD_OUT_EVERY = 5
TEXT_KEYS = ("prompt", "turns", "reference", "text")  # of a JSON line
PROMPTS = os.path.join(ROOT, "experiments", "prompts", "quickstart.jsonl")


def find_model(name):
    paths = [name, os.path.join(ROOT, "models", name), os.path.join(ROOT, "models", name + ".gguf")]
    found = next((path for path in paths if os.path.isfile(path)), None)
    if found is None:
        raise BenchError(f"model {name!r}: no such file, nor models/{name}.gguf; scripts/fetch_models.py fetches")
    return os.path.abspath(found)


def strings(value):
    return [value] if isinstance(value, str) else [text for part in value for text in strings(part)]


def read_documents(path):
    """Texts of a file: one a line of .jsonl (prompts, or the requests.jsonl of a run), else the file as a whole."""
    try:
        with open(path, encoding="utf-8") as file:
            if not path.endswith(".jsonl"):
                return [file.read()]
            lines = [json.loads(line) for line in file if line.strip()]
        return ["\n".join(strings([line[key] for key in TEXT_KEYS if key in line])) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise BenchError(f"{path}: {error}")


def tokenize(forerun, model, document):
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(document)
        file.flush()
        command = [forerun, "tokenize", "--model", model, "--file", file.name, "--ids"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise BenchError(result.stderr.strip())
    return json.loads(result.stdout)


def tokenize_files(forerun, model, paths):
    """One list of ids for each document."""
    return [tokenize(forerun, model, document) for path in paths for document in read_documents(path)]


def write(forerun, model, prompts, tokens, prompt_format):
    """The prompts' and the model's own greedy tokens, one list a prompt. Prompt lookup: the same tokens, sooner."""
    config = {"name": "shortlist", "target": model, "prompts": {"file": os.path.abspath(prompts)},
              "prompt_format": prompt_format, "max_new_tokens": tokens,
              "arms": [{"name": "plain", "drafter": {"type": "none"}},
                       {"name": "lookup", "drafter": {"type": "ngram", "num_speculative_tokens": 4,
                                                      "ngram": {"min": 2, "max": 4}}}]}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")
        with open(path, "w") as file:
            json.dump(config, file)
        side = Side("forerun serve", [forerun, "serve", path])
    try:
        lists = []
        for index, prompt in enumerate(side.about["prompts"]):
            lists.append(prompt["tokens"] + side.ask({"prompt": index, "arm": 1})["ids"])
            print(f"{os.path.basename(prompts)}: prompt {index + 1} of {len(side.about['prompts'])}", file=sys.stderr)
        return lists
    finally:
        side.close()


def choose(vocabulary, counts, size):
    """At most `size` ids, ascending: indispensable ones, then by count (ties: the lowest), then the lowest."""
    chosen = vocabulary.indispensable()
    if len(chosen) > size:
        raise BenchError(f"--size {size}: expected at least {len(chosen)}, the bytes and control tokens alone")
    usable = vocabulary.usable()
    for id in sorted((id for id in usable if counts[id] > 0), key=lambda id: (-counts[id], id)) + usable:
        if len(chosen) == size:
            break
        chosen.add(id)
    return sorted(chosen)


def ranges(ids):
    found = []
    for id in ids:
        if found and found[-1][1] == id - 1:
            found[-1][1] = id
        else:
            found.append([id, id])
    return found


def coverage(ids, counts):
    """The share of the tokens counted that are in the list; None where nothing was counted."""
    total = sum(counts.values())
    return sum(counts[id] for id in ids) / total if total else None


def count(lists):
    return collections.Counter(id for ids in lists for id in ids)


def report(vocabulary, ids, counted, held_out):
    lowest = choose(vocabulary, collections.Counter(), len(ids))
    print(f"{len(ids)} of {len(vocabulary.tokens)} ids in {len(ranges(ids))} ranges")
    for name, counts in (("counted", counted), ("held-out", held_out)):
        shares = [coverage(list, counts) for list in (ids, lowest)]
        if None not in shares:
            print(f"{name} text, {sum(counts.values())} tokens: {shares[0]:.2%} covered; the lowest ids alone "
                  f"{shares[1]:.2%}")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a path or a name under models/; any model of the same vocabulary will do")
    parser.add_argument("--out", required=True, help="the file to write")
    parser.add_argument("--size", type=int, default=32768, help="ids in the list")
    parser.add_argument("--text", nargs="+", default=[], help="texts to count; .jsonl: prompts or a run's requests")
    parser.add_argument("--prompts", nargs="+", default=[], help="prompts to answer (experiments/config/config.md)")
    parser.add_argument("--prompt-format", choices=("chat", "raw"), default="chat")
    parser.add_argument("--max-new-tokens", type=int, default=256, help="most tokens of an answer")
    parser.add_argument("--held-out", nargs="+", default=[], help="texts to measure the coverage on")
    parser.add_argument("--forerun", default=os.path.join(ROOT, "build", "forerun"), help="the built program")
    options = parser.parse_args(arguments)
    if not options.text and not options.prompts:
        options.prompts = [PROMPTS]
    return options


def main(arguments):
    options = parse(arguments)
    model = find_model(options.model)
    vocabulary = Vocabulary(model)
    lists = tokenize_files(options.forerun, model, options.text)
    for prompts in options.prompts:
        lists += write(options.forerun, model, prompts, options.max_new_tokens, options.prompt_format)
    held_out = tokenize_files(options.forerun, model, options.held_out)
    if not options.held_out:
        held_out = lists[HELD_OUT_EVERY - 1::HELD_OUT_EVERY]
        lists = [ids for index, ids in enumerate(lists) if index % HELD_OUT_EVERY != HELD_OUT_EVERY - 1]
    counted = count(lists)
    ids = choose(vocabulary, counted, options.size)
    with open(options.out, "w") as file:
        json.dump({"vocab_size": len(vocabulary.tokens), "ranges": ranges(ids)}, file, separators=(",", ":"))
        file.write("\n")
    report(vocabulary, ids, counted, count(held_out))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (BenchError, FormatError, OSError) as failure:
        sys.exit(f"make_shortlist.py: {failure}")
