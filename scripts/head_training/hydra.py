"""Hydra heads (Ankner et al. 2024, arXiv:2402.05109) in PyTorch, architecture "mlp", in the names of published files.

Head i reads the target's final hidden state beside the embeddings of the root and of i drafted tokens.
"""
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, parts=1):
        super().__init__()
        self.linear = nn.Linear(parts * width, width)
        self.res_connection = nn.Linear(parts * width, width) if parts > 1 else nn.Identity()

    def forward(self, x):
        return self.res_connection(x) + functional.silu(self.linear(x))


class HydraHeads(nn.Module):
    """State dict: hydra_mlp.{i}.0.{linear,res_connection}, hydra_mlp.{i}.{j}.linear (one module), hydra_lm_head.{i}."""

    def __init__(self, heads, layers, width, vocab):
        super().__init__()
        self.hydra_mlp = nn.ModuleList(
            nn.Sequential(Block(width, i + 2), *[Block(width)] * (layers - 1)) for i in range(heads))
        self.hydra_lm_head = nn.ModuleList(nn.Linear(width, vocab) for _ in range(heads))

    def forward(self, final, embeddings):
        """Logits of each head; final [width], embeddings [at least as many rows as heads, width]: root, drafted ..."""
        parts = torch.cat([final[None], embeddings])
        return [output(mlp(parts[:i + 2].flatten()))
                for i, (mlp, output) in enumerate(zip(self.hydra_mlp, self.hydra_lm_head))]
