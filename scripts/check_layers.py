#!/usr/bin/env python3
"""Every #include "..." must follow an arrow of GRAPH (or several in a row). --self-test proves that it can fail."""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRAPH = {  # folder: what it may include, besides itself and whatever those may include
    "kernels": [],
    "core/base": ["kernels"],
    "core/sampling": ["core/base"],
    "core/tree": ["core/sampling"],
    "core/verify": ["core/tree"],
    "core/kv": ["core/base"],
    "core/formats": ["core/base"],
    "core/tokenizer": ["core/formats"],
    "core/model": ["core/base", "core/kv", "core/formats"],
    "core/engine": ["core/verify", "core/tokenizer", "core/model"],
    "drafters": ["core/engine"],
    "drafters/lookup": ["drafters"],
    "drafters/reading": ["drafters"],
    "drafters/trees": ["drafters/reading"],
    "drafters/models": ["drafters/trees"],
    "drafters/heads": ["drafters/trees"],
    "drafters/bounds": ["drafters/models"],
    "drafters/joined": ["drafters/reading", "drafters/lookup"],
    "experiments/base": ["drafters/lookup"],
    "experiments/config": ["experiments/base"],
    "experiments/texts": ["experiments/config"],
    "experiments/run": ["experiments/texts"],
    "experiments/report": ["experiments/run"],
    "experiments/lossless": ["experiments/run"],
    "experiments/bench": ["experiments/run"],
    "experiments/commands": ["experiments/report", "experiments/lossless", "experiments/bench"],
    "experiments": ["experiments/commands"],
    "tests": ["experiments", "drafters/heads", "drafters/bounds", "drafters/joined"],
}
# One inline function compiled for a wide ISA may be the copy that the linker keeps for the whole program.
ISA_FILE = re.compile(r"^kernels/.*_avx\w*\.(cc|h)$")
ISA_SYSTEM_HEADERS = {"immintrin.h", "cstdint", "cstddef", "cmath", "cstring"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def folder_of(path):
    return next((folder for folder in sorted(GRAPH, key=len, reverse=True) if path.startswith(folder + "/")), None)


def allowed(folder):
    return {folder}.union(*(allowed(before) for before in GRAPH[folder]))


def mistakes(root):
    tops = {folder.split("/")[0] for folder in GRAPH}
    files = sorted(f for top in tops for suffix in ("h", "cc", "cu", "cuh") for f in (root / top).rglob(f"*.{suffix}"))
    for file in files:
        path = file.relative_to(root).as_posix()
        folder = folder_of(path)
        if folder is None:
            yield f"{path}: its folder is not in scripts/check_layers.py"
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not (match := INCLUDE.match(line)):
                continue
            quote, header = match.groups()
            if quote == '"' and header.split("/")[0] in tops:
                if folder_of(header) not in allowed(folder):
                    yield f"{path}:{number}: {folder} may not include {header}"
            elif quote == '"' and folder == "kernels":
                yield f"{path}:{number}: kernels include no library: {header}"
            elif quote == "<" and ISA_FILE.match(path) and header not in ISA_SYSTEM_HEADERS:
                yield f"{path}:{number}: an ISA file may not include <{header}>"


def self_test():
    bad = {"core/base/a.h": '#include "core/kv/kv_pool.h"', "kernels/b.cc": '#include "absl/status/status.h"',
           "kernels/c_avx2.cc": "#include <vector>", "core/tree/d.h": '#include "core/kv/kv_pool.h"',
           "core/new/e.h": "", "drafters/f.cc": '  # include "experiments/config/config.h"'}
    good = {"core/engine/g.h": '#include "core/base/check.h"\n#include "kernels/kernels.h"\n#include "absl/a.h"'}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**bad, **good}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = [mistake.split(":")[0] for mistake in mistakes(pathlib.Path(folder))]
    return sorted(found) == sorted(bad)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(0 if self_test() else "check_layers: the self-test found other mistakes than it planted")
    found = list(mistakes(ROOT))
    print("\n".join(found or ["layers: every include follows the arrows"]))
    sys.exit(1 if found else 0)
