#!/usr/bin/env python3
"""Times Forerun beside llama.cpp on the same model files, turn by turn on the same cores. For people, not for CI.

    scripts/peer_bench.py [MODEL ...] [--peer-python PATH] [--json OUT]

Each side is one process that loads the model once and then waits for requests; only one computes at a time, and who
goes first changes from round to round. That the one that waits is idle is measured too. Without --peer-python,
llama-cpp-python is compiled once into ${FORERUN_CACHE:-~/.cache/forerun}/peer-venv, which takes about 15 minutes.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import time
import venv

from peer_bench_tables import report

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.expanduser(os.environ.get("FORERUN_CACHE") or "~/.cache/forerun")
PEER = "llama-cpp-python==0.3.36"
SETTLE = 0.05  # seconds between turns: OpenMP's threads spin for some milliseconds before they sleep
SETTINGS = ("rows", "rounds", "repeat", "context", "prefill", "threads", "full_logits")  # kept with the results


class BenchError(Exception):
    """One line for the user."""


class Side:
    """One program under test: a process that answers JSON lines."""

    def __init__(self, name, command):
        self.name = name
        try:
            self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            text=True)
        except OSError as error:
            raise BenchError(f"{command[0]}: {error.strerror}")
        self.about = self.read()  # once the model is loaded
        self.waited = self.cpu_while_waiting = 0.0  # seconds

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise BenchError(f"{self.name} ended with code {self.process.returncode}")
        answer = json.loads(line)
        if "error" in answer:
            raise BenchError(f"{self.name}: {answer['error']}")
        return answer

    def ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # read() says how it ended
        return self.read()

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # user and system

    def idle_cpu(self):
        return self.cpu_while_waiting / self.waited if self.waited else 0.0

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it had ended
        self.process.wait()
        self.process.stdout.close()


def ask_both(sides, request, round_index):
    """The sides' answers by name. Odd rounds go the other way round."""
    answers = {}
    for side in sides if round_index % 2 == 0 else reversed(sides):
        time.sleep(SETTLE)
        others = [(other, other.cpu_seconds()) for other in sides if other is not side]
        start = time.monotonic()
        answers[side.name] = side.ask(request)
        for other, before in others:
            other.waited += time.monotonic() - start
            other.cpu_while_waiting += other.cpu_seconds() - before
    return answers


def measure(sides, options, ids):
    """All samples by side name: {"rows": {n: [ms]}, "prefill": [tokens/s], "nll": mean or None}."""
    found = {side.name: {"rows": {n: [] for n in options.rows}, "prefill": [], "nll": None} for side in sides}
    for round_index in range(options.rounds):
        for n in options.rows:
            request = {"op": "rows", "n": n, "repeat": options.repeat}
            for name, answer in ask_both(sides, request, round_index).items():
                found[name]["rows"][n] += answer["samples_ms"]
        request = {"op": "prefill", "tokens": options.prefill}
        for name, answer in ask_both(sides, request, round_index).items():
            found[name]["prefill"].append(answer["prefill_tokens_per_second"])
    if ids:
        for name, answer in ask_both(sides, {"op": "nll", "ids": ids}, 0).items():
            found[name]["nll"] = answer["mean_nll"]
    return found


def summarize(peer, forerun):
    """What the tables show; every ratio is Forerun's speed over the peer's."""
    rows = []
    for n in peer["rows"]:
        row = {"n": n}
        for key, samples in (("peer", peer["rows"][n]), ("forerun", forerun["rows"][n])):
            row[key] = {"ms": min(samples), "median_ms": statistics.median(samples), "samples_ms": samples}
        for key in ("ms", "median_ms"):
            row[f"ratio_{key}"] = row["peer"][key] / row["forerun"][key]
        rows.append(row)
    prefill = {"peer": max(peer["prefill"]), "forerun": max(forerun["prefill"]),
               "median_peer": statistics.median(peer["prefill"]),
               "median_forerun": statistics.median(forerun["prefill"])}
    prefill["ratio"] = prefill["forerun"] / prefill["peer"]
    prefill["median_ratio"] = prefill["median_forerun"] / prefill["median_peer"]
    return {"rows": rows, "prefill_tokens_per_second": prefill}


def read_ids(options, model):
    """Ids to score and, where they are its own, the oracle's mean NLL."""
    if options.ids:
        with open(options.ids) as file:
            return json.load(file), None
    name = os.path.basename(model).removesuffix(".gguf")
    path = os.path.join(ROOT, "tests", "golden", "oracle", f"long_{name}.json")
    if not os.path.exists(path):
        return [], None
    with open(path) as file:
        case = json.load(file)["cases"][0]
    return case["ids"], case["mean_nll"]


