"""What the target thought at every token of its own answers, cached on disk in half precision.

One .npz a request: ids, the prompt's length, the tapped hidden states [3, positions, width] and the final hidden state.
A file is written under another name and renamed, so that an interrupted run goes on where it stopped.
"""
import os
import time

import numpy
import torch


def cache(target, requests, folder, longest, report=print):
    """Writes what is missing; returns the files of all requests that are not longer than `longest` tokens."""
    os.makedirs(folder, exist_ok=True)
    files, started, made = [], time.time(), 0
    for index, (name, prompt, output) in enumerate(requests):
        path = os.path.join(folder, name + ".npz")
        if len(prompt) + len(output) > longest:
            continue
        files.append(path)
        if os.path.exists(path):
            continue
        ids = torch.tensor(prompt + output)
        taps, final = target.forward(ids, target.taps())
        temporary = path + ".part"
        with open(temporary, "wb") as file:
            numpy.savez(file, ids=ids.numpy().astype(numpy.int32), prompt=len(prompt),
                        taps=torch.stack(taps).half().numpy(), final=final.half().numpy())
        os.replace(temporary, path)
        made += 1
        if made % 20 == 0:
            left = (len(requests) - index - 1) * (time.time() - started) / made
            report(f"features: {index + 1} of {len(requests)}, at most {left / 60:.0f} minutes left")
    return files


class Sequence:
    """One cached request, float32."""

    def __init__(self, path):
        with numpy.load(path) as found:
            self.ids = torch.from_numpy(found["ids"].astype(numpy.int64))
            self.prompt = int(found["prompt"])
            self.taps = torch.from_numpy(found["taps"].astype(numpy.float32))
            self.final = torch.from_numpy(found["final"].astype(numpy.float32))

    def __len__(self):
        return len(self.ids)


def frequent_words(requests, size, vocab):
    """The `size` ids that answers use most, ascending; ties and the rest: the lowest ids."""
    counts = numpy.zeros(vocab, dtype=numpy.int64)
    for _, prompt, output in requests:
        numpy.add.at(counts, output, 4)
        numpy.add.at(counts, prompt, 1)
    chosen = numpy.argsort(-counts, kind="stable")[:size]
    return numpy.sort(chosen)
