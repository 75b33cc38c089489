"""The target's own answers, written by `forerun run`: prompts, config and run directory of each portion."""
import json
import os
import subprocess
import time

from . import prompts

LONGEST_ANSWER = 256
PORTIONS = {  # part, seed of the prompts, temperature, which third of the training prompts
    "held_out": ("held_out", 2, 0, None), "greedy": ("train", 1, 0, 0), "warm": ("train", 1, 0.7, 1),
    "hot": ("train", 1, 1, 2), "passages": ("train", 3, 0, None)}
TRAIN_PROMPTS, HELD_OUT_PROMPTS, PASSAGES = 2400, 60, 120


def run_folder(work, portion):
    return os.path.join(work, "run_" + portion)


def config_path(work, portion):
    return os.path.join(work, portion + ".json")


def portion_prompts(work, portion):
    part, seed, _, third = PORTIONS[portion]
    if portion == "passages":
        texts = {row["text"] for row in read_rows(work, "greedy") if 60 <= row["emitted"] <= 160}
        return prompts.make_summaries(part, PASSAGES, seed, texts)
    rows = prompts.make(part, TRAIN_PROMPTS if part == "train" else HELD_OUT_PROMPTS, seed)
    return rows if third is None else [row for index, row in enumerate(rows) if index // 10 % 3 == third]


def read_rows(work, portion):
    """Finished requests so far; a line that is being written is left out."""
    path = os.path.join(run_folder(work, portion), "requests.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [row for row in (json.loads(line) for line in file if line.endswith("\n"))
                if row["finish_reason"] != "error" and row["emitted"] > 1]


def prepare(work, portion, model):
    """Writes prompts and config once: a run that was begun goes on with the same."""
    if os.path.exists(config_path(work, portion)):
        return
    os.makedirs(work, exist_ok=True)
    prompt_path = os.path.join(work, f"prompts_{portion}.jsonl")
    with open(prompt_path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in portion_prompts(work, portion))
    _, _, temperature, _ = PORTIONS[portion]
    config = {"name": portion, "target": model, "prompts": {"file": prompt_path}, "prompt_format": "chat",
              "max_new_tokens": LONGEST_ANSWER, "concurrency": 16, "engine": {"threads": 1},
              "sampling": {"temperature": temperature, "seed": 11 if temperature == 0.7 else 12 if temperature else 0},
              "arms": [{"name": "plain", "drafter": {"type": "none"}}]}
    temporary = config_path(work, portion) + ".part"
    with open(temporary, "w") as file:
        json.dump(config, file)
    os.replace(temporary, config_path(work, portion))


def write(work, portion, model, forerun, minutes):
    """Runs, or goes on with, a portion for at most `minutes` (None: to its end)."""
    prepare(work, portion, model)
    command = [forerun, "run", config_path(work, portion), "--resume", "--out", run_folder(work, portion)]
    started = time.time()
    result = subprocess.run(command + (["--budget", str(minutes)] if minutes else []), stdout=subprocess.DEVNULL)
    rows = read_rows(work, portion)
    tokens = sum(row["emitted"] for row in rows)
    minutes = (time.time() - started) / 60
    print(f"text: {portion}: {len(rows)} answers, {tokens} tokens, {minutes:.0f} minutes", flush=True)
    return result.returncode


def prompt_ids(work, portion, forerun):
    """{prompt's id: its tokens}, asked of the program once and kept."""
    path = os.path.join(work, f"prompt_ids_{portion}.json")
    if not os.path.exists(path):
        command = [forerun, "serve", config_path(work, portion)]
        about = subprocess.run(command, input="", stdout=subprocess.PIPE, text=True)
        with open(path + ".part", "w") as file:
            json.dump({row["id"]: row["tokens"] for row in json.loads(about.stdout.splitlines()[0])["prompts"]}, file)
        os.replace(path + ".part", path)
    with open(path) as file:
        return json.load(file)


def requests(work, portion, forerun):
    """(name, ids of the prompt, ids of the answer) of every request that is finished."""
    rows = read_rows(work, portion)
    if not rows:
        return []
    ids = prompt_ids(work, portion, forerun)
    found = {}
    for row in rows:  # the baseline runs a prompt more than once where there are other arms; here once
        found.setdefault(f"{portion}-{row['prompt']}", (ids[row["prompt"]], row["output"]))
    return [(name, *pair) for name, pair in found.items()]
