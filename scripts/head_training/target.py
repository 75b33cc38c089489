"""The target model in PyTorch, float32, from its GGUF file (llama architecture, SmolLM2): what heads are trained on.

Weights are dequantised; rows of q and k are put back from GGUF's pairing of rotated dimensions to the usual halves.
"""
import numpy
import torch
from torch.nn import functional


def rms_norm(x, weight, epsilon=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


def rotation(positions, head_dim, theta):
    """cos and sin [positions, head_dim] of rotary embedding, halves repeated."""
    inverse = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = positions.double()[:, None] * inverse[None, :]
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos().float(), angles.sin().float()


def rotate(x, cos, sin):
    """x [heads, positions, head_dim]."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


class Target:
    """Weights by their usual names; forward() gives hidden states."""

    def __init__(self, path):
        import gguf  # not needed by the golden files' synthetic heads

        reader = gguf.GGUFReader(path)
        number = lambda key: reader.fields["llama." + key].contents()
        self.width, self.layers = number("embedding_length"), number("block_count")
        self.heads, self.kv_heads = number("attention.head_count"), number("attention.head_count_kv")
        self.ffn_width, self.vocab = number("feed_forward_length"), number("vocab_size")
        self.theta, self.epsilon = number("rope.freq_base"), number("attention.layer_norm_rms_epsilon")
        self.head_dim = self.width // self.heads
        self.weights = {}
        for tensor in reader.tensors:
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32)
            weight = torch.from_numpy(values.reshape([int(n) for n in reversed(tensor.shape)]).copy())
            for name, heads in (("attn_q.", self.heads), ("attn_k.", self.kv_heads)):
                if name in tensor.name:
                    weight = weight.view(heads, self.head_dim // 2, 2, -1).transpose(1, 2).reshape(weight.shape)
            self.weights[tensor.name] = weight.contiguous()
        self.embedding = self.weights["token_embd.weight"]
        self.lm_head = self.weights.get("output.weight", self.embedding)
        self.norm = self.weights["output_norm.weight"]

    def taps(self):
        """Indices i of the hidden states entering layer i that heads read; `layers`: before the final norm."""
        return [self.layers // 2, self.layers - 3, self.layers]

    @torch.no_grad()
    def forward(self, ids, taps=()):
        """(hidden states entering the layers `taps`, hidden state after the final norm), each [positions, width]."""
        x, seen = self.embedding[ids], {}
        cos, sin = rotation(torch.arange(len(ids)), self.head_dim, self.theta)
        mask = torch.full((len(ids), len(ids)), float("-inf")).triu(1)
        for layer in range(self.layers):
            if layer in taps:
                seen[layer] = x
            w = lambda name: self.weights[f"blk.{layer}.{name}.weight"]
            y = rms_norm(x, w("attn_norm"), self.epsilon)
            split = lambda value, heads: value.view(len(ids), heads, self.head_dim).transpose(0, 1)
            q = rotate(split(functional.linear(y, w("attn_q")), self.heads), cos, sin)
            k = rotate(split(functional.linear(y, w("attn_k")), self.kv_heads), cos, sin)
            v = split(functional.linear(y, w("attn_v")), self.kv_heads)
            group = self.heads // self.kv_heads
            scores = q @ k.repeat_interleave(group, 0).transpose(1, 2) / self.head_dim ** 0.5 + mask
            mixed = scores.softmax(-1) @ v.repeat_interleave(group, 0)
            x = x + functional.linear(mixed.transpose(0, 1).reshape(len(ids), -1), w("attn_output"))
            y = rms_norm(x, w("ffn_norm"), self.epsilon)
            gated = functional.silu(functional.linear(y, w("ffn_gate"))) * functional.linear(y, w("ffn_up"))
            x = x + functional.linear(gated, w("ffn_down"))
        seen[self.layers] = x
        return [seen[tap] for tap in taps], rms_norm(x, self.norm, self.epsilon)
