# SPDX-License-Identifier: Apache-2.0
"""What the jobs of each forge's CI tell, so that nothing has to be said twice; and which token goes where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.bot.ci_job import CiJob
from advisor.bot.forges import FORGES, ci_job, token_of
from advisor.messages.errors import UsageError

ACTIONS = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "team/model",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_RUN_ID": "99",
    "GITHUB_SHA": "f" * 40,
}
RUN = "https://github.com/team/model/actions/runs/99"


def event(folder: Path, content: Any) -> dict[str, str]:
    path = folder / "event.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return {"GITHUB_EVENT_PATH": str(path)}


def test_a_job_for_a_pull_request_on_github_knows_all(tmp_path: Path) -> None:
    told = event(tmp_path, {"number": 7, "pull_request": {"number": 7, "head": {"sha": "a" * 40}}, "action": "opened"})
    known = ci_job(ACTIONS | told | {"GITHUB_REF": "refs/pull/7/merge"})
    assert known == CiJob("github", "team/model", 7, "a" * 40, "https://api.github.com", RUN)


def test_the_ref_tells_the_number_where_there_is_no_event() -> None:
    assert ci_job(ACTIONS | {"GITHUB_REF": "refs/pull/12/merge"}).number == 12
    assert ci_job(ACTIONS | {"GITHUB_REF": "refs/heads/main"}).number is None


def test_a_comment_that_starts_a_job_tells_its_pull_request(tmp_path: Path) -> None:
    on_pull = event(tmp_path, {"issue": {"number": 5, "pull_request": {"url": "x"}}, "comment": {}})
    assert ci_job(ACTIONS | on_pull).number == 5
    on_issue = event(tmp_path, {"issue": {"number": 5}})
    assert ci_job(ACTIONS | on_issue).number is None


def workflow_run(**more: Any) -> dict[str, Any]:
    return {
        "workflow_run": {
            "event": "pull_request",
            "head_branch": "faster",
            "head_sha": "b" * 40,
            "head_repository": {"owner": {"login": "contributor"}},
            "pull_requests": [],
            "html_url": "https://github.com/team/model/actions/runs/98",
            **more,
        }
    }


def test_the_run_after_a_pull_request_from_a_fork_knows_its_branch_and_its_commit(tmp_path: Path) -> None:
    known = ci_job(ACTIONS | event(tmp_path, workflow_run()) | {"GITHUB_REF": "refs/heads/main"})
    assert (known.number, known.head, known.sha) == (None, "contributor:faster", "b" * 40)
    assert known.run_url == "https://github.com/team/model/actions/runs/98"


def test_the_run_after_a_pull_request_of_the_same_repository_knows_its_number(tmp_path: Path) -> None:
    known = ci_job(ACTIONS | event(tmp_path, workflow_run(pull_requests=[{"number": 7}])))
    assert (known.number, known.head) == (7, "")
    several = ci_job(ACTIONS | event(tmp_path, workflow_run(pull_requests=[{"number": 7}, {"number": 8}])))
    assert (several.number, several.head) == (None, "contributor:faster")
    pushed = ci_job(ACTIONS | event(tmp_path, workflow_run(event="push")))
    assert (pushed.number, pushed.head) == (None, "")


@pytest.mark.parametrize("content", ("", "{", "[]", "null", '{"pull_request": 3}', '{"pull_request": null}', "\x00"))
def test_an_event_of_another_form_tells_nothing_and_ends_nothing(tmp_path: Path, content: str) -> None:
    known = ci_job(ACTIONS | event(tmp_path, content))
    assert (known.repo, known.number, known.sha) == ("team/model", None, "f" * 40)
    assert ci_job(ACTIONS | {"GITHUB_EVENT_PATH": str(tmp_path)}).number is None


def test_gitea_and_forgejo_speak_as_github_does(tmp_path: Path) -> None:
    told = event(tmp_path, {"pull_request": {"number": 3, "head": {"sha": "c" * 40}}})
    here = ACTIONS | told | {"GITHUB_API_URL": "https://git.example.org/api/v1"}
    for name in ("GITEA_ACTIONS", "FORGEJO_ACTIONS"):
        known = ci_job(here | {name: "true"})
        assert known == CiJob("gitea", "team/model", 3, "c" * 40, "https://git.example.org/api/v1")


def test_gitcode_speaks_so_too_under_another_name(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text('{"pull_request": {"number": 4, "head": {"sha": "d"}}}')
    known = ci_job(
        {
            "ATOMGIT_ACTIONS": "true",
            "ATOMGIT_REPOSITORY": "Ascend/model",
            "ATOMGIT_EVENT_PATH": str(path),
            "ATOMGIT_API_URL": "https://api.atomgit.com",
        }
    )
    assert known == CiJob("gitcode", "Ascend/model", 4, "d")


GITLAB = {
    "GITLAB_CI": "true",
    "CI_PROJECT_PATH": "contributor/model",
    "CI_MERGE_REQUEST_PROJECT_PATH": "group/sub/model",
    "CI_MERGE_REQUEST_IID": "31",
    "CI_API_V4_URL": "https://gitlab.example.org/api/v4",
    "CI_COMMIT_SHA": "e" * 40,
    "CI_JOB_URL": "https://gitlab.example.org/group/sub/model/-/jobs/1",
}


def test_a_merge_request_from_a_fork_is_commented_where_it_goes() -> None:
    known = ci_job(GITLAB)
    assert (known.kind, known.repo, known.number, known.sha) == ("gitlab", "group/sub/model", 31, "e" * 40)
    assert (known.api_url, known.run_url) == (GITLAB["CI_API_V4_URL"], GITLAB["CI_JOB_URL"])


def test_the_commit_of_a_merged_result_is_that_of_the_branch() -> None:
    assert ci_job(GITLAB | {"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "a" * 40}).sha == "a" * 40
    branch = {name: value for name, value in GITLAB.items() if "MERGE_REQUEST" not in name}
    assert (ci_job(branch).repo, ci_job(branch).number) == ("contributor/model", None)


def test_jenkins_with_the_plugin_of_gitee_is_known() -> None:
    told = {
        "giteePullRequestIid": "9",
        "giteeTargetNamespace": "team",
        "giteeTargetRepoName": "model",
        "BUILD_URL": "u",
    }
    assert ci_job(told) == CiJob("gitee", "team/model", 9, run_url="u")


def test_outside_a_ci_nothing_is_known() -> None:
    assert ci_job({"PATH": "/bin", "GITHUB_REPOSITORY": "team/model"}) == CiJob()


@given(st.dictionaries(st.sampled_from([*ACTIONS, *GITLAB, "GITHUB_REF", "giteePullRequestIid"]), st.text()))
def test_no_environment_breaks_it(environ: dict[str, str]) -> None:
    known = ci_job(environ)
    assert known.number is None or known.number >= 0


@pytest.mark.parametrize("kind", FORGES)
def test_our_own_variable_comes_first_then_that_of_the_forge(kind: str) -> None:
    all_set = {name: f"of-{name}" for names in (forge.tokens for forge in FORGES.values()) for name in names}
    assert token_of(kind, all_set | {"ADVISOR_TOKEN": "mine"}) == "mine"
    assert token_of(kind, all_set | {"ADVISOR_TOKEN": " "}) == f"of-{FORGES[kind].tokens[0]}"
    others = {name: token for name, token in all_set.items() if name not in FORGES[kind].tokens}
    with pytest.raises(UsageError, match=rf"ADVISOR_TOKEN, {FORGES[kind].tokens[0]}") as caught:
        token_of(kind, others)
    assert "of-" not in str(caught.value)


def test_the_token_of_github_goes_to_gitea_only_where_the_runner_of_gitea_made_it() -> None:
    assert token_of("gitea", {"GITEA_ACTIONS": "true", "GITHUB_TOKEN": "t"}) == "t"
    with pytest.raises(UsageError):
        token_of("gitea", {"GITHUB_TOKEN": "t"})


def test_the_job_token_of_gitlab_is_not_tried_but_explained() -> None:
    with pytest.raises(UsageError, match=r"(?s)CI_JOB_TOKEN cannot write comments.*GITLAB_TOKEN") as caught:
        token_of("gitlab", {"CI_JOB_TOKEN": "sekret"})
    assert "sekret" not in str(caught.value)
