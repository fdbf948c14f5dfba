# SPDX-License-Identifier: Apache-2.0
"""One module per command: `words` says what it understands, `run` does it and gives the exit code.

Where a command has actions, `words` names what does each: `action.set_defaults(run=…)`.
A module imports nothing heavy before `run`, and only the module of the command that was asked for is imported at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "diagnose": "read a profile and say what to fix first",
        "inspect": "say what a capture holds, which rules can look, and how to record the rest",
        "modules": "say where in the model time goes: modules, their operators, and the kernels of each",
        "check": "say whether a profile may pass: policy, budgets and what changed since a baseline",
        "explain": "say what a rule reads, measured and held it against, and why it fired or not",
        "bot": "write one comment on a pull request and keep it up to date",
        "verify": "say whether a fix won what its finding promised",
        "compare": "say what changed from one profile to another, and why",
        "stats": "count kernels, operators, calls, collectives, ranks, links, gaps and memory, as tables",
        "facts": "write every table of facts as Parquet, for questions of your own and for later diagnoses",
        "cache": "show or clear what is kept of captures that were read before",
        "mcp": "offer diagnoses, explanations and tables to assistants (Model Context Protocol)",
        "render": "write a report again from a saved .json, without the capture",
        "init": "write a commented advisor.yaml to begin with",
        "snapshot-env": "write what profiles do not record of a machine and a job, or print the script that does",
        "rules": "list, show, write and test rules",
        "completion": "print a script by which a shell completes commands and options",
    }
)
"""Every command and what it is for; the module of the same name in this package does it."""
