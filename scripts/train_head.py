#!/usr/bin/env python3
"""Trains draft heads (EAGLE-3, Medusa) for a llama-architecture GGUF target on text that the target writes itself.

    scripts/train_head.py text     --work DIR --portion greedy [--minutes N]    (held_out, greedy, warm, hot, passages)
    scripts/train_head.py features --work DIR
    scripts/train_head.py train    --work DIR --kind eagle medusa --steps N
    scripts/train_head.py evaluate --work DIR --kind eagle medusa
    scripts/train_head.py export   --work DIR --kind eagle medusa --out experiments/heads
    scripts/train_head.py golden   --out tests/golden/heads [--heads DIR]

Several steps may be named at once; each goes on where it was stopped, and --work keeps text, features and checkpoints.
Needs PyTorch 2.4 or later and gguf, both of the Python index (Debian's torch has no fast products). Prompts are the
project's own; the held-out ones share no subject with the others.
"""
import argparse
import functools
import hashlib
import json
import os
import sys

import torch

from head_training import checkpoint, features, golden, losses, start, target as target_model, text, training
from head_training.eagle import EagleHead
from head_training.medusa import MedusaHeads

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
TRAINED_ON = ("greedy", "warm", "hot", "passages")
DRAFT_WORDS, LONGEST, START_SEQUENCES = 4096, 640, 200
STEPS_UNROLLED, STEPS_MEASURED, MEDUSA_HEADS, NEGATIVES = 3, 5, 4, 768
SINGLE_STEP_SHARE = 0.7  # of the planned training steps: one draft step each, then STEPS_UNROLLED
PEAK = {"eagle": 5e-4, "medusa": 6e-4}


@functools.lru_cache(maxsize=1)
def load_target(path):
    return target_model.Target(path)


def paths(options):
    return {name: os.path.join(options.work, name) for name in ("features", "held_out_features", "words.json")}


def write_text(options):
    code = text.write(options.work, options.portion, options.model, options.forerun, options.minutes)
    if code:
        sys.exit(code)


def write_features(options):
    target, where = load_target(options.model), paths(options)
    say = lambda line: print(line, flush=True)
    requests = [row for portion in TRAINED_ON for row in text.requests(options.work, portion, options.forerun)]
    if not os.path.exists(where["words.json"]):  # fixed by the first text: a head's rows keep their meaning
        words = features.frequent_words(requests, DRAFT_WORDS, target.vocab)
        with open(where["words.json"], "w") as file:
            json.dump([int(word) for word in words], file)
    features.cache(target, text.requests(options.work, "held_out", options.forerun), where["held_out_features"],
                   LONGEST, say)
    requests.sort(key=lambda row: hashlib.sha256(row[0].encode()).digest())  # any first part has all portions
    features.cache(target, requests[:options.limit], where["features"], LONGEST, say)


def cached(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".npz"))


def make_head(options, target):
    """An untrained head, with `words`: the draft vocabulary (EAGLE), or the words of the training loss (Medusa)."""
    with open(paths(options)["words.json"]) as file:
        words = torch.tensor(json.load(file))
    torch.manual_seed(options.seed)
    if options.kind == "eagle":
        head = EagleHead(checkpoint.eagle_config(target, len(words), target.taps(), target.heads, True))
        head.words = words
    else:
        head = MedusaHeads(MEDUSA_HEADS, target.width)
        head.words = words
    return head


def saved_head(options, target):
    head = make_head(options, target)
    state = torch.load(state_path(options), map_location="cpu")
    head.load_state_dict(state["model"])
    return head, state["step"]


def state_path(options):
    return os.path.join(options.work, options.kind + ".state")


def train(options):
    target = load_target(options.model)
    head, files = make_head(options, target), cached(paths(options)["features"])
    single = SINGLE_STEP_SHARE * (options.planned or options.steps)
    if not os.path.exists(state_path(options)):
        first = [features.Sequence(path) for path in files[:START_SEQUENCES]]
        if options.kind == "eagle":
            start.closed_form(head, target, first, lambda sequence: losses.eagle_loss(head, sequence, target, 1)[0])
        else:
            start.regress(head, target, first)

    def loss_of(sequence, step):
        if options.kind == "eagle":
            return losses.eagle_loss(head, sequence, target, 1 if step < single else STEPS_UNROLLED)
        generator = torch.Generator().manual_seed(step)  # words beyond the frequent ones must learn to stay low
        others = torch.randint(target.vocab, (NEGATIVES,), generator=generator)
        return losses.medusa_loss(head, sequence, target, torch.cat([head.words, others]).unique())

    training.train(head, loss_of, files, features.Sequence, state_path(options),
                   options.steps, options.batch, PEAK[options.kind], options.seed, lambda line: print(line, flush=True),
                   options.planned)


@torch.no_grad()
def evaluate(options):
    target = load_target(options.model)
    head, step = saved_head(options, target)
    tally = losses.Tally(STEPS_MEASURED if options.kind == "eagle" else MEDUSA_HEADS)
    for path in cached(paths(options)["held_out_features"]):
        sequence = features.Sequence(path)
        if len(sequence) - sequence.prompt < tally.steps + 2:
            continue
        tally.add(losses.proposals(options.kind, head, sequence, target, tally.steps))
    print(json.dumps({"kind": options.kind, "steps": step, **tally.result()}), flush=True)


def export(options):
    target = load_target(options.model)
    head, _ = saved_head(options, target)
    if options.kind == "eagle":
        checkpoint.write_eagle(os.path.join(options.out, golden.EAGLE_FOLDER), head, head.words.numpy())
    else:
        checkpoint.write_medusa(os.path.join(options.out, golden.MEDUSA_FOLDER), head, BASE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", nargs="+", choices=("text", "features", "train", "evaluate", "export", "golden"))
    parser.add_argument("--work", default="head_training")
    parser.add_argument("--model", default=os.path.join(ROOT, "models", "smollm2-135m-instruct-q4_1.gguf"))
    parser.add_argument("--forerun", default=os.path.join(ROOT, "build", "forerun"))
    parser.add_argument("--portion", choices=tuple(text.PORTIONS), default="greedy")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--kind", dest="kinds", nargs="+", choices=("eagle", "medusa"), default=["eagle"])
    parser.add_argument("--limit", type=int, help="features: of the first N answers alone")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--planned", type=int, help="where the falling rate ends (default: --steps)")
    parser.add_argument("--batch", type=int, default=3, help="sequences a step")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default="heads")
    parser.add_argument("--heads", help="golden: also the trained heads in this folder")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    actions = {"text": write_text, "features": write_features, "train": train, "evaluate": evaluate, "export": export,
               "golden": golden.write}
    for options.kind in options.kinds:
        for step in options.step:
            actions[step](options)


if __name__ == "__main__":
    main()
