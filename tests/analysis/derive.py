# SPDX-License-Identifier: Apache-2.0
"""Derivations asked with tables by their plain names, wherever in its parameters a derivation takes them."""

from __future__ import annotations

from typing import Any

from advisor.facts.derivation import Derivation, call_derivation, needs_of_derivation
from advisor.facts.table import Table


def derive(derivation: Derivation, **tables: Any) -> Table[Any]:
    """What a derivation makes of tables by the names of their parameters, or of the fields of a set of tables; what is
    not given was not recorded."""
    needs = needs_of_derivation(derivation)
    unknown = tables.keys() - {need.rpartition(".")[2] for need in needs}
    assert not unknown, unknown
    return call_derivation(derivation, {need: tables.get(need.rpartition(".")[2]) for need in needs})
