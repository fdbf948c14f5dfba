# SPDX-License-Identifier: Apache-2.0
"""Captures of the Ascend PyTorch Profiler and of the MindSpore Profiler: one module per fact, exports side by side."""
