"""The programs under test of peer_bench.py: each loads once, then waits for requests; only one computes at a time."""
import json
import os
import subprocess
import time
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.expanduser(os.environ.get("FORERUN_CACHE") or "~/.cache/forerun")
PEER = "llama-cpp-python==0.3.36"
PEER_NAME, OUR_NAME = "llama.cpp", "Forerun"
SETTLE = 0.05  # seconds between turns: OpenMP's threads spin for some milliseconds before they sleep


class BenchError(Exception):
    """One line for the user."""


class Side:
    """One program under test: a process that answers JSON lines."""

    def __init__(self, name, command):
        self.name = name
        try:
            self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            text=True)
        except OSError as error:
            raise BenchError(f"{command[0]}: {error.strerror}")
        self.about = self.read()  # once the model is loaded
        self.waited = self.cpu_while_waiting = 0.0  # seconds

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise BenchError(f"{self.name} ended with code {self.process.returncode}")
        answer = json.loads(line)
        if "error" in answer:
            raise BenchError(f"{self.name}: {answer['error']}")
        return answer

    def ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # read() says how it ended
        return self.read()

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # user and system

    def idle_cpu(self):
        return self.cpu_while_waiting / self.waited if self.waited else 0.0

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it had ended
        self.process.wait()
        self.process.stdout.close()


def ask_one(side, sides, request):
    """The answer of one side; what the others use meanwhile is added to their idle time."""
    time.sleep(SETTLE)
    others = [(other, other.cpu_seconds()) for other in sides if other is not side]
    start = time.monotonic()
    answer = side.ask(request)
    for other, before in others:
        other.waited += time.monotonic() - start
        other.cpu_while_waiting += other.cpu_seconds() - before
    return answer


def ask_both(sides, request, round_index):
    """The sides' answers by name. Odd rounds go the other way round."""
    in_turn = sides if round_index % 2 == 0 else reversed(sides)
    return {side.name: ask_one(side, sides, request) for side in in_turn}


def close_all(sides):
    for side in sides:
        side.close()


def forward_sides(options, peer_python, model):
    """The two sides that time forwards; closes the first where the second fails."""
    common = [os.path.relpath(model, ROOT), "--threads", str(options.threads)]
    forerun = [options.forerun, "bench", "model", *common, "--serve"]
    forerun += ["--isa", options.isa] if options.isa else []
    forerun += ["--full-logits"] if options.full_logits else []
    worker = os.path.join(ROOT, "scripts", "peer_bench_worker.py")
    sides = [Side(PEER_NAME, [peer_python, worker, *common])]
    try:
        return sides + [Side(OUR_NAME, forerun)]
    except BenchError:
        close_all(sides)
        raise


def find_peer(path):
    """The peer's Python; installs the peer where no path is given and it is not there yet."""
    python = path or os.path.join(CACHE, "peer-venv", "bin", "python")
    probe = [python, "-c", "import llama_cpp"]
    if os.path.exists(python) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        return python
    if path:
        raise BenchError(f"{path}: expected a Python with {PEER}, and it cannot import llama_cpp")
    print(f"installing {PEER} into {os.path.dirname(os.path.dirname(python))} (about 15 minutes)", flush=True)
    venv.create(os.path.join(CACHE, "peer-venv"), with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", PEER]).returncode != 0:
        raise BenchError(f"pip could not install {PEER}; the lines above say why")
    return python
