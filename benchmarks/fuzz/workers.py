# SPDX-License-Identifier: Apache-2.0
"""Inputs tried in processes of their own, under limits: a crash or a hang is a failure and not the end.

Each process tells in shared memory which input it is at. Who takes more processor time for one than it may is asked
where it is (`faulthandler`), ended, and replaced by one that goes on behind it.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from advisor.sources import archive_limits
from benchmarks.fuzz.captures import Files
from benchmarks.fuzz.mutations import Mutation, apply_mutations
from benchmarks.fuzz.promises import BrokenPromise, raise_warning
from benchmarks.fuzz.seeds import names_at_hand, seed_files
from benchmarks.fuzz.targets import RUNS, Plan, learn_facts, plan_input

SECONDS = {"load": 5.0, "diagnose": 20.0, "load-others": 5.0, "diagnose-others": 20.0}
"""Of the processor for one input; the usual one takes 2 and 100 ms."""
WAITING = 20
"""So many times as long an input may take by the clock: other programs run too, but nothing may wait for ever."""
MEMORY = 1 << 30
"""Address space beyond what a process has when it begins."""
GROWTH = 256 << 20
"""By which one input may raise the most memory a process ever had."""
UNPACKED = 8 << 20
"""Bytes that may come out of what is packed; of usual input it is 1 GiB."""
_PER_PROCESS = 20_000
"""Inputs after which a process is replaced, in case something is kept."""
_PLACE = struct.Struct("qdd")
_TICK = os.sysconf("SC_CLK_TCK")


Planner = Callable[[str, int], Plan]
"""The input of a target with a number."""


@dataclass
class Failure:
    """What came of one input that must not."""

    target: str
    number: int
    seed: str
    way: str
    mutations: list[list[Any]]
    kind: str
    what: str
    trace: str = ""

    @property
    def plan(self) -> Plan:
        """What makes its input again, whatever number has become of it."""
        return Plan(self.seed, tuple(Mutation(*one) for one in self.mutations), self.way)

    @property
    def signature(self) -> str:
        """What failures of one cause have in common."""
        return f"{self.target}: {self.broken}"

    @property
    def broken(self) -> str:
        """Which promise, and where."""
        return self.kind if self.kind in ("hang", "crash") else f"{self.kind}: {self.what}"


@dataclass
class Batch:
    """What became of a range of inputs."""

    target: str
    first: int
    inputs: int = 0
    seconds: float = 0.0
    again: bool = False
    """Whether these failed before."""
    kinds: dict[str, int] = field(default_factory=dict)
    """Inputs by family of their mutations."""
    failures: list[Failure] = field(default_factory=list)

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))


def describe_break(target: str, plan: Plan, files: Files, folder: Path) -> tuple[str, str, str]:
    """What broke for one input: the kind, the place and the traceback; nothing of it when all held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        RUNS[target](plan, files, folder)
    except BrokenPromise as broken:
        return broken.promise, broken.seen, traceback.format_exc(limit=-4)
    except Exception as error:  # noqa: BLE001 - which ones escape is the question
        return "traceback", f"{type(error).__name__} {_place_of(error)}", traceback.format_exc(limit=-12)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) << 10
    return ("memory", f"{grown >> 20} MiB more", "") if grown > GROWTH else ("", "", "")


