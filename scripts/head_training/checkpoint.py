"""Writes heads in their published layouts: safetensors (half precision, or float32) and config.json.

EAGLE-3 in the names that SpecForge writes; Medusa in the layout of its trainer (version 2): blocks without matrices.
"""
import json
import os
import struct

import numpy
import torch

TYPES = {"float16": "F16", "float32": "F32", "int64": "I64", "bool": "BOOL"}


def write_safetensors(path, tensors):
    """{name: numpy array}: 8 bytes of length, a JSON header padded with spaces, then the values."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": TYPES[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".part", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(numpy.ascontiguousarray(array).tobytes() for array in tensors.values())
    os.replace(path + ".part", path)


def read_safetensors(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, body = json.loads(file.read(length)), file.read()
    types = {short: numpy.dtype(name) for name, short in TYPES.items()}
    return {name: numpy.frombuffer(body[slice(*entry["data_offsets"])], types[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def numpy_state(module, dtype):
    return {name: tensor.detach().numpy().astype(dtype) for name, tensor in module.state_dict().items()}


def eagle_config(target, words, taps, kv_heads=None, fc_norm=False):
    """`taps`: layers that the features enter; the published ids count the layer whose output they are."""
    return {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": target.width,
            "target_hidden_size": target.width, "intermediate_size": target.ffn_width, "num_hidden_layers": 1,
            "num_attention_heads": target.heads, "num_key_value_heads": kv_heads or target.kv_heads,
            "head_dim": target.head_dim,
            "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": float(target.theta),
            "max_position_embeddings": 8192, "tie_word_embeddings": False, "vocab_size": target.vocab,
            "draft_vocab_size": words, "torch_dtype": "float16",
            **({"fc_norm": True} if fc_norm else {}),
            "eagle_config": {"use_aux_hidden_state": True,
                             "eagle_aux_hidden_state_layer_ids": [tap - 1 for tap in taps]}}


def write_config(folder, config):
    with open(os.path.join(folder, "config.json"), "w") as file:
        file.write(json.dumps(config, indent=2) + "\n")


def write_eagle(folder, head, words, dtype="float16"):
    """words: the target's ids of the draft vocabulary, ascending. d2t holds offsets: id = row + d2t[row]."""
    os.makedirs(folder, exist_ok=True)
    known = numpy.zeros(head.config["vocab_size"], dtype=bool)
    known[words] = True
    tensors = numpy_state(head, dtype)
    tensors["d2t"] = numpy.asarray(words, dtype=numpy.int64) - numpy.arange(len(words))
    tensors["t2d"] = known
    write_safetensors(os.path.join(folder, "model.safetensors"), tensors)
    write_config(folder, {**head.config, "torch_dtype": dtype})


def write_medusa(folder, heads, base, dtype="float16"):
    os.makedirs(folder, exist_ok=True)
    write_safetensors(os.path.join(folder, "medusa_lm_head.safetensors"), numpy_state(heads, dtype))
    write_config(folder, {"medusa_num_heads": len(heads), "medusa_num_layers": 1, "base_model_name_or_path": base,
                          "version": "2"})


def write_head(folder, head, config, prefix="", dtype="float32"):
    os.makedirs(folder, exist_ok=True)
    tensors = {prefix + name: array for name, array in numpy_state(head, dtype).items()}
    write_safetensors(os.path.join(folder, "model.safetensors"), tensors)
    write_config(folder, config)


def load_state(module, path):
    """A head from its file, float32; returns the tensors that are not the module's (d2t, t2d)."""
    tensors = read_safetensors(path)
    state = {name: torch.from_numpy(tensors.pop(name).astype(numpy.float32)) for name in module.state_dict()}
    module.load_state_dict(state)
    return tensors
