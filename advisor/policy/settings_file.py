# SPDX-License-Identifier: Apache-2.0
"""The shape of `advisor.yaml` for editors: every key with what it means. `settings` and `policy_file` read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from advisor.chips.chip_files import shipped_chips
from advisor.chips.chip_schema import ChipFile, Memory
from advisor.model.job import Stack, ToldWorkload
from advisor.model.verdict import Action
from advisor.rules.schema import SeverityWord

if TYPE_CHECKING:
    from advisor.rules.bind import Rule

_LEVEL = "(info|low|medium|high|critical)"
_BAR = rf"((new|worse):)?{_LEVEL}"
Bars = Annotated[str, Field(pattern=rf"^(none|{_BAR}( *, *{_BAR})*)$")]
Share = Annotated[str, Field(pattern=r"^[0-9.]+ *%?$")] | Annotated[float, Field(ge=0, le=1)]
Percent = Annotated[str, Field(pattern=r"^[0-9.]+ *%$")]
TimeWord = Annotated[str, Field(pattern=r"^[0-9.]+ *(us|µs|μs|ms|s)$")]
_MEANT = "An exact id wins over a pattern such as `host/*`, a longer pattern over a shorter one"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OverrideFile(_Section):
    """What is changed about a rule. Its logic never is."""

    params: dict[str, float | Percent] = Field(
        {}, description="Thresholds by name, shares also as `25%`; `advisor rules show ID` lists them."
    )
    severity: SeverityWord | None = Field(None, description="The severity of its findings, whatever it measures.")


class PolicyFile(_Section):
    """What becomes of findings: `off` (not looked at), `warn` (shown) or `error` (fails the run)."""

    rules: dict[str, Action | Literal[False]] = Field({}, description=f"By id or pattern. {_MEANT}.")
    categories: dict[str, Action | Literal[False]] = Field({}, description="By the part of the id before the `/`.")
    severities: dict[SeverityWord, Action | Literal[False]] = Field({}, description="By the severity of the finding.")


class LimitFile(_Section):
    """A limit, and what becomes of a run that exceeds it."""

    limit: str | float = Field(description="The limit with its unit: `25%`, `250ms`, `60GiB`.")
    action: Action | Literal[False] = Field("error", description="`warn` shows it without failing the run.")


class BudgetsFile(_Section):
    """Limits for the run as a whole. One that cannot be measured fails nothing, and is said."""

    free_share: Share | LimitFile | None = Field(None, description="Idle part of the mean step over all ranks: `25%`.")
    step_time: TimeWord | LimitFile | None = Field(None, description="Mean step of the slowest rank: `250ms`.")
    memory: Memory | LimitFile | None = Field(
        None, description="Most device memory that any rank reserved at any moment: `60GiB`."
    )
    saving_left: Share | TimeWord | LimitFile | None = Field(
        None, description="The largest saving of any one finding that still counts: `10%` of the step, or a time."
    )
    slowdown: Share | LimitFile | None = Field(
        None, description="How much longer a step takes than in the baseline: `3%`; 10 % where nothing is said."
    )


class CacheFile(_Section):
    """Where facts of captures are kept, and how much of them."""

    folder: str = Field(min_length=1, description="The folder, relative to that of this file; it is made where needed.")
    size: Memory | None = Field(
        None, description="How much it may hold: what was used longest ago goes first (default: 10 GiB)."
    )


class SuppressionFile(_Section):
    """A finding that the project lives with for now."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["rule"]}, {"required": ["fingerprint"]}]})

    reason: str = Field(min_length=1, description="Why, in words.")
    rule: str = Field("", description="An id, or a pattern such as `io/*`.")
    fingerprint: str = Field(
        "", pattern=r"^([0-9a-f]{16})?$", description="One finding of one subject, as `advisor check` shows it."
    )
    owner: str = Field("", description="Who looks after it.")
    expires: str = Field(
        "",
        pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$",
        description="The last day on which it holds, by UTC: YYYY-MM-DD.",
    )