def _place_of(error: BaseException) -> str:
    """The innermost place of advisor that an error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "advisor" in Path(frame.filename).parts]
    if not frames:
        return "outside"
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}"


def try_range(target: str, numbers: range, until: float = 0.0, plan: Planner = plan_input) -> Iterator[Batch]:
    """Try all inputs of these numbers, as far as time goes, in one process after another."""
    while numbers and (not until or time.time() < until):
        batch = _Process(target, numbers[:_PER_PROCESS], until, plan).watch()
        yield batch
        numbers = numbers[max(batch.inputs, 1) :]


class _Process:
    """A forked process that tries inputs one after another, and who watches it."""

    def __init__(self, target: str, numbers: range, until: float, plan: Planner) -> None:
        self.target, self.numbers, self.until, self.plan = target, numbers, until, plan
        self.place = mmap.mmap(-1, _PLACE.size)
        self.place[:] = _PLACE.pack(numbers.start, time.time(), 0.0)
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=_quick_disk()))
        self.told = self.folder / "told"
        self.stack = self.folder / "stack"

    def watch(self) -> Batch:
        """Wait until it ends, or end it; what became of its inputs."""
        started = time.time()
        pid = os.fork()
        if pid == 0:
            self._work()
        status, ended = self._wait(pid)
        batch = self._batch()
        if status:
            number = _PLACE.unpack(self.place[:])[0]
            batch.failures.append(self._failure_of_process(number, status, ended))
            batch.inputs = number - self.numbers.start + 1
        batch.seconds = time.time() - started
        shutil.rmtree(self.folder, ignore_errors=True)
        return batch

    def _wait(self, pid: int) -> tuple[int, bool]:
        """Its status, and whether it was ended for taking too long; not if it ended by itself just before."""
        limit = SECONDS[self.target]
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status, False
            _, began, used = _PLACE.unpack(self.place[:])
            if _processor_seconds(pid) - used > limit or time.time() - began > limit * WAITING:
                os.kill(pid, signal.SIGUSR1)  # tells where it is
                time.sleep(0.5)
                os.kill(pid, signal.SIGKILL)
                status = os.waitpid(pid, 0)[1]
                return status, os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGUSR1, signal.SIGKILL)
            time.sleep(0.05)

    def _batch(self) -> Batch:
        batch = Batch(self.target, self.numbers.start)
        for line in self.told.read_text("utf-8").splitlines() if self.told.exists() else ():
            held = json.loads(line)
            batch.inputs, batch.kinds = held["inputs"], held["kinds"]
            batch.failures += [Failure(**one) for one in held["failures"]]
        return batch

    def _failure_of_process(self, number: int, status: int, ended: bool) -> Failure:
        trace = self.stack.read_text("utf-8", "replace")[-6000:] if self.stack.exists() else ""
        place = next((line.strip() for line in trace.splitlines() if "/advisor/" in line), "no place")
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
        kind = "hang" if ended else "crash"
        return failure_of(self.target, number, self.plan(self.target, number), (kind, f"{how} {place[-120:]}", trace))

    def _work(self) -> None:
        """Try the inputs; never returns."""
        code = 70
        try:
            with self.stack.open("w") as stack:
                faulthandler.enable(stack, all_threads=True)
                faulthandler.register(signal.SIGUSR1, stack, all_threads=True)
                self._try_all()
                code = 0
        except BaseException:  # noqa: BLE001 - the process ends here
            self.stack.write_text(traceback.format_exc())
        finally:
            os._exit(code)

    def _try_all(self) -> None:
        warnings.simplefilter("always")
        warnings.showwarning = raise_warning
        gc.freeze()  # what was there before it began is no garbage, and looking for some takes longer than an input may
        gc.set_threshold(50_000)
        unpack_here(self.folder / "unpacked")
        if self.target == "load":
            learn_facts(self.folder / "prof")
        _limit_process()
        kinds: Counter[str] = Counter()
        failures: list[Failure] = []
        for number in self.numbers:
            self.place[:] = _PLACE.pack(number, time.time(), time.process_time())
            if self.until and time.time() > self.until:
                break
            plan = self.plan(self.target, number)
            kinds.update({one.kind.split()[0] for one in plan.mutations})
            files = apply_mutations(seed_files(self.target, plan.seed), plan.mutations)
            broken = describe_break(self.target, plan, files, self.folder / "prof")
            if broken[0]:
                failures.append(failure_of(self.target, number, plan, broken))
            if broken[0] or number % 50 == 0 or number == self.numbers[-1]:
                self._tell(number, kinds, failures)
        else:
            return
        self._tell(number - 1, kinds, failures)

    def _tell(self, number: int, kinds: Counter[str], failures: Sequence[Failure]) -> None:
        told = {
            "inputs": number - self.numbers.start + 1,
            "kinds": kinds,
            "failures": [asdict(one) for one in failures],
        }
        part = self.told.with_suffix(".part")
        part.write_text(json.dumps(told), "utf-8")
        part.replace(self.told)


def failure_of(target: str, number: int, plan: Plan, broken: tuple[str, str, str]) -> Failure:
    """A failure with all it takes to make its input again."""
    return Failure(target, number, plan.seed, plan.way, [list(one) for one in plan.mutations], *broken)


def unpack_here(folder: Path) -> None:
    """Unpack into a folder of one's own, and so little that a bomb goes off without harm."""
    folder.mkdir()
    tempfile.tempdir = str(folder)
    archive_limits.FREE_BYTES = UNPACKED


def _limit_process() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of a process takes seconds to write and nobody reads it


def _processor_seconds(pid: int) -> float:
    """Processor time a process has used, all its threads together."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICK


def _quick_disk() -> str | None:
    """Where small files cost least."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder of its own is made in it


def prepare_seeds(target: str) -> None:
    """Make all seeds before processes are forked, which then share them."""
    for name in names_at_hand(target):
        seed_files(target, name)
    sys.stdout.flush()
