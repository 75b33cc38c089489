"""DFlash's block drafter (arXiv:2602.06036) in PyTorch, in the names of its published checkpoints.

A block is the last token and masks. Every layer reads, beside the block itself, keys and values of the target's states
at all positions before it; within the block every row sees every other. Row j speaks about its own position.
"""
import torch
from torch import nn

from .decoder import DecoderLayer, Norm


class DflashHead(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, taps = c["hidden_size"], len(c["dflash_config"]["target_layer_ids"])
        self.layers = nn.ModuleList(DecoderLayer(c) for _ in range(c["num_hidden_layers"]))
        self.fc = nn.Linear(taps * width, width, bias=False)
        self.hidden_norm, self.norm = Norm(width, c["rms_norm_eps"]), Norm(width, c["rms_norm_eps"])

    def forward(self, block, states, causal=False):
        """What the target's output matrix reads, [block, width]; block: embeddings; states [taps, positions, width].

        causal: as it is not meant, for a control.
        """
        context = self.hidden_norm(self.fc(torch.cat(list(states), dim=-1)))
        before = len(context)
        positions, at = torch.arange(before), torch.arange(before, before + len(block))
        mask = torch.zeros(len(block), before + len(block))
        if causal:
            mask[:, before:] = torch.full((len(block), len(block)), float("-inf")).triu(1)
        x = block
        for layer in self.layers:
            y, attention = layer.input_layernorm(x), layer.self_attn
            parts = zip(attention.keys(context, positions), attention.keys(y, at))
            keys, values = (torch.cat(pair, dim=1) for pair in parts)
            x = layer.finish(x, attention(y, at, keys, values, mask))
        return self.norm(x)
