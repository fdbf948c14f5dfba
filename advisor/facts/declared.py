# SPDX-License-Identifier: Apache-2.0
"""What the modules of a package declare: who adds a fact, a reading or a derivation names it nowhere else."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module


def declared_in(package: str) -> Iterator[tuple[str, object]]:
    """Every public name that a module below a package gives a value, module by module, line by line.

    What a module imports is among them; classes and functions say by `__module__` where they are from.
    """
    for found in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        if found.ispkg:
            yield from declared_in(found.name)
        else:
            yield from ((name, value) for name, value in vars(import_module(found.name)).items() if name[0] != "_")
