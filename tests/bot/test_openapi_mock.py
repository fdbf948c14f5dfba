# SPDX-License-Identifier: Apache-2.0
"""Every request of the bot is one that the forge's own description allows; Prism answers with its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx2
import pytest
from prism import Prism, prism

from advisor.bot.forge import Comment, Forge, Light
from advisor.bot.forges import forge_client
from advisor.bot.retries import Retries

TOKEN = "a-token-of-no-account"  # noqa: S105
SHA = "c3d0be41ecbe669545ee3e94d31ed9a4bc91ee3c"
GREEN = Light(passed=True, title="nothing is worse", summary="**fine**", url="https://ci.example.org/7")
RED = Light(passed=False, title="free time went from 12 % to 31 %")


@pytest.fixture(scope="module", params=("github", "gitea", "gitlab"))
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prism]:
    with prism(request.param, tmp_path_factory.mktemp("prism")) as running:
        yield running


@pytest.fixture
def forge(served: Prism) -> Forge:
    """The bot's client, speaking to Prism."""
    served.forget()
    once = Retries(tries=1)
    return forge_client(served.forge, "team/model", 7, TOKEN, served.address, retries=once)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "work",
    (
        lambda forge: forge.whoami(),
        lambda forge: list(forge.comments()),
        lambda forge: forge.create("| what | before | after |\n|---|--:|--:|\n| free | 12 % | 31 % |"),
        lambda forge: forge.update(Comment(41, "bot", "old"), "new, with 中文 and 😀"),
        lambda forge: forge.delete(Comment(41, "bot", "old")),
        lambda forge: forge.set_status(SHA, GREEN),
        lambda forge: forge.set_status(SHA, RED),
    ),
    ids=("whoami", "comments", "create", "update", "delete", "green", "red"),
)
def test_what_the_bot_asks_is_in_the_description(served: Prism, forge: Forge, work: Callable[[Forge], object]) -> None:
    work(forge)
    assert served.asked()
    assert served.objections() == []


@pytest.mark.parametrize("light", (GREEN, RED), ids=("green", "red"))
def test_a_check_run_is_in_the_description(served: Prism, forge: Forge, light: Light) -> None:
    if not forge.features.check:
        pytest.skip(f"{forge.name} has no check runs")
    forge.add_check(SHA, light)
    assert served.asked() == ["post /repos/team/model/check-runs"]
    assert served.objections() == []


@pytest.mark.parametrize("light", (GREEN, RED), ids=("green", "red"))
def test_the_longest_title_and_summary_still_fit(served: Prism, forge: Forge, light: Light) -> None:
    long = Light(passed=light.passed, title="t" * 5_000, summary="s" * 200_000)
    forge.set_status(SHA, long)
    if forge.features.check:
        forge.add_check(SHA, long)
    assert served.objections() == []


WRONG = {
    "a path that does not exist": ("GET", "/nowhere", None),
    "a field that does not exist": ("POST", "{notes}", {"body": "fine", "boddy": "not"}),
    "a value of the wrong type": ("POST", "{notes}", {"body": 7}),
}


@pytest.mark.parametrize(("method", "path", "payload"), WRONG.values(), ids=list(WRONG))
def test_prism_objects_to(served: Prism, method: str, path: str, payload: object) -> None:
    """The harness itself: it would see a request that the description does not allow."""
    served.forget()
    notes = "/projects/1/merge_requests/7/notes" if served.forge == "gitlab" else "/repos/team/model/issues/7/comments"
    headers = {"authorization": f"token {TOKEN}", "private-token": TOKEN}
    answer = httpx2.request(
        method, served.address + path.format(notes=notes), json=payload, headers=headers, trust_env=False
    )
    assert answer.is_error
    assert served.objections()


def test_a_token_in_the_wrong_place_is_objected_to(served: Prism) -> None:
    if served.forge == "github":
        pytest.skip("the description of GitHub names no way to sign in")
    served.forget()
    assert httpx2.get(f"{served.address}/user", headers={"x-token": TOKEN}, trust_env=False).status_code == 401
    assert served.objections()
