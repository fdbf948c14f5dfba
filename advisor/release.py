# SPDX-License-Identifier: Apache-2.0
"""Which release this is. Below everything, so that knowing it means knowing nothing else."""

from __future__ import annotations

VERSION = "0.1.0"
