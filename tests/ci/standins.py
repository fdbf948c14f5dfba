# SPDX-License-Identifier: Apache-2.0
"""Stands for python3 on a runner: environments appear at once, and pip only writes down what it is told."""

from __future__ import annotations

import sys
from pathlib import Path

_SCRIPT = """\
#!/bin/sh
case "$1 $2" in
  "-m venv")
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    printf '#!/bin/sh\\nexec "{python}" -m advisor "$@"\\n' > "$3/bin/advisor"
    chmod +x "$3/bin/advisor" ;;
  "-m pip") printf '%s\\n' "$@" > "{told}" ;;
  *) exec "{python}" "$@" ;;
esac
"""


def python3(programs: Path, told: Path) -> None:
    """Puts it into a folder for PATH; what pip is told goes into the file `told`."""
    programs.mkdir()
    script = programs / "python3"
    script.write_text(_SCRIPT.format(python=sys.executable, told=told), "utf-8")
    script.chmod(0o755)
