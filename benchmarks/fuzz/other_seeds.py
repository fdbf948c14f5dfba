# SPDX-License-Identifier: Apache-2.0
"""Captures of other profilers that mutations begin with: of msprof, for MindSpore Insight, of GPUs, and packed ones."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType

from benchmarks.fuzz.captures import Files, read_files
from benchmarks.fuzz.shrink import shrink_capture
from benchmarks.fuzz.sources_of_seeds import REAL, generate_job, record_capture
from corpus import gpu_traces
from corpus.export import EPOCH_NS
from corpus.mindinsight import write_one_rank, write_pipeline
from corpus.msprof import as_msprof
from tests.further_recordings import record_further


def _msprof(export: str, rows: int) -> Files:
    made = as_msprof(generate_job("host-bound", export, 1, 2))
    return shrink_capture(made, rows) if rows else made


def _further(export: str, rows: int, *, of_msprof: bool = False) -> Files:
    """A rank with marked modules, and all that people record beside the usual."""
    made = record_further(generate_job("ragged-products", export, 1, 2, modules=True), EPOCH_NS // 1000)
    made = as_msprof(made) if of_msprof else made
    return shrink_capture(made, rows) if rows else made


def _insight(write: Callable[[Path], Path]) -> Files:
    with tempfile.TemporaryDirectory(prefix="fuzz-seed-") as folder:
        return read_files(write(Path(folder) / "profiler"))


def _traces(ranks: int = 1, *, packed: bool = False, steps: int = 2) -> Files:
    """One trace for each rank, as the profiler of PyTorch writes it on GPUs."""
    made: Files = {}
    for rank in range(ranks):
        held = json.dumps(gpu_traces.trace(gpu_traces.training(steps), rank=rank, world=ranks)).encode()
        name = f"host_{rank}.{rank}.pt.trace.json"
        made[f"{name}.gz" if packed else name] = gzip.compress(held, 1, mtime=0) if packed else held
    return made


def _recorded_trace(name: str, rows: int) -> Files:
    """A recorded trace with so many events of each kind."""
    held = gzip.decompress((Path(os.environ["ADVISOR_REAL_DATA"]) / name).read_bytes())
    return shrink_capture({"host_1.1.pt.trace.json": held}, rows)


def _packed(form: str, seed: Callable[[], Files]) -> Files:
    """A capture in one archive, or each of its files packed by itself."""
    files = {name: held for name, held in seed().items() if isinstance(held, bytes)}
    if form == "gz":
        return {f"{name}.gz": gzip.compress(held, 1, mtime=0) for name, held in files.items()}
    return {f"job.{form}": (_zip_of if form == "zip" else partial(_tar_of, form))(files)}


def _zip_of(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in files.items():
            archive.writestr(zipfile.ZipInfo(name), held, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _tar_of(form: str, files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, held in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(held)
            archive.addfile(member, io.BytesIO(held))
    return gzip.compress(made.getvalue(), 1, mtime=0) if form == "tar.gz" else made.getvalue()


_text = partial(generate_job, "host-bound", "text", 1, 1)
_database = partial(generate_job, "host-bound", "database", 1, 1)
_LEGACY = "mindinsight_legacy"
_TRACE = "gpu_hta/nccl_parser_config/nccl_data.json.gz"
READ = MappingProxyType({
    "msprof text": partial(_msprof, "text", 12),
    "msprof database": partial(_msprof, "database", 12),
    "further text": partial(_further, "text", 12),
    "further database": partial(_further, "database", 12),
    "further msprof": partial(_further, "text", 12, of_msprof=True),
    "insight rank": partial(_insight, write_one_rank),
    "insight pipeline": partial(_insight, write_pipeline),
    "trace": _traces,
    "traces packed": partial(_traces, 2, packed=True),
    "zip of text": partial(_packed, "zip", partial(_text, 8)),
    "tar.gz of msprof": partial(_packed, "tar.gz", partial(_msprof, "text", 8)),
    "tar of insight": partial(_packed, "tar", partial(_insight, write_one_rank)),
    "gz of text": partial(_packed, "gz", partial(_text, 8)),
    "zip of traces": partial(_packed, "zip", partial(_traces, 2)),
    f"{REAL}msprof": partial(record_capture, "helix_fixtures/msprof_real_output", 12),
    f"{REAL}insight cluster": partial(record_capture, f"{_LEGACY}/cluster_propose", 12),
    f"{REAL}insight run": partial(record_capture, f"{_LEGACY}/run_2/normal_run/profiler", 12),
    f"{REAL}trace": partial(_recorded_trace, _TRACE, 12),
})  # fmt: skip
"""Few rows: all facts are read, after opening them as people do."""
JUDGED = MappingProxyType({
    "msprof text": partial(_msprof, "text", 0),
    "msprof database": partial(_msprof, "database", 0),
    "further text": partial(_further, "text", 0),
    "further database": partial(_further, "database", 0),
    "insight rank": partial(_insight, write_one_rank),
    "insight pipeline": partial(_insight, write_pipeline),
    "traces": partial(_traces, 2, steps=4),
    "traces packed": partial(_traces, 2, packed=True, steps=4),
    "zip of database": partial(_packed, "zip", partial(_database, 60)),
    "tar.gz of text": partial(_packed, "tar.gz", partial(_text, 60)),
    f"{REAL}msprof": partial(record_capture, "helix_fixtures/msprof_real_output", 60),
    f"{REAL}insight cluster": partial(record_capture, f"{_LEGACY}/cluster_propose", 60),
    f"{REAL}trace": partial(_recorded_trace, _TRACE, 60),
})  # fmt: skip
"""Whole jobs, small."""
