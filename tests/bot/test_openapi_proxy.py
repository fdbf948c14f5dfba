# SPDX-License-Identifier: Apache-2.0
"""The life of a comment with Prism in between: what the bot asks and what the fake forge answers are as described."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_forge import BOT, NUMBER, REPO, TOKEN, FakeForge, Trouble, fake_forge
from forge_descriptions import PREFIX
from prism import Prism, prism

from advisor.bot.ci_job import CiJob
from advisor.bot.forge import Forge, Light
from advisor.bot.forges import forge_client
from advisor.bot.github import pull_of
from advisor.bot.retries import Retries
from advisor.bot.sticky import Posted, comment_mark, post_comment
from advisor.cli.main import main
from advisor.messages.errors import ForgeError

CAPTURE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"
MARK = comment_mark()
SHA = "c3d0be41ecbe669545ee3e94d31ed9a4bc91ee3c"
QUICK = Retries(sleep=lambda _: None)


@pytest.fixture(scope="module", params=("github", "gitea", "gitlab"))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeForge, Prism]]:
    kind = request.param
    with fake_forge() as fake:
        upstream = fake.api(kind).removesuffix(PREFIX[kind])
        with prism(kind, tmp_path_factory.mktemp("prism"), upstream) as between:
            yield fake, between


@pytest.fixture
def between(both: tuple[FakeForge, Prism]) -> Iterator[Prism]:
    """Prism. Whatever a test did, all that passed was as described."""
    both[1].forget()
    yield both[1]
    assert both[1].asked()
    assert both[1].objections() == []


@pytest.fixture
def fake(both: tuple[FakeForge, Prism], between: Prism) -> FakeForge:
    """The forge behind Prism, as good as new."""
    address = both[0].address
    both[0].__init__()  # type: ignore[misc]
    both[0].address = address
    return both[0]


def client(between: Prism, number: int = NUMBER, token: str = TOKEN, retries: Retries = QUICK) -> Forge:
    return forge_client(between.forge, REPO, number, token, between.address, retries=retries)  # type: ignore[arg-type]


def run(between: Prism, text: str) -> Posted:
    return post_comment(client(between), f"{MARK}\n{text}", MARK)


def test_a_comment_is_created_updated_in_place_and_left_alone_when_nothing_is_new(
    fake: FakeForge, between: Prism
) -> None:
    assert run(between, "one").done == "created"
    assert run(between, "two, with 中文, 😀 and | pipes").done == "updated"
    assert run(between, "two, with 中文, 😀 and | pipes").done == "unchanged"
    assert fake.by(BOT) == [f"{MARK}\ntwo, with 中文, 😀 and | pipes"]


def test_the_comment_is_found_behind_pages_of_others(fake: FakeForge, between: Prism) -> None:
    for number in range(230):
        fake.say("person", str(number))
    run(between, "one")
    for number in range(110):
        fake.say("person", str(number))
    assert run(between, "two").done == "updated"
    assert fake.by(BOT) == [f"{MARK}\ntwo"]


def test_two_runs_at_the_same_moment_leave_one_comment(fake: FakeForge, between: Prism) -> None:
    meet = threading.Barrier(2, timeout=30)
    waiting = {"GET": 2}

    def before(method: str, path: str) -> None:
        with fake.lock:
            meets = method == "POST" and waiting["GET"] > 0
            waiting["GET"] -= meets
        if meets:
            meet.wait()

    fake.before = before
    runs = [threading.Thread(target=run, args=(between, f"run {number}")) for number in range(2)]
    for one in runs:
        one.start()
    for one in runs:
        one.join(60)
    assert len(fake.by(BOT)) == 1


def test_a_commit_gets_its_status(fake: FakeForge, between: Prism) -> None:
    for passed in (True, False):
        client(between).set_status(SHA, Light(passed=passed, title="free time", url="https://ci.example.org/7"))
    assert [status["sha"] for status in fake.statuses] == [SHA, SHA]


def test_a_commit_gets_its_check_run(fake: FakeForge, between: Prism) -> None:
    forge = client(between)
    if not forge.features.check:
        forge.whoami()
        pytest.skip(f"{forge.name} has no check runs")
    forge.add_check(SHA, Light(passed=False, title="free time", summary="| a | b |", url="https://ci.example.org/7"))
    assert [check["conclusion"] for check in fake.checks] == ["failure"]


def test_the_token_of_a_workflow_learns_its_name(fake: FakeForge, between: Prism) -> None:
    fake.accounts[TOKEN].is_app = between.forge == "github"
    assert client(between).whoami() == BOT


def test_the_pull_request_of_a_branch_is_found(fake: FakeForge, between: Prism) -> None:
    if between.forge != "github":
        client(between).whoami()
        pytest.skip("only GitHub tells a branch instead of a number")
    fake.pulls = [{"number": NUMBER, "head": {"sha": SHA}, "from": "somebody:faster"}]
    job = CiJob("github", REPO, sha=SHA, api_url=between.address, head="somebody:faster")
    assert pull_of(job, TOKEN) == NUMBER


@pytest.mark.parametrize("status", (429, 500, 503))
@pytest.mark.parametrize("method", ("GET", "POST"))
def test_what_passes_is_tried_again_with_the_same_request(
    fake: FakeForge, between: Prism, method: str, status: int
) -> None:
    fake.troubles = [Trouble(method, status, {"Retry-After": "1"}) for _ in range(2)]
    assert run(between, "one").done == "created"
    assert fake.by(BOT) == [f"{MARK}\none"]
    first, second, third = [(one.path, one.query, one.body) for one in fake.asked if one.method == method][:3]
    assert first == second == third


@pytest.mark.parametrize("status", (429, 503))
def test_what_does_not_pass_is_given_up(fake: FakeForge, between: Prism, status: int) -> None:
    fake.troubles = [Trouble("ANY", status) for _ in range(50)]
    with pytest.raises(ForgeError) as caught:
        run(between, "one")
    assert caught.value.status == status
    assert not fake.comments


@pytest.mark.usefixtures("fake")
def test_a_token_nobody_knows_is_401(between: Prism) -> None:
    with pytest.raises(ForgeError) as caught:
        client(between, token="wrong").whoami()  # noqa: S106
    assert caught.value.status == 401


def test_a_missing_permission_is_403(fake: FakeForge, between: Prism) -> None:
    fake.accounts[TOKEN].may_write = False
    with pytest.raises(ForgeError) as caught:
        run(between, "one")
    assert caught.value.status == 403


@pytest.mark.usefixtures("fake")
def test_a_pull_request_that_is_not_there_is_404(between: Prism) -> None:
    with pytest.raises(ForgeError) as caught:
        list(client(between, number=8).comments())
    assert caught.value.status == 404


def test_a_text_the_forge_refuses_is_422(fake: FakeForge, between: Prism) -> None:
    fake.limit = 10
    with pytest.raises(ForgeError) as caught:
        run(between, "longer than ten characters")
    assert caught.value.status == 422


def test_the_command_comments_and_says_so_beside_the_commit(
    fake: FakeForge, between: Prism, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ADVISOR_TOKEN", TOKEN)
    kind = between.forge
    words = ["bot", str(CAPTURE), "--forge", kind, "--repo", REPO, "--pr", str(NUMBER), "--api-url", between.address]
    beside = ["--sha", SHA, "--status", *(["--check"] if kind == "github" else [])]
    assert main([*words, "--lang", "en"]) == 0
    assert main([*words, "--lang", "zh", *beside]) == 0
    (comment,) = fake.by(BOT)
    assert comment.startswith(MARK)
    assert "每步" in comment
    assert len(fake.statuses) == 1
    assert TOKEN not in "".join(capsys.readouterr())
