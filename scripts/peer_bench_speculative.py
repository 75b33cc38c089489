"""Speculative decoding of peer_bench.py: the same prompts, to the token id, on both sides, greedily.

Forerun's arms are those of a config, run by `forerun serve`. llama.cpp's are plain decoding, prompt lookup and a draft
model, as peer_bench_decoding.py does them. All arms of a prompt run one after another between two runs of both plain
arms, which are averaged; the order is reversed from prompt to prompt. Prefill is not counted on either side.
"""
import json
import os
import random

from peer_bench_sides import OUR_NAME, PEER_NAME, ROOT, BenchError, Side, ask_one, close_all

RESAMPLES = 2000
SPARE = 64  # positions that drafts may need beyond the last token


def open_forerun(options):
    try:
        with open(options.config) as file:
            config = json.load(file)
    except ValueError as error:
        raise BenchError(f"{options.config}: {error}")
    engine = {**config.get("engine", {}), "threads": options.threads}
    changes = {"sampling": {}, "max_new_tokens": options.max_new_tokens, "engine": engine}
    if options.isa:
        engine["isa"] = options.isa
    if options.prompts:
        changes["prompts"] = {"file": os.path.abspath(options.prompts)}
    command = [options.forerun, "serve", options.config]
    for key, value in changes.items():
        command += ["--set", f"{key}={json.dumps(value)}"]
    side = Side(OUR_NAME, command + (["--limit", str(options.limit)] if options.limit else []))
    for arm in side.about["arms"]:
        if arm.get("sampling", {}).get("temperature", 0) != 0:
            side.close()
            raise BenchError(f"{options.config}: arm {arm['name']}: expected greedy decoding, which the peer does too")
    return side


def open_peer(options, peer_python, about):
    longest = max(len(prompt["tokens"]) for prompt in about["prompts"])
    command = [peer_python, os.path.join(ROOT, "scripts", "peer_bench_decoding.py"), about["target"],
               "--threads", str(options.threads), "--context", str(longest + options.max_new_tokens + SPARE),
               "--lookup", ",".join(map(str, options.peer_lookup))]
    if about["draft"]:
        command += ["--draft", about["draft"], "--draft-tokens", ",".join(map(str, options.peer_draft))]
    return Side(PEER_NAME, command)


def arm_names(sides):
    """[(side name, arm name)], the plain arm of each side first."""
    arms = []
    for side in sides:
        names = [arm["name"] for arm in side.about["arms"]]
        names.sort(key=lambda name, plain=side.about["baseline"]: name != plain)
        arms.append([(side.name, name) for name in names])
    return [names[0] for names in arms] + [name for names in arms for name in names[1:]]


def request_for(side, arm, prompt_index, about, max_new_tokens):
    if side.name == OUR_NAME:
        names = [other["name"] for other in side.about["arms"]]
        return {"prompt": prompt_index, "arm": names.index(arm)}
    return {"arm": arm, "ids": about["prompts"][prompt_index]["tokens"], "end_tokens": about["end_tokens"],
            "max_new_tokens": max_new_tokens}


def measure(sides, about, max_new_tokens, progress=None):
    """[{(side, arm): [answers]}] of each prompt: two answers of the plain arms, one of the others."""
    by_name = {side.name: side for side in sides}
    arms = arm_names(sides)
    order = arms + arms[:len(sides)]
    found = []
    for index in range(len(about["prompts"])):
        answers = {arm: [] for arm in arms}
        for side_name, arm in order if index % 2 == 0 else reversed(order):
            side = by_name[side_name]
            request = request_for(side, arm, index, about, max_new_tokens)
            answers[side_name, arm].append(ask_one(side, sides, request))
        found.append(answers)
        if progress:
            progress(index + 1, len(about["prompts"]))
    return found


def seconds_a_token(answers):
    return sum(answer["decode_seconds"] for answer in answers) / sum(len(answer["ids"]) for answer in answers)


def speedup(pairs):
    """pairs: [(tokens of the arm, its seconds, the baseline's seconds a token)] of each prompt."""
    return sum(tokens * base for tokens, _, base in pairs) / sum(seconds for _, seconds, _ in pairs)


def interval(pairs):
    """95 % of resampled prompt sets; fixed seed. None below four prompts: too few to say anything."""
    if len(pairs) < 4:
        return None
    choose = random.Random(1)
    values = sorted(speedup(choose.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return [values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES) - 1]]


def against(found, arm, baseline):
    pairs = []
    for answers in found:
        tokens = sum(len(answer["ids"]) for answer in answers[arm])
        seconds = sum(answer["decode_seconds"] for answer in answers[arm])
        pairs.append((tokens, seconds, seconds_a_token(answers[baseline])))
    return {"speedup": speedup(pairs), "interval": interval(pairs), "per_prompt": [speedup([pair]) for pair in pairs]}


def summarize(found, plain):
    """One row an arm. plain: {side name: its plain arm}."""
    rows = []
    for arm in found[0]:
        answers = [answer for prompt in found for answer in prompt[arm]]
        tokens = sum(len(answer["ids"]) for answer in answers)
        own = (arm[0], plain[arm[0]])
        rows.append({
            "side": arm[0], "arm": arm[1], "tokens": tokens,
            "tokens_per_second": tokens / sum(answer["decode_seconds"] for answer in answers),
            "tokens_per_round": tokens / sum(answer["rounds"] for answer in answers),
            "draft_share": sum(answer["seconds"]["draft"] for answer in answers) /
            sum(answer["decode_seconds"] for answer in answers),
            "same_ids": sum(prompt[arm][0]["ids"] == prompt[own][0]["ids"] for prompt in found),
            "against": {name: against(found, arm, (name, plain[name])) for name in plain}})
    return rows


def bench_speculative(options, peer_python, progress=None):
    sides = []
    try:
        sides.append(open_forerun(options))
        about = sides[0].about
        if not about["prompts"]:
            raise BenchError(f"{options.config}: no prompts")
        sides.append(open_peer(options, peer_python, about))
        sides.reverse()  # as in every table: the peer first
        found = measure(sides, about, options.max_new_tokens, progress)
    finally:
        close_all(sides)
    plain = {side.name: side.about["baseline"] for side in sides}
    both = [(name, plain[name]) for name in plain]
    return {"config": os.path.basename(options.config), "rows": summarize(found, plain), "prompts": len(found),
            "sides_agree": sum(prompt[both[0]][0]["ids"] == prompt[both[1]][0]["ids"] for prompt in found),
            "about": {side.name: {key: value for key, value in side.about.items() if key != "prompts"}
                      for side in sides},
            "idle_cpu": {side.name: side.idle_cpu() for side in sides},
            "answers": [{f"{side}/{arm}": answers for (side, arm), answers in prompt.items()} for prompt in found]}
