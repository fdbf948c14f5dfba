# SPDX-License-Identifier: Apache-2.0
"""Traces of the PyTorch profiler on GPUs (Kineto): one file per rank, from which every fact is read."""

from __future__ import annotations

from advisor.sources.family import Family
from advisor.sources.kineto.detect import NAME, WANTED, detect, is_trace_name
from advisor.sources.kineto.opening import open_traces

KINETO = Family(NAME, detect, open_traces, wanted=WANTED, reads=is_trace_name)
