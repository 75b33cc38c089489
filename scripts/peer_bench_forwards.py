"""Forwards of peer_bench.py: t(n) after one or several contexts, prefill, and the likelihood of the same text."""
import json
import os
import statistics

from peer_bench_sides import OUR_NAME, PEER_NAME, ROOT, ask_both, close_all, forward_sides


def measure(sides, options, ids):
    """All samples by side name: {"rows": {(context, n): [ms]}, "prefill": [tokens/s], "nll": mean or None}."""
    cases = [(context, n) for context in options.contexts for n in options.rows]
    found = {side.name: {"rows": {case: [] for case in cases}, "prefill": [], "nll": None} for side in sides}
    for round_index in range(options.rounds):
        for context, n in cases:
            request = {"op": "rows", "n": n, "repeat": options.repeat, "context": context}
            for name, answer in ask_both(sides, request, round_index).items():
                found[name]["rows"][context, n] += answer["samples_ms"]
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
    for context, n in peer["rows"]:
        row = {"context": context, "n": n}
        for key, side in (("peer", peer), ("forerun", forerun)):
            samples = side["rows"][context, n]
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


def bench_forwards(options, peer_python, model):
    ids, oracle = read_ids(options, model)
    sides = forward_sides(options, peer_python, model)
    try:
        found = measure(sides, options, ids)
    finally:
        close_all(sides)
    peer, forerun = found[PEER_NAME], found[OUR_NAME]
    result = {"model": os.path.basename(model).removesuffix(".gguf"), **summarize(peer, forerun)}
    result["nll"] = {"peer": peer["nll"], "forerun": forerun["nll"], "oracle": oracle, "ids": len(ids)}
    result["about"] = {side.name: side.about for side in sides}
    result["idle_cpu"] = {side.name: side.idle_cpu() for side in sides}
    return result
