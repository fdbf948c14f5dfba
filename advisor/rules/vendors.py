# SPDX-License-Identifier: Apache-2.0
"""Words by which remedies name what one family of devices, or one framework on it, has and others have not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

WORDS: Mapping[str, re.Pattern[str]] = {
    "device_family": re.compile(
        r"torch_npu|torch\.npu|npu-smi|\bnpu\b|\bNPU\b|\bnpu_\w+|\bNpu[A-Z]\w*|hccn_tool|msprof|\bCANN\b|Ascend|昇腾"
        r"|\bHCCL\w*|\bhccl\b|\bacl(rt|op|nn)\w*|\b(ASCEND|ACLNN|ACL|PYTORCH_NPU)_\w+|TASK_QUEUE_ENABLE|CPU_AFFINITY_CONF"
    ),
    "framework": re.compile(
        r"torch_npu|torch\.npu|\"npu\"|\bnpu_\w+|\bNpu[A-Z]\w*|NPUGraph|ASCEND_LAUNCH_BLOCKING|ACL_OP_COMPILER\w*"
        r"|PYTORCH_NPU_\w+|TASK_QUEUE_ENABLE|CPU_AFFINITY_CONF"
    ),
}
"""By the name of the run that a remedy with such words has to ask for. Those of torch_npu ask for both."""


def named_tools(text: str) -> Iterator[tuple[str, str]]:
    """The names of the run that a text depends on, each with the word that shows it."""
    for name, words in WORDS.items():
        if found := words.search(text):
            yield name, found[0]
