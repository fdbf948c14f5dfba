# SPDX-License-Identifier: Apache-2.0
"""Stands for python3 on a runner: environments appear at once, and pip only writes down what it is told.

So does advisor, where a test is about the script around it.
"""

from __future__ import annotations

import sys
from pathlib import Path

_SCRIPT = """\
#!/bin/sh
case "$1 $2" in
  "-m venv")
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    cp "{advisor}" "$3/bin/advisor" ;;
  "-m pip") printf '%s\\n' "$@" > "{told}" ;;
  *) exec "{python}" "$@" ;;
esac
"""
_RECORDER = """\
#!{python}
import json, sys
with open("{told}", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
"""


def python3(programs: Path, told: Path, advisor_text: str) -> None:
    """Puts it into a folder for PATH, with a program for advisor; what pip is told goes into the file `told`."""
    programs.mkdir()
    advisor = _program(programs / "advisor-of-the-tests", advisor_text)
    _program(programs / "python3", _SCRIPT.format(python=sys.executable, told=told, advisor=advisor))


def recorded(programs: Path, told: Path) -> None:
    """From now on advisor does nothing; each line of the file `told` is what it was given."""
    _program(programs / "advisor-of-the-tests", _RECORDER.format(python=sys.executable, told=told))


def _program(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path
