#!/usr/bin/env python3
"""Times Forerun beside llama.cpp on the same model files, turn by turn on the same cores. For people, not for CI.

    scripts/peer_bench.py [MODEL ...]               forwards of n rows, prefill, likelihood
    scripts/peer_bench.py --busy [MODEL ...]        plain decoding with and without another program on the cores
    scripts/peer_bench.py --speculative [--prompts FILE.jsonl]    whole generations, plain and speculative

Each side is one process that loads the model once and then waits for requests; only one computes at a time, and who
goes first changes from round to round. That the one that waits is idle is measured too. Without --peer-python,
llama-cpp-python is compiled once into ${FORERUN_CACHE:-~/.cache/forerun}/peer-venv, which takes about 15 minutes. It
is compiled for this very machine; to compare AVX2 code on a wider one, give --isa avx2 and a --peer-python whose
llama-cpp-python was built with CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON".
"""
import argparse
import glob
import json
import os
import sys

from peer_bench_busy import bench_busy
from peer_bench_forwards import bench_forwards
from peer_bench_sides import ROOT, BenchError, find_peer
from peer_bench_speculative import bench_speculative
import peer_bench_tables as tables

CONFIG = os.path.join(ROOT, "experiments", "configs", "humaneval-qwen-coder.json")
SETTINGS = {  # of each mode, kept with its results
    "forwards": ("rows", "rounds", "repeat", "contexts", "prefill", "threads", "isa", "full_logits"),
    "busy": ("rounds", "busy_seconds", "contexts", "threads", "isa", "full_logits"),
    "speculative": ("config", "prompts", "limit", "max_new_tokens", "peer_lookup", "peer_draft", "threads", "isa")}


def find_models(names):
    if not names:
        return sorted(glob.glob(os.path.join(ROOT, "models", "*.gguf")), key=os.path.getsize)
    paths = [next((path for path in (name, os.path.join(ROOT, "models", name + ".gguf")) if os.path.isfile(path)), None)
             for name in names]
    for name, path in zip(names, paths):
        if path is None:
            raise BenchError(f"model {name!r}: no such file, nor models/{name}.gguf; scripts/fetch_models.py fetches")
    return [os.path.abspath(path) for path in paths]


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


def positives(text):
    return [positive(n) for n in text.split(",")]


def contexts(text):
    found = [int(n) for n in text.split(",")]
    if min(found) < 0 or len(set(found)) < len(found):
        raise ValueError
    return found


def add_speculative(parser):
    group = parser.add_argument_group("with --speculative")
    group.add_argument("--config", default=CONFIG, help="an experiment: Forerun's arms, the models, the prompts")
    group.add_argument("--prompts", help="other prompts than the config's: JSON lines (experiments/config/config.md)")
    group.add_argument("--limit", type=positive, help="only the first N prompts, spread over the categories")
    group.add_argument("--max-new-tokens", type=positive, default=128, help="most tokens of a prompt")
    group.add_argument("--peer-lookup", type=positives, default=[2, 10],
                       help="tokens of the package's prompt lookup: it advises 2 on CPUs, its default is 10")
    group.add_argument("--peer-draft", type=positives, default=[4], help="tokens that the peer's draft model writes")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="paths or names under models/; all of them by default")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--busy", dest="mode", action="store_const", const="busy", help="a spinning program beside it")
    mode.add_argument("--speculative", dest="mode", action="store_const", const="speculative",
                      help="greedy generations of both sides' plain and speculative decoding")
    parser.set_defaults(mode="forwards")
    parser.add_argument("--peer-python", help="a Python that has llama-cpp-python already")
    parser.add_argument("--forerun", default=os.path.join(ROOT, "build", "forerun"), help="the built program")
    parser.add_argument("--isa", choices=("reference", "avx2", "avx512", "avx512vnni"),
                        help="Forerun's code; the widest that the machine has by default")
    parser.add_argument("--rows", type=positives, default=list(range(1, 17)), help="widths: 1,2,4 (default: 1 to 16)")
    parser.add_argument("--rounds", type=positive, default=5, help="turns of each side in each case")
    parser.add_argument("--repeat", type=positive, default=4, help="timed forwards of one turn, after an untimed one")
    parser.add_argument("--contexts", type=contexts, default=[64],
                        help="tokens before the rows; 64,2048 compares both in one run")
    parser.add_argument("--prefill", type=positive, default=512, help="tokens of the timed prompt")
    parser.add_argument("--ids", help="a JSON list of ids to score (default: chunk 0 of the model's oracle)")
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)), help="of each side")
    parser.add_argument("--full-logits", action="store_true", help="Forerun too returns all logits, not the argmax")
    parser.add_argument("--busy-seconds", type=float, default=3, help="of each of the four cases, all turns together")
    parser.add_argument("--json", metavar="OUT", help="also write everything measured there")
    add_speculative(parser)
    options = parser.parse_args(arguments)
    if options.mode == "speculative" and options.models:
        parser.error("--speculative takes its models from --config")
    options.forerun, options.config = os.path.abspath(options.forerun), os.path.abspath(options.config)
    return options


def cpu_name():
    with open("/proc/cpuinfo") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "unknown")


def progress(done, total):
    print(f"prompt {done} of {total}", file=sys.stderr, flush=True)


def results(options, peer_python):
    if options.mode == "speculative":
        yield bench_speculative(options, peer_python, progress)
        return
    for model in find_models(options.models):
        yield (bench_busy if options.mode == "busy" else bench_forwards)(options, peer_python, model)


def main(arguments):
    options = parse(arguments)
    peer_python = find_peer(options.peer_python)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"warning: load average {load:.1f} before the start; these numbers will mean little", flush=True)
    settings = {key: vars(options)[key] for key in SETTINGS[options.mode]}
    done = []
    for result in results(options, peer_python):
        done.append(result)
        tables.report(result, options)
        if options.json:  # after each, so that a late failure loses nothing
            with open(options.json, "w") as file:
                json.dump({"cpu": cpu_name(), "load_before": load, "mode": options.mode, "options": settings,
                           "results": done}, file)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (BenchError, OSError) as failure:
        sys.exit(f"peer_bench.py: {failure}")
