#!/usr/bin/env python3
"""Decodes greedily with llama.cpp for peer_bench.py, plainly and speculatively; runs in the peer's own environment.

    peer_bench_decoding.py TARGET.gguf --threads N --context N [--lookup K,K] [--draft DRAFT.gguf --draft-tokens K,K]

Arms: `plain` is a bare loop over the C interface, the peer's best; `lookup-K` and `draft-K` are the Python package's
own speculative decoding (Llama.generate with a draft_model): its LlamaPromptLookupDecoding, and a second model behind
its LlamaDraftModel. Both verify as the package does. Line of input: {"arm", "ids", "end_tokens", "max_new_tokens"}.
"""
import argparse
import time

from llama_cpp import Llama
from llama_cpp.llama_speculative import LlamaDraftModel, LlamaPromptLookupDecoding
import numpy

import peer_bench_worker as worker


class CountingLlama(Llama):
    """Counts forwards: those after the prefill are the rounds."""

    forwards = 0

    def eval(self, tokens):
        self.forwards += 1
        super().eval(tokens)


class Timed:
    """A drafter of the package, and the seconds spent in it."""

    def __init__(self, drafter):
        self.drafter, self.seconds = drafter, 0.0

    def __call__(self, input_ids, /, **kwargs):
        start = time.perf_counter()
        drafted = self.drafter(input_ids, **kwargs)
        self.seconds += time.perf_counter() - start
        return drafted

    def prefill(self, ids):
        if isinstance(self.drafter, ModelDraft):
            self.drafter.hold(ids)
        self.seconds = 0.0


class ModelDraft(LlamaDraftModel):
    """Greedy tokens of a second model. What its KV cache shares with the new ids is kept."""

    def __init__(self, peer, count):
        self.peer, self.count = peer, count
        self.held = []  # the ids in the KV cache

    def hold(self, ids):
        """Brings the cache to `ids`; the last of them is always computed, so that its logits are there."""
        keep = 0
        for mine, new in zip(self.held, ids[:-1]):
            if mine != new:
                break
            keep += 1
        self.peer.drop_from(keep)
        self.peer.fill(ids[keep:], keep)
        self.held = list(ids)

    def next_token(self):
        return int(self.peer.logits(-1).argmax())

    def __call__(self, input_ids, /, **kwargs):
        self.hold(input_ids.tolist())
        drafted = [self.next_token()]
        while len(drafted) < self.count:
            self.peer.decode(drafted[-1:], len(self.held), (0,))
            self.held.append(drafted[-1])
            drafted.append(self.next_token())
        return numpy.array(drafted, dtype=numpy.intc)


class Decoder:
    def __init__(self, options):
        self.llama = CountingLlama(options.target, n_ctx=options.context, n_batch=worker.BATCH, logits_all=True,
                                   n_threads=options.threads, n_threads_batch=options.threads, flash_attn=True,
                                   n_gpu_layers=0, verbose=False)
        self.peer = worker.Peer(self.llama.ctx)  # the same context for the bare loop
        self.drafters = {f"lookup-{k}": Timed(LlamaPromptLookupDecoding(num_pred_tokens=k)) for k in options.lookup}
        if options.draft:
            draft = worker.Peer(worker.open_context(worker.load(options.draft), options.threads, options.context))
            self.drafters.update({f"draft-{k}": Timed(ModelDraft(draft, k)) for k in options.draft_tokens})

    def plain(self, ids, end_tokens, max_new_tokens):
        """Decoding starts with the prompt's last token on both sides: n tokens cost n forwards."""
        self.peer.clear()
        prefill = self.peer.fill(ids[:-1])
        output, token = [], ids[-1]
        start = time.perf_counter()
        while len(output) < max_new_tokens and (not output or token not in end_tokens):
            self.peer.decode([token], len(ids) - 1 + len(output), (0,))
            token = int(self.peer.logits(0).argmax())
            output.append(token)
        seconds = time.perf_counter() - start
        return {"ids": output, "rounds": len(output), "prefill_seconds": prefill, "decode_seconds": seconds,
                "seconds": {"draft": 0.0}}

    def speculative(self, drafter, ids, end_tokens, max_new_tokens):
        start = time.perf_counter()
        self.llama.reset()
        if len(ids) > 1:
            self.llama.eval(ids[:-1])
        drafter.prefill(ids)
        self.llama.draft_model, self.llama.forwards = drafter, 0
        output = []
        decoding = time.perf_counter()
        for token in self.llama.generate(ids, temp=0.0):
            output.append(token)
            if len(output) == max_new_tokens or token in end_tokens:
                break
        end = time.perf_counter()
        return {"ids": output, "rounds": self.llama.forwards, "prefill_seconds": decoding - start,
                "decode_seconds": end - decoding, "seconds": {"draft": drafter.seconds}}

    def answer(self, request):
        arm = request.pop("arm")
        request["end_tokens"] = set(request["end_tokens"])
        return self.plain(**request) if arm == "plain" else self.speculative(self.drafters[arm], **request)


def counts(text):
    return [int(count) for count in text.split(",")] if text else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--lookup", type=counts, default=[])
    parser.add_argument("--draft")
    parser.add_argument("--draft-tokens", type=counts, default=[])
    options = parser.parse_args()
    worker.quiet()
    decoder = Decoder(options)
    arms = [{"name": name} for name in ("plain", *decoder.drafters)]
    worker.serve({**worker.about(options.threads), "baseline": "plain", "arms": arms}, decoder.answer)


if __name__ == "__main__":
    main()
