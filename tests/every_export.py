# SPDX-License-Identifier: Apache-2.0
"""Captures that together hold every source, export and kind of table: what is kept of them must come back as it was."""

CAPTURES = [
    ("slow-link", {"export": "database"}),
    ("expert-imbalance", {}),
    ("uneven-stages", {"export": "database", "level": 0}),
    ("synchronise-per-layer", {"level": 2}),
]
"""Generated ones: the fault, and how it is written."""

REAL = [
    "gpu_kineto_models/h100_qwen1.5-0.5b.json.gz",
    "gpu_hta/trace_filter",
    "helix_fixtures/msprof_real_output",
    "mindinsight_legacy/cluster_propose",
    "mindinsight_legacy/profiler",
    "msinsight_pytorch_matrix/db/level2",
    "msinsight_pytorch_matrix/text/level1",
    "msinsight_server_testdata/cluster_analysis_output",
    "published_tables/mindformers_24l_dp8_ascend_ms",
]
"""Recorded ones, in the folder that `ADVISOR_REAL_DATA` names."""
