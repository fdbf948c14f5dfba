# SPDX-License-Identifier: Apache-2.0
"""The families of sources that can be read. The first that recognises what a folder holds has it."""

from __future__ import annotations

from advisor.sources.ascend import ASCEND
from advisor.sources.cluster import CLUSTER
from advisor.sources.family import Family
from advisor.sources.kineto import KINETO
from advisor.sources.mindinsight import MINDINSIGHT
from advisor.sources.stored import STORED

FAMILIES: tuple[Family, ...] = (STORED, CLUSTER, MINDINSIGHT, ASCEND, KINETO)
