#!/usr/bin/env python3
"""Times llama.cpp's forwards for peer_bench.py; runs in the peer's own environment.

    peer_bench_worker.py MODEL.gguf --threads N --context N

Speaks as `forerun bench model --serve` does: one JSON line about itself, then one line for each request on standard
input: {"op": "rows", "n", "repeat"}, {"op": "prefill", "tokens"} or {"op": "nll", "ids"}.
"""
import argparse
import ctypes
import json
import sys
import time

import llama_cpp as api
import numpy

CONTEXT_SIZE = 2048
BATCH = 512


@api.llama_log_callback
def only_errors(level, text, _):
    if level == 3:  # GGML_LOG_LEVEL_ERROR
        sys.stderr.write(text.decode(errors="replace"))


class Peer:
    """One sequence in one context. `held` tokens of the fixed filler are in its KV cache."""

    def __init__(self, path, threads, context):
        api.llama_log_set(only_errors, ctypes.c_void_p(0))
        api.llama_backend_init()
        self.model = api.llama_model_load_from_file(path.encode(), api.llama_model_default_params())
        if not self.model:
            sys.exit(f"{path}: llama.cpp cannot load it")
        settings = api.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = CONTEXT_SIZE, BATCH, BATCH
        settings.n_threads = settings.n_threads_batch = threads
        self.state = api.llama_init_from_model(self.model, settings)
        if not self.state:
            sys.exit(f"{path}: llama.cpp cannot make a context")
        self.memory = api.llama_get_memory(self.state)
        self.vocab_size = api.llama_vocab_n_tokens(api.llama_model_get_vocab(self.model))
        self.batch = api.llama_batch_init(BATCH, 0, 1)
        self.context, self.held = context, 0

    def filler(self, first, count):
        return [(position * 17 + 11) % self.vocab_size for position in range(first, first + count)]

    def decode(self, tokens, first, wanted):
        """Seconds of one forward over `tokens` at positions first, ...; logits of the rows in `wanted`."""
        for i, token in enumerate(tokens):
            self.batch.token[i], self.batch.pos[i] = token, first + i
            self.batch.n_seq_id[i], self.batch.seq_id[i][0] = 1, 0
            self.batch.logits[i] = i in wanted
        self.batch.n_tokens = len(tokens)
        start = time.perf_counter()
        code = api.llama_decode(self.state, self.batch)
        api.llama_synchronize(self.state)
        seconds = time.perf_counter() - start
        if code != 0:
            raise RuntimeError(f"llama_decode returned {code}")
        return seconds

    def drop_from(self, position):
        if not api.llama_memory_seq_rm(self.memory, 0, position, -1):
            raise RuntimeError("llama_memory_seq_rm refused")

    def clear(self):
        api.llama_memory_clear(self.memory, False)
        self.held = 0

    def rows(self, n, repeat):
        if self.held != self.context:
            self.clear()
            for first in range(0, self.context, BATCH):
                self.decode(self.filler(first, min(BATCH, self.context - first)), first, ())
            self.held = self.context
        samples = []
        for _ in range(repeat + 1):  # the first is not counted
            samples.append(1e3 * self.decode(self.filler(self.context, n), self.context, range(n)))
            self.drop_from(self.context)
        return {"n": n, "ms": min(samples[1:]), "samples_ms": samples[1:]}

    def prefill(self, tokens):
        self.clear()
        seconds = 0
        for first in range(0, tokens, BATCH):
            count = min(BATCH, tokens - first)
            wanted = (count - 1,) if first + count == tokens else ()
            seconds += self.decode(self.filler(first, count), first, wanted)
        self.clear()
        return {"prefill_tokens": tokens, "prefill_tokens_per_second": tokens / seconds}

    def nll(self, ids):
        self.clear()
        total = 0.0
        for first in range(0, len(ids) - 1, BATCH):
            count = min(BATCH, len(ids) - 1 - first)
            self.decode(ids[first:first + count], first, range(count))
            for i in range(count):
                logits = numpy.ctypeslib.as_array(api.llama_get_logits_ith(self.state, i), (self.vocab_size,))
                logits = logits.astype(numpy.float64)
                best = logits.max()
                total += best + numpy.log(numpy.exp(logits - best).sum()) - logits[ids[first + i + 1]]
        self.clear()
        return {"ids": len(ids), "mean_nll": total / (len(ids) - 1)}

    def answer(self, request):
        op = request.pop("op")
        return {"rows": self.rows, "prefill": self.prefill, "nll": self.nll}[op](**request)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, default=64)
    options = parser.parse_args()
    peer = Peer(options.model, options.threads, options.context)
    about = {"version": "llama-cpp-python " + api.__version__, "threads": options.threads,
             "system": api.llama_print_system_info().decode(), "output": "full logits of every row"}
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        try:
            print(json.dumps(peer.answer(json.loads(line))), flush=True)
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


if __name__ == "__main__":
    main()
