# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m advisor.reference`."""

from __future__ import annotations

import sys

from advisor.reference.pages import main

if __name__ == "__main__":
    sys.exit(main())
