# SPDX-License-Identifier: Apache-2.0
"""From files to observed facts: a folder per family of profilers, and what lies at a path told among them."""

from advisor.sources.opening import check_reachable, open_input, open_unpacked
from advisor.sources.unpacking import UnpackedInput

__all__ = ["UnpackedInput", "check_reachable", "open_input", "open_unpacked"]
