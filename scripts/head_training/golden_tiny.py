"""Random heads of the kinds that are checked on nothing else, and what they answer: part of golden.py's files."""
import types

import torch

from . import checkpoint
from .hydra import HydraHeads

TINY = types.SimpleNamespace(width=16, ffn_width=24, heads=2, kv_heads=1, head_dim=8, theta=100000.0,
                             vocab=48, layers=8)


def rounded(tensor):
    return [round(float(value), 6) for value in tensor.flatten()]


def randomize(module, seed):
    torch.manual_seed(seed)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)


@torch.no_grad()
def tiny_hydra(folder):
    heads = HydraHeads(3, 3, TINY.width, TINY.vocab)
    randomize(heads, 3)
    checkpoint.write_head(folder, heads, {
        "hydra_num_heads": 3, "hydra_num_layers": 3, "hydra_head_arch": "mlp", "grounded_heads": True,
        "hidden_state_offset": 0, "base_model_name_or_path": "tiny"})
    hidden, embedding = torch.randn(TINY.width), torch.randn(TINY.vocab, TINY.width)
    path = torch.randint(TINY.vocab, (1,)).tolist()
    for head in range(2):  # greedy
        logits = heads(hidden, embedding[path + [0, 0]])[head]
        path.append(int(logits.argmax()))
    return {"hidden": rounded(hidden), "embedding": rounded(embedding), "path": path,
            "heads": [rounded(logits) for logits in heads(hidden, embedding[path])]}


KINDS = {"hydra": tiny_hydra}
