#!/usr/bin/env python3
"""Checks the engine's accepted lengths against a few lines of Python that know nothing of rounds, trees or caches.

    scripts/cross_check.py [--target MODEL] [--draft MODEL] [--prompts FILE.jsonl] [--limit N] [-K N] [--tokens N]

Greedy, 32-bit floats throughout (the files' weights dequantised). `forerun run` decodes with and without the draft
model; then `forerun score --best` reads the target's text once, in one piece, and says what each model would have
written at every place. A draft token stands as long as the draft's best token is the target's, so the length that
each round must have accepted can be read off that list. A difference is shown with the margin between the two best
logits where it begins: the only excuse is a margin near 0. Exits with 1 where a round differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from peer_bench_sides import ROOT, BenchError, Side

FORERUN = os.path.join(ROOT, "build", "forerun")
EXACT = {"numerics": "f32", "kv_dtype": "f32"}


def experiment(options):
    return {"name": "cross-check", "target": options.target, "draft": options.draft,
            "prompts": {"file": os.path.abspath(options.prompts), "categories": options.categories},
            "prompt_format": options.format, "sampling": {"temperature": 0}, "max_new_tokens": options.tokens,
            "engine": EXACT,
            "arms": [{"name": "plain", "drafter": {"type": "none"}},
                     {"name": "draft", "drafter": {"type": "draft_model", "num_speculative_tokens": options.k}}]}


def forerun(*arguments):
    command = [FORERUN, *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command[:2])}: ended with code {done.returncode}")
    return done.stdout


def json_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def best_along(model, texts, folder):
    """For each text, [id, margin] after each of its ids but the last."""
    path = os.path.join(folder, "ids.json")
    with open(path, "w") as file:
        json.dump(texts, file)
    scored = json.loads(forerun("score", "--model", model, "--ids-file", path, "--exact", "--best", "--json"))
    return [result["best"] for result in scored["results"]]


def expected_accepted(text, start, budget, draft_best):
    """How many of `budget` draft tokens after text[:start] are the target's, which wrote `text`."""
    accepted = 0
    while accepted < budget and start + accepted < len(text) and \
            draft_best[start + accepted - 1][0] == text[start + accepted]:
        accepted += 1
    return accepted


def check_prompt(prompt, output, rounds, target_best, draft_best):
    """Differences as lines of text; [] where all is well."""
    text = prompt + output
    wrong = [f"the target's token {i - len(prompt)} is {text[i]}, its best {target_best[i - 1][0]}, "
             f"margin {target_best[i - 1][1]:.6f}"
             for i in range(len(prompt), len(text)) if target_best[i - 1][0] != text[i]]
    for number, row in enumerate(rounds):
        expected = expected_accepted(text, row["committed"], row["budget"], draft_best)
        if row["drafted"] != row["budget"]:
            wrong.append(f"round {number}: drafted {row['drafted']} of {row['budget']}")
        if row["accepted"] != expected:
            place = row["committed"] + min(row["accepted"], expected) - 1
            wrong.append(f"round {number}: accepted {row['accepted']}, expected {expected}; the draft's margin there "
                         f"is {draft_best[place][1]:.6f}")
    return wrong


def check(options, folder):
    config = os.path.join(folder, "config.json")
    with open(config, "w") as file:
        json.dump(experiment(options), file)
    side = Side("forerun serve", [FORERUN, "serve", config])
    prompts = {prompt["id"]: prompt["tokens"] for prompt in side.about["prompts"]}
    side.close()
    run = os.path.join(folder, "run")
    forerun("run", config, "--out", run, "--limit", str(options.limit))
    rows = json_lines(os.path.join(run, "requests.jsonl"))
    rounds = json_lines(os.path.join(run, "rounds.jsonl"))
    plain = {row["prompt"]: row["output"] for row in rows if row["arm"] == "plain"}
    drafted = [row for row in rows if row["arm"] == "draft"]
    texts = [prompts[row["prompt"]] + row["output"] for row in drafted]
    target_best = best_along(options.target, texts, folder)
    draft_best = best_along(options.draft, texts, folder)
    differences = checked = accepted = 0
    for row, of_target, of_draft in zip(drafted, target_best, draft_best):
        own = [entry for entry in rounds if entry["unit"] == row["unit"]]
        wrong = check_prompt(prompts[row["prompt"]], row["output"], own, of_target, of_draft)
        if row["output"] != plain[row["prompt"]]:
            wrong.append("the output is not that of plain decoding")
        for line in wrong:
            print(f"{row['prompt']}: {line}")
        differences += len(wrong)
        checked += len(own)
        accepted += sum(entry["accepted"] for entry in own)
    print(f"{len(drafted)} prompts, {checked} rounds, {accepted} accepted tokens: {differences} differences")
    return 1 if differences or checked == 0 else 0


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="qwen2.5-coder-1.5b-instruct-q4_k_m")
    parser.add_argument("--draft", default="qwen2.5-coder-0.5b-instruct-q4_k_m")
    parser.add_argument("--prompts", default=os.path.join(ROOT, "experiments", "prompts", "strategies.jsonl"))
    parser.add_argument("--format", choices=["chat", "raw"], default="chat")
    parser.add_argument("--categories", nargs="+", default=["code", "chat"])
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("-K", dest="k", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=64)
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    try:
        if not os.path.exists(FORERUN):
            raise BenchError("build/forerun: not there; scripts/build.sh build makes it")
        with tempfile.TemporaryDirectory() as folder:
            return check(options, folder)
    except BenchError as error:
        print(f"cross_check.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
