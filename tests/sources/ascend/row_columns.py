# SPDX-License-Identifier: Apache-2.0
"""Rows that a test writes one by one, as the columns that a loader makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_type_hints

import numpy as np

from advisor.facts.table import Texts

_DTYPES = {int: np.int64, float: np.float64, bool: np.bool_}


def columns_as_in(columns: type, rows: Sequence[Any], fields: Sequence[str]) -> dict[str, Any]:
    """By name the column of each of these fields of named tuples, of the type that it has in `columns`."""
    cells = list(zip(*rows, strict=True)) or [()] * len(fields)
    hints = get_type_hints(columns)
    return {
        name: Texts.of(values) if hints[name] is Texts else np.array(values, _type_of(values))
        for name, values in zip(fields, cells, strict=True)
    }


def _type_of(values: Sequence[object]) -> Any:
    return _DTYPES[type(values[0])] if values else np.int64
