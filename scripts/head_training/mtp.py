"""The multi-token-prediction layer of Qwen3-Next and Qwen3.5 in PyTorch (dense), in the names of published folders.

Row i joins the embedding of token i + 1 with the target's state of position i after its final norm, and speaks about
token i + 2; its output after the last norm is the state of the next draft step.
"""
import torch
from torch import nn

from .decoder import DecoderLayer, Norm


class MtpHead(nn.Module):
    """State dict: what stands after "mtp."."""

    def __init__(self, c):
        super().__init__()
        width, norm = c["hidden_size"], lambda: Norm(c["hidden_size"], c["rms_norm_eps"], plus_one=True)
        self.fc = nn.Linear(2 * width, width, bias=False)
        self.pre_fc_norm_embedding, self.pre_fc_norm_hidden, self.norm = norm(), norm(), norm()
        self.layers = nn.ModuleList([DecoderLayer(c, plus_one=True, gated=True)])

    def forward(self, embeddings, states):
        """Features [rows, width] of rows 0, 1, ...: embeddings of token i + 1, states of position i."""
        layer, positions = self.layers[0], torch.arange(len(states))
        x = self.fc(torch.cat([self.pre_fc_norm_embedding(embeddings), self.pre_fc_norm_hidden(states)], dim=-1))
        y = layer.input_layernorm(x)
        mask = torch.full((len(x), len(x)), float("-inf")).triu(1)
        return self.norm(layer.finish(x, layer.self_attn(y, positions, *layer.self_attn.keys(y, positions), mask)))
