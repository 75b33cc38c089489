"""Where training starts: heads that regression has made.

EAGLE-3, in closed form: what linear regression already knows of the target's next state.

Feature i is the target's last state at token i, normed, with a correction from the other taps. The first heads of
attention look at their own row (queries and keys are one projection of the embedding) and carry the regression
[embedding of token i + 1, feature i] -> state i + 1; the others start silent, free to learn what to look back at.
The MLP keeps random gates; its way out is a second regression, of what the first left over in two draft steps.
"""
import torch
from torch.nn import functional

from .target import rms_norm

FREE_HEADS, LOOK, RIDGE = 2, 1.2, 3e-2
SCALES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def ridge(x, y):
    gram = x.T @ x
    return torch.linalg.solve(gram + RIDGE * gram.diagonal().mean() * torch.eye(len(gram)), x.T @ y)


def start_linear(head, target, sequences):
    """The taps' last one is the state before the target's final norm; the head has norms on its taps."""
    width, attention = target.width, head.midlayer.self_attn
    rows = (head.config["num_attention_heads"] - FREE_HEADS) * head.config["head_dim"]
    wanted = torch.cat([sequence.final[1:-1] for sequence in sequences]) / target.norm
    taps = rms_norm(torch.cat([sequence.taps[:, :-2] for sequence in sequences], dim=1), 1.0)
    embeddings = rms_norm(target.embedding[torch.cat([sequence.ids[1:-1] for sequence in sequences])], 1.0)
    by_embedding, *by_taps = ridge(torch.cat([embeddings, *taps], dim=-1), wanted).split(width)
    head.fc.weight.copy_(torch.cat([*by_taps[:-1], torch.eye(width)]).T)
    left, values, right = torch.linalg.svd(torch.cat([by_embedding, by_taps[-1] - torch.eye(width)]),
                                           full_matrices=False)
    attention.v_proj.weight[:rows] = (left[:, :rows] * values[:rows].sqrt()).T
    attention.o_proj.weight.zero_()
    attention.o_proj.weight[:, :rows] = (values[:rows, None].sqrt() * right[:rows]).T
    look = LOOK * width ** -0.5 * torch.randn(rows, width)
    for projection in (attention.q_proj, attention.k_proj):
        projection.weight[:rows] = functional.pad(look, (0, width))


def start_mlp(head, target, sequences):
    mlp, inputs, wanted, left = head.midlayer.mlp, [], [], []
    for name in ("gate_proj", "up_proj"):
        torch.nn.init.normal_(mlp[name].weight, std=target.width ** -0.5)
    mlp["down_proj"].weight.zero_()
    for sequence in sequences:
        states = sequence.final / target.norm
        for step, x in enumerate(head.unroll(sequence.taps[:, :-2], target.embedding[sequence.ids[1:-1]], 2)):
            y = head.midlayer.post_attention_layernorm(x)
            inputs.append(functional.silu(mlp["gate_proj"](y)) * mlp["up_proj"](y))
            left.append(states[1 + step:-1] - x)
    mlp["down_proj"].weight.copy_(ridge(torch.cat(inputs), torch.cat(left)).T)


@torch.no_grad()
def closed_form(head, target, sequences, loss):
    """`loss(sequence)` picks how far regression's answers, which are timid, are scaled."""
    head.norm.weight.copy_(target.norm)
    head.lm_head.weight.copy_(target.lm_head[head.words])
    start_linear(head, target, sequences)
    start_mlp(head, target, sequences)

    def tried(scale):
        head.norm.weight.copy_(scale * target.norm)
        return sum(float(loss(sequence)) for sequence in sequences[:20])
    head.norm.weight.copy_(min(SCALES, key=tried) * target.norm)


def regress(heads, target, sequences, steps=800, batch=1024, peak=3e-3):
    """Medusa: towards the target's own states, in which a step costs a tenth of one over words."""
    sequences = [sequence for sequence in sequences if len(sequence) - sequence.prompt > len(heads) + 4]
    after = len(heads) + 1
    states = torch.cat([sequence.final[sequence.prompt - 1:-after - 1] for sequence in sequences])
    wanted = torch.stack([torch.cat([sequence.final[sequence.prompt + step:len(sequence) - after + step]
                                     for sequence in sequences]) for step in range(len(heads))])
    optimizer = torch.optim.AdamW(heads.parameters(), lr=peak, weight_decay=0.0, fused=True)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = peak * min(1, (step + 1) / 20) * (1 - step / steps)
        rows = torch.randint(len(states), (batch,))
        loss = ((heads(states[rows]) - wanted[:, rows]) / target.norm).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
