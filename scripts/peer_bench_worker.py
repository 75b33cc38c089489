#!/usr/bin/env python3
"""Times llama.cpp's forwards for peer_bench.py; runs in the peer's own environment.

    peer_bench_worker.py MODEL.gguf --threads N

Speaks as `forerun bench model --serve` does: one JSON line about itself, then one line for each request on standard
input: {"op": "rows", "n", "repeat", "context"}, {"op": "prefill", "tokens"} or {"op": "nll", "ids"}.
"""
import argparse
import ctypes
import json
import sys
import time

import llama_cpp as api
import numpy

MOST_TEXT = 2048  # tokens of a timed prompt or a scored text
BATCH = 512


@api.llama_log_callback
def only_errors(level, text, _):
    if level == 4:  # GGML_LOG_LEVEL_ERROR
        sys.stderr.write(text.decode(errors="replace"))


def quiet():
    api.llama_log_set(only_errors, ctypes.c_void_p(0))
    api.llama_backend_init()


def load(path):
    model = api.llama_model_load_from_file(path.encode(), api.llama_model_default_params())
    return model or sys.exit(f"{path}: llama.cpp cannot load it")


def open_context(model, threads, size):
    settings = api.llama_context_default_params()
    settings.n_ctx, settings.n_batch, settings.n_ubatch = size, BATCH, BATCH
    settings.n_threads = settings.n_threads_batch = threads
    state = api.llama_init_from_model(model, settings)
    return state or sys.exit(f"llama.cpp cannot make a context of {size} positions")


class Peer:
    """One sequence in one context, through the C interface."""

    def __init__(self, state):
        self.state = state
        self.memory = api.llama_get_memory(state)
        self.vocab_size = api.llama_vocab_n_tokens(api.llama_model_get_vocab(api.llama_get_model(state)))
        self.batch = api.llama_batch_init(BATCH, 0, 1)

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

    def fill(self, tokens, first=0):
        """Seconds of decoding `tokens` from position `first` on, in full batches; logits of the last alone."""
        seconds = 0
        for start in range(0, len(tokens), BATCH):
            part = tokens[start:start + BATCH]
            seconds += self.decode(part, first + start, (len(part) - 1,) if start + len(part) == len(tokens) else ())
        return seconds

    def clear(self):
        api.llama_memory_clear(self.memory, False)

    def logits(self, row):
        return numpy.ctypeslib.as_array(api.llama_get_logits_ith(self.state, row), (self.vocab_size,))


class Forwards:
    """The requests. Each number of tokens before timed rows has a context of its own, filled once."""

    def __init__(self, model, threads):
        self.model, self.threads = model, threads
        self.peer = Peer(open_context(model, threads, MOST_TEXT))  # for prefill and likelihood
        self.filled = {}

    def filler(self, first, count):
        return [(position * 17 + 11) % self.peer.vocab_size for position in range(first, first + count)]

    def after(self, context):
        if context not in self.filled:
            self.filled[context] = Peer(open_context(self.model, self.threads, context + BATCH))
            self.filled[context].fill(self.filler(0, context))
        return self.filled[context]

    def rows(self, n, repeat, context):
        peer = self.after(context)
        samples = []
        for _ in range(repeat + 1):  # the first is not counted
            samples.append(1e3 * peer.decode(self.filler(context, n), context, range(n)))
            peer.drop_from(context)
        return {"n": n, "ms": min(samples[1:]), "samples_ms": samples[1:]}

    def prefill(self, tokens):
        self.peer.clear()
        seconds = self.peer.fill(self.filler(0, tokens))
        return {"prefill_tokens": tokens, "prefill_tokens_per_second": tokens / seconds}

    def nll(self, ids):
        self.peer.clear()
        total = 0.0
        for first in range(0, len(ids) - 1, BATCH):
            count = min(BATCH, len(ids) - 1 - first)
            self.peer.decode(ids[first:first + count], first, range(count))
            for i in range(count):
                logits = self.peer.logits(i).astype(numpy.float64)
                best = logits.max()
                total += best + numpy.log(numpy.exp(logits - best).sum()) - logits[ids[first + i + 1]]
        return {"ids": len(ids), "mean_nll": total / (len(ids) - 1)}

    def answer(self, request):
        op = request.pop("op")
        return {"rows": self.rows, "prefill": self.prefill, "nll": self.nll}[op](**request)


def serve(about, answer):
    """One JSON line for each line of input, after one about this side."""
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        try:
            print(json.dumps(answer(json.loads(line))), flush=True)
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


def about(threads):
    system = api.llama_print_system_info().decode()
    isa = next((name for name in ("AVX512_VNNI", "AVX512", "AVX2") if f"{name} = 1" in system), "baseline")
    return {"version": "llama-cpp-python " + api.__version__, "threads": threads, "system": system,
            "isa": isa.lower().replace("_", "")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    quiet()
    forwards = Forwards(load(options.model), options.threads)
    serve({**about(options.threads), "output": "full logits of every row"}, forwards.answer)


if __name__ == "__main__":
    main()
