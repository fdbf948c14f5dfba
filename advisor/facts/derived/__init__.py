# SPDX-License-Identifier: Apache-2.0
"""What analysis adds: one class per derivation. Most rules read these tables."""

from advisor.facts.base import Fact, facts_in
from advisor.facts.derived.capture import *
from advisor.facts.derived.chip import *
from advisor.facts.derived.communication import *
from advisor.facts.derived.fusion import *
from advisor.facts.derived.host import *
from advisor.facts.derived.idle import *
from advisor.facts.derived.jitter import *
from advisor.facts.derived.job import *
from advisor.facts.derived.launches import *
from advisor.facts.derived.modules import *
from advisor.facts.derived.operators import *
from advisor.facts.derived.phases import *
from advisor.facts.derived.ranks import *
from advisor.facts.derived.replay import *
from advisor.facts.derived.rooflines import *
from advisor.facts.derived.steps import *

DERIVED: tuple[type[Fact], ...] = facts_in(__name__)
"""Every one of them."""
