# SPDX-License-Identifier: Apache-2.0
"""What HolisticTraceAnalysis says of traces, as JSON: run by the Python that has it, which is not that of the package.

    /elsewhere/bin/python benchmarks/agreement/hta_figures.py TRACE... > figures.json

The whole trace is looked at, the last step too, and times are not rounded to whole µs, which is its default.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings

_ALL_NAMES = 1_000_000


def figures_of_trace(path: str) -> dict[str, object]:
    """Time split, overlap, idle time by kind and kernels of one trace."""
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_files={0: path}, include_last_profiler_step=True)
    split = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    overlap = analysis.get_comm_comp_overlap(visualize=False).iloc[0]
    _, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=_ALL_NAMES, include_memory_kernels=True)
    idle, _ = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
    by_type, by_kind = (
        kernels.groupby("kernel_type")["sum (us)"].sum(),
        idle.groupby("idle_category")["idle_time"].sum(),
    )
    computation = kernels[kernels["kernel_type"] == "COMPUTATION"]
    return {
        "idle": float(split["idle_time(us)"]),
        "compute": float(split["compute_time(us)"]),
        "non-compute": float(split["non_compute_time(us)"]),
        "whole": float(split["kernel_time(us)"]),
        "overlap": float(overlap["comp_comm_overlap_pctg"]) / 100,
        "types": {str(name): float(us) for name, us in by_type.items()},
        "kernels": {str(row["name"]): float(row["sum (us)"]) for _, row in computation.iterrows()},
        "kinds of idle": {str(name): float(us) for name, us in by_kind.items()},
    }


def main() -> int:
    """Figures of every trace, or why there are none."""
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    found: dict[str, object] = {}
    for path in sys.argv[1:]:
        try:
            found[path] = figures_of_trace(path)
        except Exception as wrong:  # noqa: BLE001 - whatever the other tool stumbles over is what is to be told
            found[path] = {"error": f"{type(wrong).__name__}: {wrong}"[:200]}
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
