# SPDX-License-Identifier: Apache-2.0
"""What follows from what was recorded: a package for each subject, in it a module for each derivation.

Derivations are pure and hold no judgement: when a number is a problem is for rules to say. The function that makes a
table has the name of the table.
"""

from __future__ import annotations

from types import FunctionType

from advisor.facts.declared import declared_in
from advisor.facts.derivation import Derivation
from advisor.facts.derived import DERIVED

_FUNCTIONS = {name: value for name, value in declared_in(__name__) if isinstance(value, FunctionType)}
DERIVATIONS: tuple[Derivation, ...] = tuple(_FUNCTIONS[fact.table] for fact in DERIVED)
"""Everything that can be derived, one function per fact of `facts.derived`."""
