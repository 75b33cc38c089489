"""A decoder layer of Qwen3's kind in PyTorch, in the names of published checkpoints: norms of each head's q and k.

Qwen3-Next differs by norms whose gain is 1 + weight, by a gate on the attention's output, and by turning a part of a
head alone.
"""
import torch
from torch import nn
from torch.nn import functional

from .target import rms_norm, rotate, rotation


class Norm(nn.Module):
    def __init__(self, width, epsilon, plus_one=False):
        super().__init__()
        self.weight, self.epsilon, self.plus_one = nn.Parameter(torch.ones(width)), epsilon, plus_one

    def forward(self, x):
        return rms_norm(x, self.weight + 1 if self.plus_one else self.weight, self.epsilon)


class Attention(nn.Module):
    def __init__(self, c, norm, gated):
        super().__init__()
        self.heads, self.kv_heads, self.dim = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        self.theta, self.rotary = c["rope_theta"], int(self.dim * c.get("partial_rotary_factor", 1))
        self.gated = gated
        linear = lambda rows, columns: nn.Linear(columns, rows, bias=False)
        self.q_proj = linear((2 if gated else 1) * self.heads * self.dim, c["hidden_size"])
        self.k_proj = linear(self.kv_heads * self.dim, c["hidden_size"])
        self.v_proj = linear(self.kv_heads * self.dim, c["hidden_size"])
        self.o_proj = linear(c["hidden_size"], self.heads * self.dim)
        self.q_norm, self.k_norm = norm(self.dim), norm(self.dim)

    def turn(self, x, positions):
        cos, sin = rotation(positions, self.rotary, self.theta)
        return torch.cat([rotate(x[..., :self.rotary], cos, sin), x[..., self.rotary:]], dim=-1)

    def keys(self, x, positions):
        """Keys and values [kv_heads, rows, dim] of x [rows, width]."""
        split = lambda y: y.view(len(x), self.kv_heads, self.dim).transpose(0, 1)
        return self.turn(self.k_norm(split(self.k_proj(x))), positions), split(self.v_proj(x))

    def forward(self, x, positions, keys, values, mask):
        """mask [rows, keys]: 0, or -inf where a row does not see a key."""
        q = self.q_proj(x).view(len(x), self.heads, -1)
        q, gate = q.split(self.dim, dim=-1) if self.gated else (q, None)
        q = self.turn(self.q_norm(q.transpose(0, 1)), positions)
        wide = lambda y: y.repeat_interleave(self.heads // self.kv_heads, 0)
        weights = (q @ wide(keys).transpose(1, 2) / self.dim ** 0.5 + mask).softmax(-1)
        y = (weights @ wide(values)).transpose(0, 1)
        if self.gated:
            y = y * gate.sigmoid()
        return self.o_proj(y.reshape(len(x), -1))


class DecoderLayer(nn.Module):
    """`c`: the members of config.json."""

    def __init__(self, c, plus_one=False, gated=False):
        super().__init__()
        width, wide = c["hidden_size"], c["intermediate_size"]
        norm = lambda size: Norm(size, c["rms_norm_eps"], plus_one)
        self.self_attn = Attention(c, norm, gated)
        self.input_layernorm, self.post_attention_layernorm = norm(width), norm(width)
        self.mlp = nn.ModuleDict({"gate_proj": nn.Linear(width, wide, bias=False),
                                  "up_proj": nn.Linear(width, wide, bias=False),
                                  "down_proj": nn.Linear(wide, width, bias=False)})

    def finish(self, x, attended):
        x = x + attended
        y = self.post_attention_layernorm(x)
        gated = functional.silu(self.mlp["gate_proj"](y)) * self.mlp["up_proj"](y)
        return x + self.mlp["down_proj"](gated)
