# SPDX-License-Identifier: Apache-2.0
"""Signs of decode steps that run a compiled graph, as the list of kernels alone tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from corpus.signs import Sign, Write

_STEPS = range(3, 8)
_GRAPH = ("GatherV2", *("RmsNorm", "MatMul", "ApplyRotaryPosEmb", "IncreFlashAttention", "MatMul") * 8)
_AFTERWARDS = ("ArgMaxV2", "Adds", "SelectV2", "Fill")
"""What the host launches one by one behind each run: it picks a token, and goes on to the next place."""
_NO_GRAPH = 4294967295
_HEAD = (
    "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)"
)


def _decoding(kernel_us: float, within_us: float, between_us: float) -> Write:
    """Steps of one run of the graph each, with these pauses between its kernels, and before each of what follows."""

    def written(folder: Path) -> None:
        output = folder / "decode_1_20260101000000000_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        rows, sums, now = (
            [_HEAD],
            ["Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"],
            1e6,
        )
        for step in _STEPS:
            begun = now
            for task, (op_type, model) in enumerate(
                [*((one, 1) for one in _GRAPH), *((one, _NO_GRAPH) for one in _AFTERWARDS)]
            ):
                pause = within_us if model == 1 and task else between_us
                now += pause
                rows.append(
                    f"{step},0,{model},{task},2,{op_type}_{task},{op_type},AI_CORE,{now:.3f}\t,{kernel_us:.3f},{pause:.3f}"
                )
                now += kernel_us
            busy = kernel_us * (len(_GRAPH) + len(_AFTERWARDS))
            sums.append(f"0,{step},{busy:.3f},0,0,0,{now - begun - busy:.3f}")
        (output / "kernel_details.csv").write_text("\n".join(rows) + "\n")
        (output / "step_trace_time.csv").write_text("\n".join(sums) + "\n")

    return written


SIGNS: Mapping[str, Sign] = {
    "host/between-graphs": Sign(  # in the twin the pauses are as long, but lie within the graph
        spoiled=_decoding(200, 0, 600),
        twin=_decoding(200, 75, 0),
        shows={"runs_per_step": 1, "singles_per_run": 4, "between_us_per_step": 2880},
        workload="inference",
    ),
    "capture/short-steps": Sign(  # in the twin all lasts ten times as long
        spoiled=_decoding(25, 0, 100),
        twin=_decoding(250, 0, 1000),
        shows={"usual_step_us": 1625},
        workload="inference",
    ),
}
