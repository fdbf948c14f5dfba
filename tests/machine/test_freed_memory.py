# SPDX-License-Identifier: Apache-2.0
"""What a process lets go of returns to the system, also what Arrow took."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.warm_advisor import TOP

_POOL = "ARROW_DEFAULT_MEMORY_POOL"
_TELL = "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Arrow keeps its own pool")
@pytest.mark.parametrize(("before", "chosen"), [("", ""), ("import pyarrow; ", ""), ("", "mimalloc")])
def test_arrow_takes_memory_where_it_returns_unless_the_user_chose_another_pool(before: str, chosen: str) -> None:
    asked = f"{before}from advisor.machine.freed_memory import give_back_memory; give_back_memory(); {_TELL}"
    environment = {name: value for name, value in os.environ.items() if name != _POOL}
    environment |= {_POOL: chosen} if chosen else {}
    told = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == (chosen or "system")


def test_the_pool_of_a_program_of_others_stays_what_it_was() -> None:
    asked = f"import advisor; advisor.diagnose({str(TOP / 'corpus' / 'host-bound-2-ranks')!r}); {_TELL}"
    environment = {name: value for name, value in os.environ.items() if name != _POOL}
    plain = subprocess.run([sys.executable, "-c", _TELL], env=environment, capture_output=True, text=True, check=True)
    told = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout == plain.stdout
