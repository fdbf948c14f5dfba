# SPDX-License-Identifier: Apache-2.0
"""What the environment of a CI job tells: which forge, which pull request, which commit, and the token for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

_PULL = re.compile(r"refs/(?:pull|merge-requests)/(\d{1,18})/")


class CiJob(Struct, frozen=True):
    """What is known without being said; empty and None where it is not."""

    kind: str = ""
    """Its forge, as the table of forges calls it."""
    repo: str = ""
    number: int | None = None
    sha: str = ""
    """The commit of the pull request, not of its merge."""
    api_url: str = ""
    run_url: str = ""
    """Where people find this run and what it keeps."""
    head: str = ""
    """`owner:branch` of a pull request whose number the event does not tell."""


class _Owner(Struct):
    login: str | None = None


class _Repository(Struct):
    owner: _Owner | None = None


class _Head(Struct):
    sha: str | None = None


class _Pull(Struct):
    number: int | None = None
    head: _Head | None = None


class _Issue(Struct):
    number: int | None = None
    pull_request: object = None


class _Run(Struct):
    event: str | None = None
    head_branch: str | None = None
    head_sha: str | None = None
    head_repository: _Repository | None = None
    pull_requests: list[_Pull] | None = None
    html_url: str | None = None


class _Event(Struct):
    pull_request: _Pull | None = None
    issue: _Issue | None = None
    workflow_run: _Run | None = None


def actions_job(environ: Mapping[str, str], kind: str, prefix: str) -> CiJob:
    """What a workflow of GitHub Actions, or of one that speaks as it does, tells by variables of this prefix."""

    def read_variable(name: str) -> str:
        return environ.get(f"{prefix}_{name}", "")

    event = _read_event(read_variable("EVENT_PATH"))
    base = CiJob(
        kind=kind,
        repo=read_variable("REPOSITORY"),
        number=_pull_number(event, read_variable("REF")),
        sha=_sha_of_event(event) or read_variable("SHA"),
        api_url=read_variable("API_URL"),
        run_url=f"{read_variable('SERVER_URL')}/{read_variable('REPOSITORY')}/actions/runs/{read_variable('RUN_ID')}",
    )
    run = event.workflow_run
    return base if run is None else _of_run(base, run)


def _of_run(base: CiJob, run: _Run) -> CiJob:
    """What a `workflow_run` event tells of the pull request whose run it follows."""
    owner = run.head_repository and run.head_repository.owner and run.head_repository.owner.login
    from_pull = run.event == "pull_request" and base.number is None and owner and run.head_branch
    return msgspec.structs.replace(
        base, run_url=run.html_url or base.run_url, head=f"{owner}:{run.head_branch}" if from_pull else ""
    )


def _read_event(path: str) -> _Event:
    """What set the job off. A file that is missing or of another form tells nothing: options say what is needed."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=_Event) if path else _Event()
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
        return _Event()


def _pull_number(event: _Event, ref: str) -> int | None:
    if event.pull_request is not None and event.pull_request.number:
        return event.pull_request.number
    if event.issue is not None and event.issue.pull_request and event.issue.number:
        return event.issue.number
    if event.workflow_run is not None:
        pulls = event.workflow_run.pull_requests or []
        return pulls[0].number if len(pulls) == 1 else None
    found = _PULL.match(ref)
    return int(found[1]) if found else None


def _sha_of_event(event: _Event) -> str:
    if event.workflow_run is not None:
        return event.workflow_run.head_sha or ""
    head = event.pull_request.head if event.pull_request is not None else None
    return (head.sha or "") if head is not None else ""


def parse_pull_number(words: str) -> int | None:
    """The number of a pull request, written out; None for anything else."""
    return int(words) if re.fullmatch(r"[0-9]{1,18}", words) else None
