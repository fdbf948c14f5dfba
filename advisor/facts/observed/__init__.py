# SPDX-License-Identifier: Apache-2.0
"""What sources hold: one class per fact, the same whether it came from the text or the database export."""

from advisor.facts.base import Fact, facts_in
from advisor.facts.observed.capture import *
from advisor.facts.observed.communication import *
from advisor.facts.observed.counters import *
from advisor.facts.observed.device import *
from advisor.facts.observed.host import *
from advisor.facts.observed.input_data import *
from advisor.facts.observed.memory import *
from advisor.facts.observed.modules import *
from advisor.facts.observed.steps import *

OBSERVED: tuple[type[Fact], ...] = facts_in(__name__)
"""Every one of them."""
