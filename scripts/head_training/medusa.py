"""Medusa-1 heads (Cai et al. 2024, arXiv:2401.10774), the layout without head matrices: logits by the target's own.

Head k maps the final hidden state x of position i to x + SiLU(W x + b), which speaks about token i + 2 + k.
"""
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x):
        return x + functional.silu(self.linear(x))


class MedusaHeads(nn.ModuleList):
    """State dict: "{head}.0.linear.weight" and ".bias"."""

    def __init__(self, heads, width):
        super().__init__([nn.Sequential(Block(width)) for _ in range(heads)])

    def forward(self, final):
        return torch.stack([head(final) for head in self])
