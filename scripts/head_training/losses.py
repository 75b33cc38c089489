"""What a head is trained to say, and how long its greedy chains live on text that the target wrote greedily.

Soft labels: the target's own distribution at the position, renormalised over the words that the loss looks at.
"""
import torch
from torch.nn import functional

DECAY = 0.8  # weight of each further draft step in the loss


def soft_cross_entropy(logits, teacher):
    return -(teacher * functional.log_softmax(logits, dim=-1)).sum(-1)


def teacher(sequence, target, words, first):
    """The target's distribution over `words` at positions first, first + 1, ..."""
    return (sequence.final[first:] @ target.lm_head[words].T).softmax(-1)


def eagle_logits(head, sequence, target, steps):
    """(first row kept, logits of rows from there on) of each step; earlier rows only feed the attention.

    Row i of step s speaks about token i + 2 + s. Kept are the rows whose chain starts in the answer.
    """
    rows = len(sequence) - 2
    embeddings = target.embedding[sequence.ids[1:-1]]  # of token i + 1
    first = sequence.prompt - 1
    for feature in head.unroll(sequence.taps[:, :rows], embeddings, min(steps, rows - first)):
        yield first, head.logits(feature[first:])


def eagle_loss(head, sequence, target, steps):
    """(weighted sum of cross entropies, sum of weights)."""
    first = sequence.prompt - 1
    labels = teacher(sequence, target, head.words, first + 1)
    total, weights = 0.0, 0.0
    for step, (_, logits) in enumerate(eagle_logits(head, sequence, target, steps)):
        loss = soft_cross_entropy(logits, labels[step:step + len(logits)])
        total, weights = total + DECAY ** step * loss.sum(), weights + DECAY ** step * len(loss)
    return total, weights


def medusa_loss(heads, sequence, target, words):
    first = sequence.prompt - 1
    labels = teacher(sequence, target, words, first + 1)
    hidden, total, weights = heads(sequence.final[first:-2]), 0.0, 0.0
    head_rows = target.lm_head[words]
    for step, x in enumerate(hidden):
        kept = len(x) - step
        if kept > 0:
            loss = soft_cross_entropy(x[:kept] @ head_rows.T, labels[step:step + kept])
            total, weights = total + DECAY ** step * loss.sum(), weights + DECAY ** step * kept
    return total, weights


def hits(best, sequence, first):
    """[rows, steps] of bool: whether step s of the chain of row first + i proposes what the target wrote.

    `best`: per step, the ids proposed by rows first, first + 1, ...; a step past the text's end is False.
    """
    rows = len(best[0])
    found = torch.zeros(rows, len(best), dtype=torch.bool)
    for step, ids in enumerate(best):
        count = min(len(ids), len(sequence) - first - 2 - step)
        found[:count, step] = ids[:count] == sequence.ids[first + 2 + step:first + 2 + step + count]
    return found


class Tally:
    """Greedy chains as the engine would run them: tau and conditional acceptance, over rounds not cut by the end.

    A later step's acceptance only counts where the earlier drafts were the text itself, so that chains fed with the
    text give the very rounds of chains fed with their own drafts.
    """

    def __init__(self, steps):
        self.steps, self.rounds, self.accepted = steps, 0, 0
        self.reached, self.passed = [0] * steps, [0] * steps

    def add(self, found):
        row = 0
        while row + self.steps <= len(found):
            run = int(found[row].long().cumprod(0).sum())
            self.rounds, self.accepted = self.rounds + 1, self.accepted + run
            for step in range(min(run + 1, self.steps)):
                self.reached[step] += 1
                self.passed[step] += step < run
            row += run + 1

    def result(self):
        share = [passed / reached if reached else 0.0 for passed, reached in zip(self.passed, self.reached)]
        return {"tau": round(1 + self.accepted / max(1, self.rounds), 3), "rounds": self.rounds,
                "conditional": [round(value, 3) for value in share]}


@torch.no_grad()
def proposals(kind, head, sequence, target, steps):
    """hits() of greedy chains of `steps` drafts from every position of the answer."""
    first = sequence.prompt - 1
    if kind == "eagle":
        best = [head.words[logits.argmax(-1)] for _, logits in eagle_logits(head, sequence, target, steps)]
    else:
        hidden = head(sequence.final[first:-2])[:steps]
        best = [(x @ target.lm_head.T).argmax(-1) for x in hidden]
    return hits(best, sequence, first)
