# SPDX-License-Identifier: Apache-2.0
"""Traces of the PyTorch profiler on GPUs (Kineto): one file per rank, from which every fact is read."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.facts.rank_facts import Source
from advisor.model.run import Run
from advisor.sources.family import Candidate, Family, Input
from advisor.sources.kineto.detect import NAME, WANTED, detect, is_trace_name
from advisor.sources.recorder_hints import RecorderHints


def _open(found: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    """As `open_traces`, which nobody needs who has no such traces."""
    from advisor.sources.kineto.opening import open_traces

    return open_traces(found, given)


def _is_of_device(found: Candidate) -> bool:
    """As `may_hold_work`."""
    from advisor.sources.kineto.opening import may_hold_work

    return may_hold_work(found)


def _hints(run: Run) -> RecorderHints | None:
    """Those of GPUs, where one was recorded: what a trace of the host alone is of is not known."""
    from advisor.sources.kineto.gpu_hints import GPU_HINTS

    return GPU_HINTS if run.device_family == "gpu" else None


KINETO = Family(
    NAME,
    detect,
    _open,
    exports=frozenset({"trace"}),
    hints=_hints,
    wanted=WANTED,
    reads=is_trace_name,
    of_device=_is_of_device,
)
