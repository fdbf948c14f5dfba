# SPDX-License-Identifier: Apache-2.0
"""`python -m advisor`."""

import sys

from advisor.cli import main

sys.exit(main())
