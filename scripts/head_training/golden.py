"""Answers of heads, float32, for the C++ side to be checked against: tiny random heads, and the trained ones.

Tiny: small files with everything in them (weights, features, embeddings). Trained: token ids alone, since the features
come from the target; `off_by_one` is what features tapped one layer too early give, which must be told apart.
"""
import json
import os

import torch

from . import checkpoint, golden_tiny
from .eagle import EagleHead
from .golden_tiny import TINY, rounded
from .medusa import MedusaHeads
from .target import Target

EAGLE_FOLDER, MEDUSA_FOLDER = "smollm2-135m-eagle3", "smollm2-135m-medusa"
TINY_WORDS, ROWS, STEPS, TOP = 20, 6, 4, 8
# "The lighthouse keeper opened the door and looked out over the sea. The wind had grown", by the target's tokenizer.
TEXT = [504, 33059, 40061, 6572, 260, 6644, 284, 5328, 578, 690, 260, 3426, 30, 378, 2251, 761, 5951]


def top(logits, words):
    values, rows = logits.topk(TOP)
    return [[int(words[row]), round(float(value), 5)] for row, value in zip(rows, values)]


@torch.no_grad()
def greedy_chain(head, words, taps, embed, ids, steps):
    """[(feature, logits)] of a greedy chain after `ids`; taps of all but the last id, the root."""
    feature = head.features(taps)
    q, keys, values = head.keys(embed(ids[1:]), feature, torch.arange(len(ids) - 1))
    feature = head.finish(feature, head.mix(q, (keys, values), []))[-1:]
    found = []
    for step in range(steps):
        logits = head.logits(feature)[0]
        found.append((feature[0], logits))
        token = words[logits.argmax()].view(1)
        q, key, value = head.keys(embed(token), feature, torch.tensor([len(ids) - 1 + step]))
        keys, values = torch.cat([keys, key], 1), torch.cat([values, value], 1)
        feature = head.finish(feature, head.mix(q, (keys, values), []))
    return found


def tiny_eagle(folder):
    torch.manual_seed(1)
    head = EagleHead(checkpoint.eagle_config(TINY, TINY_WORDS, [2, 4, 5]))
    for parameter in head.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.3)
        else:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    words = torch.randperm(TINY.vocab)[:TINY_WORDS].sort().values
    checkpoint.write_eagle(os.path.join(folder, "tiny-eagle3"), head, words.numpy(), "float32")
    taps, embedding = torch.randn(3, ROWS, TINY.width), torch.randn(TINY.vocab, TINY.width)
    ids = torch.randint(TINY.vocab, (ROWS + 1,))
    chain = greedy_chain(head, words, taps, lambda chosen: embedding[chosen], ids, STEPS)
    return {"ids": ids.tolist(), "taps": [rounded(tap) for tap in taps], "embedding": rounded(embedding),
            "words": words.tolist(),
            "steps": [{"logits": rounded(logits), "feature": rounded(feature)} for feature, logits in chain]}


@torch.no_grad()
def tiny_medusa(folder):
    torch.manual_seed(2)
    heads = MedusaHeads(3, TINY.width)
    for parameter in heads.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    checkpoint.write_medusa(os.path.join(folder, "tiny-medusa"), heads, "tiny", "float32")
    hidden, lm_head = torch.randn(TINY.width), torch.randn(TINY.vocab, TINY.width)
    return {"hidden": rounded(hidden), "lm_head": rounded(lm_head),
            "heads": [rounded(x @ lm_head.T) for x in heads(hidden[None])[:, 0]]}


@torch.no_grad()
def trained(target, folder):
    ids = torch.tensor(TEXT)
    taps = target.taps()
    embed = lambda chosen: target.embedding[chosen]
    with open(os.path.join(folder, EAGLE_FOLDER, "config.json")) as file:
        head = EagleHead(json.load(file))
    extra = checkpoint.load_state(head, os.path.join(folder, EAGLE_FOLDER, "model.safetensors"))
    words = torch.from_numpy(extra["d2t"].copy()) + torch.arange(len(extra["d2t"]))
    features = lambda layers: torch.stack(target.forward(ids[:-1], layers)[0])
    chain = lambda layers: greedy_chain(head, words, features(layers), embed, ids, STEPS)
    right, early = chain(taps), chain([tap - 1 for tap in taps])
    best = right[0][1].topk(TOP).indices
    heads = MedusaHeads(4, target.width)
    checkpoint.load_state(heads, os.path.join(folder, MEDUSA_FOLDER, "medusa_lm_head.safetensors"))
    _, final = target.forward(ids[:-1])
    return {"ids": TEXT, "entering_layers": taps,
            "eagle3": [{"top": top(logits, words), "feature_start": rounded(feature[:8]),
                        "feature_norm": round(float(feature.norm()), 4)} for feature, logits in right],
            "off_by_one": {"top": top(early[0][1], words),
                           "largest_difference": round(float((early[0][1] - right[0][1])[best].abs().max()), 4)},
            "medusa": [top(x @ target.lm_head.T, torch.arange(target.vocab)) for x in heads(final[-1:])[:, 0]]}


def write_json(path, value):
    with open(path, "w") as file:
        file.write(json.dumps(value, separators=(",", ":")) + "\n")


def write(options):
    os.makedirs(options.out, exist_ok=True)
    write_json(os.path.join(options.out, "tiny-eagle3.json"), tiny_eagle(options.out))
    write_json(os.path.join(options.out, "tiny-medusa.json"), tiny_medusa(options.out))
    for kind, tiny in golden_tiny.KINDS.items():
        write_json(os.path.join(options.out, f"tiny-{kind}.json"), tiny(os.path.join(options.out, f"tiny-{kind}")))
    if options.heads:
        found = trained(Target(options.model), options.heads)
        write_json(os.path.join(options.out, "smollm2-135m.json"), found)