def bench_model(options, peer_python, model):
    worker = os.path.join(ROOT, "scripts", "peer_bench_worker.py")
    common = [os.path.relpath(model, ROOT), "--threads", str(options.threads), "--context", str(options.context)]
    forerun = [options.forerun, "bench", "model", *common, "--serve"]
    ids, oracle = read_ids(options, model)
    sides = []
    try:
        sides.append(Side("llama.cpp", [peer_python, worker, *common]))
        sides.append(Side("Forerun", forerun + (["--full-logits"] if options.full_logits else [])))
        found = measure(sides, options, ids)
    finally:
        for side in sides:
            side.close()
    result = {"model": os.path.basename(model).removesuffix(".gguf"), **summarize(found["llama.cpp"], found["Forerun"])}
    result["nll"] = {"peer": found["llama.cpp"]["nll"], "forerun": found["Forerun"]["nll"], "oracle": oracle,
                     "ids": len(ids)}
    result["about"] = {side.name: side.about for side in sides}
    result["idle_cpu"] = {side.name: side.idle_cpu() for side in sides}
    return result


def find_peer(path):
    """The peer's Python; installs the peer where no path is given and it is not there yet."""
    python = path or os.path.join(CACHE, "peer-venv", "bin", "python")
    probe = [python, "-c", "import llama_cpp"]
    if os.path.exists(python) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        return python
    if path:
        raise BenchError(f"{path}: expected a Python with {PEER}, and it cannot import llama_cpp")
    print(f"installing {PEER} into {os.path.dirname(os.path.dirname(python))} (about 15 minutes)", flush=True)
    venv.create(os.path.join(CACHE, "peer-venv"), with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", PEER]).returncode != 0:
        raise BenchError(f"pip could not install {PEER}; the lines above say why")
    return python


def find_models(names):
    if not names:
        return sorted(glob.glob(os.path.join(ROOT, "models", "*.gguf")), key=os.path.getsize)
    paths = [next((path for path in (name, os.path.join(ROOT, "models", name + ".gguf")) if os.path.isfile(path)), None)
             for name in names]
    for name, path in zip(names, paths):
        if path is None:
            raise BenchError(f"model {name!r}: no such file, nor models/{name}.gguf; scripts/fetch_models.py fetches")
    return [os.path.abspath(path) for path in paths]


def row_list(text):
    return [positive(n) for n in text.split(",")]


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="paths or names under models/; all of them by default")
    parser.add_argument("--peer-python", help="a Python that has llama-cpp-python already")
    parser.add_argument("--forerun", default=os.path.join(ROOT, "build", "forerun"), help="the built program")
    parser.add_argument("--rows", type=row_list, default=list(range(1, 17)), help="widths: 1,2,4 (default: 1 to 16)")
    parser.add_argument("--rounds", type=positive, default=5, help="turns of each side at each width")
    parser.add_argument("--repeat", type=positive, default=4, help="timed forwards of one turn, after an untimed one")
    parser.add_argument("--context", type=int, default=64, help="tokens before the rows")
    parser.add_argument("--prefill", type=positive, default=512, help="tokens of the timed prompt")
    parser.add_argument("--ids", help="a JSON list of ids to score (default: chunk 0 of the model's oracle)")
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)), help="of each side")
    parser.add_argument("--full-logits", action="store_true", help="Forerun too returns all logits, not the argmax")
    parser.add_argument("--json", metavar="OUT", help="also write everything measured there")
    options = parser.parse_args(arguments)
    options.forerun = os.path.abspath(options.forerun)
    return options


def cpu_name():
    with open("/proc/cpuinfo") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "unknown")


def main(arguments):
    options = parse(arguments)
    peer_python = find_peer(options.peer_python)
    models = find_models(options.models)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"warning: load average {load:.1f} before the start; these numbers will mean little", flush=True)
    settings = {key: vars(options)[key] for key in SETTINGS}
    results = []
    for model in models:
        results.append(bench_model(options, peer_python, model))
        report(results[-1], options)
        if options.json:  # after each, so that a late failure loses nothing
            with open(options.json, "w") as file:
                json.dump({"cpu": cpu_name(), "load_before": load, "options": settings, "results": results}, file)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BenchError as failure:
        sys.exit(f"peer_bench.py: {failure}")
