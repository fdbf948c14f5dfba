# SPDX-License-Identifier: Apache-2.0
"""advisor: reads an Ascend NPU profile and says what to fix first, what it will win, and how, with evidence."""

__version__ = "0.1.0"
