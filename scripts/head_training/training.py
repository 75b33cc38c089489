"""The training loop of both kinds of heads: AdamW, warm-up, cosine; a checkpoint a minute, from which it resumes.

Which sequences a step sees depends on the seed and the step's number alone.
"""
import math
import os
import random
import time

import torch

CHECKPOINT_SECONDS, REPORT_STEPS = 60, 10
CLIP = 1.0


def step_sequences(files, step, batch, seed):
    """The batch of a step: a new order of all files each epoch."""
    chosen = []
    for position in range(step * batch, (step + 1) * batch):
        epoch, index = divmod(position, len(files))
        order = list(range(len(files)))
        random.Random(f"{seed}/{epoch}").shuffle(order)
        chosen.append(files[order[index]])
    return chosen


def rate(step, steps, peak, warm_up):
    if step < warm_up:
        return peak * (step + 1) / warm_up
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up))))


def save(path, **state):
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def train(model, loss_of, files, load, path, steps, batch, peak, seed, report=print, planned=None):
    """Trains `model` to `steps` steps in all; `loss_of(sequence, step)` gives (sum, weight); state is kept at `path`.

    `planned`: the step at which the rate has fallen (None: `steps`). A finished run that is given more steps goes on.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    done = 0
    if os.path.exists(path):
        state = torch.load(path, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
    started, saved, recent = time.time(), time.time(), []
    begun = done
    while done < steps:
        for group in optimizer.param_groups:
            group["lr"] = rate(done, planned or steps, peak, warm_up=30)
        optimizer.zero_grad()
        total_weight, total = 0.0, 0.0
        for file in step_sequences(files, done, batch, seed):
            loss, weight = loss_of(load(file), done)
            if weight:
                loss.backward()
                total, total_weight = total + float(loss.detach()), total_weight + weight
        for parameter in model.parameters():
            parameter.grad.div_(max(1.0, total_weight))
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        done += 1
        recent = (recent + [total / max(1.0, total_weight)])[-REPORT_STEPS:]
        if done % REPORT_STEPS == 0 or done == steps:
            left = (steps - done) * (time.time() - started) / (done - begun)
            report(f"train: step {done} of {steps}, loss {sum(recent) / len(recent):.3f}, {left / 60:.0f} minutes left")
        if time.time() - saved > CHECKPOINT_SECONDS or done == steps:
            save(path, model=model.state_dict(), optimizer=optimizer.state_dict(), step=done)
            saved = time.time()
