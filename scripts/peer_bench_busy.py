"""The busy-core case of peer_bench.py: plain decoding while another program wants a core all the time.

A verification round is many short parallel sections. Where every thread must arrive at a barrier before any goes on,
one descheduled thread stops all of them; the share of speed kept says how well a program lives with that.
"""
import math
import os
import signal
import statistics
import subprocess
import sys

from peer_bench_sides import ask_one, close_all, forward_sides


class Spinner:
    """A process that computes without end while on, pinned to no core, of ordinary priority."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        self.switch(False)

    def switch(self, on):
        self.process.send_signal(signal.SIGCONT if on else signal.SIGSTOP)

    def close(self):
        self.process.kill()
        self.process.wait()


def forwards_for(seconds, samples_ms):
    """How many forwards like these last so long."""
    return max(1, min(1000, math.ceil(1e3 * seconds / statistics.median(samples_ms))))


def measure(sides, spinner, rounds, seconds, context):
    """{side name: {"quiet": [ms], "busy": [ms]}}, at least `seconds` of each; all four cases take turns."""
    request = {"op": "rows", "n": 1, "context": context}
    repeat = {}
    for side in sides:
        samples = ask_one(side, sides, {**request, "repeat": 5})["samples_ms"]
        repeat[side.name] = forwards_for(seconds / rounds, samples)
    found = {side.name: {"quiet": [], "busy": []} for side in sides}
    for round_index in range(rounds):
        for side in sides if round_index % 2 == 0 else reversed(sides):
            for case in ("quiet", "busy") if round_index % 2 == 0 else ("busy", "quiet"):
                spinner.switch(case == "busy")
                answer = ask_one(side, sides, {**request, "repeat": repeat[side.name]})
                spinner.switch(False)
                found[side.name][case] += answer["samples_ms"]
    return found


def summarize(found):
    """The share kept is of speed: by medians, and by the mean, which is what a whole generation feels."""
    result = {}
    for name, cases in found.items():
        side = {f"{case}_ms": statistics.median(samples) for case, samples in cases.items()}
        side.update({f"{case}_mean_ms": statistics.mean(samples) for case, samples in cases.items()})
        side["kept"] = side["quiet_ms"] / side["busy_ms"]
        side["kept_mean"] = side["quiet_mean_ms"] / side["busy_mean_ms"]
        side["samples_ms"] = cases
        result[name] = side
    return result


def bench_busy(options, peer_python, model):
    sides = forward_sides(options, peer_python, model)
    try:
        spinner = Spinner()
        try:
            found = measure(sides, spinner, options.rounds, options.busy_seconds, options.contexts[0])
        finally:
            spinner.close()
    finally:
        close_all(sides)
    return {"model": os.path.basename(model).removesuffix(".gguf"), "busy": summarize(found),
            "about": {side.name: side.about for side in sides},
            "idle_cpu": {side.name: side.idle_cpu() for side in sides}}
