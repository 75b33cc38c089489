"""An EAGLE-3 draft head (Li et al. 2025, arXiv:2503.01840) in PyTorch, in the names of its published checkpoints.

Row i takes the target's features of position i and the embedding of token i + 1 and speaks about token i + 2. Its
output before the last norm is the recurrent feature of the next draft step.
"""
import torch
from torch import nn
from torch.nn import functional

from .decoder import Norm
from .target import rotate, rotation


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        linear = lambda rows, columns: nn.Linear(columns, rows, bias=False)
        self.q_proj = linear(c["num_attention_heads"] * c["head_dim"], 2 * c["hidden_size"])
        self.k_proj = linear(c["num_key_value_heads"] * c["head_dim"], 2 * c["hidden_size"])
        self.v_proj = linear(c["num_key_value_heads"] * c["head_dim"], 2 * c["hidden_size"])
        self.o_proj = linear(c["hidden_size"], c["num_attention_heads"] * c["head_dim"])


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, norm = c["hidden_size"], lambda: Norm(c["hidden_size"], c["rms_norm_eps"])
        self.self_attn = Attention(c)
        self.hidden_norm, self.input_layernorm, self.post_attention_layernorm = norm(), norm(), norm()
        self.mlp = nn.ModuleDict({"gate_proj": nn.Linear(width, c["intermediate_size"], bias=False),
                                  "up_proj": nn.Linear(width, c["intermediate_size"], bias=False),
                                  "down_proj": nn.Linear(c["intermediate_size"], width, bias=False)})


class EagleHead(nn.Module):
    """`config`: the members of config.json. State dict: fc, fc_norm.* (where "fc_norm"), midlayer.*, norm, lm_head.

    Export adds d2t and t2d.
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.fc = nn.Linear(3 * config["target_hidden_size"], config["hidden_size"], bias=False)
        self.midlayer = Layer(config)
        self.norm = Norm(config["hidden_size"], config["rms_norm_eps"])
        self.lm_head = nn.Linear(config["hidden_size"], config["draft_vocab_size"], bias=False)
        if config.get("fc_norm"):
            norm = lambda: Norm(config["target_hidden_size"], config["rms_norm_eps"])
            self.fc_norm = nn.ModuleList([norm() for _ in range(3)])

    def features(self, taps):
        """[3, rows, width of the target] -> the first step's feature."""
        if self.config.get("fc_norm"):
            taps = [norm(tap) for norm, tap in zip(self.fc_norm, taps)]
        return self.fc(torch.cat(list(taps), dim=-1))

    def keys(self, embeddings, feature, positions):
        """Queries [heads, rows, dim], and keys and values [kv_heads, rows, dim], of rows at rotary `positions`."""
        c, layer = self.config, self.midlayer
        x = torch.cat([layer.input_layernorm(embeddings), layer.hidden_norm(feature)], dim=-1)
        split = lambda value, heads: value.view(len(x), heads, c["head_dim"]).transpose(0, 1)
        cos, sin = rotation(positions, c["head_dim"], c["rope_theta"])
        q = rotate(split(layer.self_attn.q_proj(x), c["num_attention_heads"]), cos, sin)
        k = rotate(split(layer.self_attn.k_proj(x), c["num_key_value_heads"]), cos, sin)
        return q, k, split(layer.self_attn.v_proj(x), c["num_key_value_heads"])

    def mix(self, q, context, chain):
        """Attention of row i over rows <= i of `context` = (k, v), then over its own earlier steps, row i of `chain`.

        Rows of q are the last of the context's.
        """
        group = self.config["num_attention_heads"] // self.config["num_key_value_heads"]
        wide = lambda x: x.repeat_interleave(group, 0)
        keys, values = context
        rows, columns = q.shape[1], keys.shape[1]
        mask = torch.full((rows, columns), float("-inf")).triu(columns - rows + 1)
        scores = [q @ wide(keys).transpose(1, 2) / self.config["head_dim"] ** 0.5 + mask]
        scores += [(q * wide(k)).sum(-1, keepdim=True) / self.config["head_dim"] ** 0.5 for k, _ in chain]
        weights = torch.cat(scores, dim=-1).softmax(-1)
        out = weights[..., :columns] @ wide(values)
        for step, (_, v) in enumerate(chain):
            out = out + weights[..., columns + step, None] * wide(v)
        return self.midlayer.self_attn.o_proj(out.transpose(0, 1).reshape(rows, -1))

    def finish(self, feature, attended):
        """The layer's output, which is the recurrent feature."""
        x = feature + attended
        y, mlp = self.midlayer.post_attention_layernorm(x), self.midlayer.mlp
        return x + mlp["down_proj"](functional.silu(mlp["gate_proj"](y)) * mlp["up_proj"](y))

    def logits(self, feature):
        return self.lm_head(self.norm(feature))

    def unroll(self, taps, embeddings, steps):
        """Training-time test: step s's recurrent features of all rows, from its own outputs after the first.

        taps [3, rows, width]; embeddings [rows, width]: of token i + 1 for row i. Step s reads rows s and on of them
        and has rows - s rows: row i there is the chain that started at row i, now speaking about token i + 2 + s.
        """
        rows, feature = taps.shape[1], self.features(taps)
        chain = []
        for step in range(steps):
            kept = rows - step
            feature = feature[:kept]
            q, k, v = self.keys(embeddings[step:step + kept], feature, torch.arange(step, rows))
            if step == 0:
                context = (k, v)
            else:
                chain = [(a[:, :kept], b[:, :kept]) for a, b in chain] + [(k, v)]
            past = tuple(x[:, :kept] for x in context)
            feature = self.finish(feature, self.mix(q, past, chain))
            yield feature
