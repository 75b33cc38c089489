"""Random heads of the kinds that are checked on nothing else, and what they answer: part of golden.py's files."""
import types

import torch

from . import checkpoint
from .dflash import DflashHead
from .hydra import HydraHeads
from .mtp import MtpHead

TINY = types.SimpleNamespace(width=16, ffn_width=24, heads=2, kv_heads=1, head_dim=8, theta=100000.0,
                             vocab=48, layers=8)


# Of the heads that are layers.
CONFIG = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2, "num_key_value_heads": 1,
          "head_dim": 16, "rms_norm_eps": 1e-6, "rope_theta": 100000.0, "hidden_act": "silu", "vocab_size": TINY.vocab}
ROWS, STEPS = 6, 3


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


@torch.no_grad()
def tiny_mtp(folder):
    config = {"model_type": "qwen3_next", "partial_rotary_factor": 0.5, "mtp_num_hidden_layers": 1,
              "attn_output_gate": True, **CONFIG}
    head = MtpHead(config)
    randomize(head, 4)
    checkpoint.write_head(folder, head, config, "mtp.")
    embedding, lm_head = torch.randn(TINY.vocab, 32), torch.randn(TINY.vocab, 32)
    ids, states = torch.randint(TINY.vocab, (ROWS + 1,)), torch.randn(ROWS, 32)
    answer = {"ids": ids.tolist(), "states": rounded(states), "embedding": rounded(embedding),
              "lm_head": rounded(lm_head), "steps": []}
    tokens, features = ids[1:], states
    for _ in range(STEPS):
        feature = head(embedding[tokens], features)[-1:]
        logits = (feature @ lm_head.T)[0]
        answer["steps"].append({"logits": rounded(logits), "feature": rounded(feature)})
        tokens, features = torch.cat([tokens, logits.argmax().view(1)]), torch.cat([features, feature])
    logits = lambda: rounded(head(embedding[ids[1:]], states)[-1] @ lm_head.T)
    head.fc.weight.copy_(head.fc.weight.roll(32, 1))
    answer["states_first"] = logits()  # controls: mistakes that must show
    head.fc.weight.copy_(head.fc.weight.roll(32, 1))
    head.layers[0].self_attn.gated = False
    q = head.layers[0].self_attn.q_proj
    q.weight = torch.nn.Parameter(q.weight.view(2, 2, 16, 32)[:, 0].reshape(32, 32))
    answer["no_gate"] = logits()
    return answer


@torch.no_grad()
def tiny_dflash(folder):
    block, mask_token = 5, TINY.vocab - 1
    config = {"model_type": "qwen3", "num_hidden_layers": 2, "num_target_layers": 8, "block_size": block,
              "dflash_config": {"mask_token_id": mask_token, "target_layer_ids": [1, 3, 6]}, **CONFIG}
    head = DflashHead(config)
    randomize(head, 5)
    checkpoint.write_head(folder, head, config)
    embedding, lm_head = torch.randn(TINY.vocab, 32), torch.randn(TINY.vocab, 32)
    states, root = torch.randn(3, ROWS, 32), int(torch.randint(TINY.vocab, (1,)))
    tokens = torch.tensor([root] + [mask_token] * (block - 1))
    logits = lambda *how: rounded(head(embedding[tokens], *how)[1:] @ lm_head.T)
    return {"root": root, "states": [rounded(tap) for tap in states], "embedding": rounded(embedding),
            "lm_head": rounded(lm_head), "logits": logits(states), "causal": logits(states, True),
            "taps_in_another_order": logits(states.roll(1, 0))}


KINDS = {"hydra": tiny_hydra, "mtp": tiny_mtp, "dflash": tiny_dflash}