class CompareFile(_Section):
    """What a difference must exceed, all of it, to count as a change."""

    floor: Share | None = Field(None, description="Part of the longer of the two steps (default: 1 %).")
    relative: Share | None = Field(None, description="Part of the larger of the two values (default: 20 %).")
    spread: float | None = Field(None, ge=0, description="How many times the spread over the steps (default: 1).")
    one_step: Share | None = Field(
        None, description="Part of the value that is allowed where a capture holds one step (default: 33 %)."
    )


class SettingsFile(_Section):
    """What a project sets: how rules judge, which findings and limits fail a run, and what it lives with."""

    model_config = ConfigDict(title="advisor.yaml")

    language: Literal["en", "zh"] | None = Field(None, description="The language of reports; `--lang` wins.")
    chip: str | None = Field(
        None,
        description="The chip that the job ran on, such as `Ascend910B3` or `910B3`, where captures name none or only "
        "its family: it tells the device memory, the clock and what the chip can at most. `--chip` wins.",
        examples=[chip.name for chip in shipped_chips().chips],
    )
    chips: dict[str, ChipFile] | None = Field(
        None,
        description="What the project knows of chips: added to the table by name, or in place of what stands there.",
    )
    workload: ToldWorkload | None = Field(
        None, description="What ran, where captures do not show it or show it wrongly; `--workload` wins."
    )
    stack: Stack | None = Field(
        None,
        description="The software whose flags the job has, where captures do not show it or show it wrongly; `--stack` "
        "wins.",
    )
    cache: Annotated[str, Field(min_length=1)] | CacheFile | None = Field(
        None,
        description="A folder where facts are kept, so that what did not change is not read again, or that and how "
        "much it may hold; `--cache` wins.",
    )
    fail_on: Bars | list[Bars] | None = Field(
        None,
        description="Which findings fail a run: `none`, a severity, `new:high` (new or worse than in the baseline), "
        "`worse:high`; several as a list or with commas. `--fail-on` wins.",
    )
    rules: dict[str, Any] = Field(
        {}, description=f"How rules judge: `off`, `on`, or params and severity, by id or pattern. {_MEANT}."
    )
    policy: PolicyFile | None = Field(None, description="What becomes of findings: off, warn or error.")
    budgets: BudgetsFile | None = Field(None, description="Limits for the run as a whole.")
    suppressions: list[SuppressionFile] | None = Field(
        None, description="Findings that the project lives with for now."
    )
    compare: CompareFile | None = Field(None, description="What counts as a change against a baseline.")


def json_schema(rules: Iterable[Rule]) -> dict[str, Any]:
    """The JSON schema of settings, which knows these rules with their thresholds, and allows others."""
    schema = SettingsFile.model_json_schema()
    override = OverrideFile.model_json_schema()
    schema["$defs"]["Override"] = override
    anything = {"anyOf": [_SWITCH, {"$ref": "#/$defs/Override"}]}
    schema["properties"]["rules"] |= {
        "additionalProperties": anything,
        "properties": {rule.id: _of_rule(rule) for rule in sorted(rules, key=lambda rule: rule.id)},
    }
    schema["type"] = ["object", "null"]  # a file of comments alone, as `advisor init` writes it, holds nothing
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


_SHARE = TypeAdapter(Share).json_schema()
_SWITCH = {"enum": ["on", "off", True, False]}


def _of_rule(rule: Rule) -> dict[str, Any]:
    """What may be said of one rule; hovering shows its title and the basis of each threshold."""
    info = rule.info()
    params = {
        one.name: {
            **(_SHARE if one.unit == "share" and one.value <= 1 else {"type": "number"}),
            "default": one.value,
            "description": f"{one.basis.en} ({one.unit or 'a number'})",
        }
        for one in info.params
    }
    mapping = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "params": {
                "type": "object",
                "additionalProperties": False,
                "properties": params,
                "description": "Thresholds.",
            },
            "severity": {**_LEVELS, "description": "The severity of its findings, whatever it measures."},
        },
    }
    return {"description": info.title.unfilled("en"), "anyOf": [_SWITCH, mapping]}


_LEVELS = {"enum": ["info", "low", "medium", "high", "critical"]}
