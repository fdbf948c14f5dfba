# SPDX-License-Identifier: Apache-2.0
"""Statistics: tables of a profile by kernels, calls, collectives, ranks and so on; their JSON form."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from advisor.messages.text import Text, TimesOf
from advisor.model.findings import Rows
from advisor.model.json_text import json_text
from advisor.model.run import InputNote
from advisor.model.unread import Unread


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Statistic(_Model):
    """One table."""

    name: str
    keys: tuple[str, ...]
    """The columns that name a row; the others are measured."""
    rows: Rows


class AbsentStatistic(_Model):
    """A table that this profile does not give, and why."""

    name: str
    reason: Text


class Statistics(_Model):
    """Tables of one profile."""

    schema_version: int = 1
    version: str
    run: str
    """The name of what was read."""
    notes: tuple[InputNote, ...] = ()
    """How the input was chosen: those of the run."""
    times_of: TimesOf = "step"
    """What `span_us` is: a step; where none was marked the captured window, and where msprof recorded a whole program
    the time in which its device worked."""
    tables: tuple[Statistic, ...]
    absent: tuple[AbsentStatistic, ...] = ()
    lost: tuple[Text, ...] = ()
    """What is known to be gone of what the tables are made from."""
    unread: tuple[Unread, ...] = ()
    """What of the input could not be read."""

    def to_json(self) -> str:
        """The published form: two blanks of indent, keys in declared order, a final line break."""
        return json_text(self.model_dump(mode="json"))
