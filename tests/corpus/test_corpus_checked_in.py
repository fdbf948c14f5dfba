# SPDX-License-Identifier: Apache-2.0
"""The cases in the repository are what the generator writes today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import corpus
from corpus.__main__ import main

HERE = Path(corpus.__file__).parent
BUDGET_BYTES = 2_000_000


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_case_of_the_readme_is_regenerated_byte_for_byte(tmp_path: Path) -> None:
    assert main(["write", "host-bound-2-ranks", str(tmp_path)]) == 0
    kept = _files(HERE / "host-bound-2-ranks")
    assert kept.pop("ORIGIN.md")
    assert _files(tmp_path) == kept


def test_the_corpus_stays_small() -> None:
    assert sum(path.stat().st_size for path in HERE.rglob("*") if "__pycache__" not in path.parts) < BUDGET_BYTES


def test_whoever_stops_reading_the_list_sees_no_traceback() -> None:
    listing = subprocess.Popen([sys.executable, "-m", "corpus", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert listing.stdout and listing.stderr
    listing.stdout.close()
    assert (listing.stderr.read(), listing.wait()) == (b"", 0)
    listing.stderr.close()


def test_an_unknown_case_is_wrong_use(tmp_path: Path) -> None:
    assert main(["write", "nothing", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_the_case_already_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["write", "host-bound-2-ranks", str(tmp_path)]) == 0
    assert main(["write", "host-bound-2-ranks", str(tmp_path)]) == 2
    (tmp_path / "file").touch()
    assert main(["write", "host-bound-2-ranks", str(tmp_path / "file")]) == 2
    assert main(["write", "host-bound-2-ranks", str(tmp_path / "file" / "below")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert all(line.startswith(str(tmp_path)) for line in said)
