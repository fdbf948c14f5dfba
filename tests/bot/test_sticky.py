# SPDX-License-Identifier: Apache-2.0
"""One comment, whatever happens around it; and nobody else's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from fake_forge import BOT, DIALECTS, NUMBER, REPO, TOKEN, Account, FakeForge, Trouble
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.bot.forge import Comment, Features, Forge, Light
from advisor.bot.forges import forge_client
from advisor.bot.retries import Retries
from advisor.bot.sticky import Posted, comment_mark, post_comment
from advisor.messages.errors import ForgeError

MARK = comment_mark()
QUICK = Retries(sleep=lambda _: None)


@pytest.fixture(params=DIALECTS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def client(served: FakeForge, kind: str, token: str = TOKEN) -> Forge:
    return forge_client(kind, REPO, NUMBER, token, served.api(kind), retries=QUICK)  # type: ignore[arg-type]


def run(served: FakeForge, kind: str, text: str, **more: str) -> Posted:
    begins = more.pop("begins", MARK)
    return post_comment(client(served, kind), f"{begins}\n{text}", begins, **more)


def test_the_first_run_writes_the_next_updates_in_place_and_the_same_text_writes_nothing(
    served: FakeForge, kind: str
) -> None:
    assert run(served, kind, "one").done == "created"
    number = served.comments[0]["id"]
    assert run(served, kind, "two").done == "updated"
    assert [(one["id"], one["body"]) for one in served.comments] == [(number, f"{MARK}\ntwo")]
    written = len(served.writes())
    assert run(served, kind, "two").done == "unchanged"
    assert len(served.writes()) == written


def test_our_comment_is_found_behind_many_pages_of_others(served: FakeForge, kind: str) -> None:
    for number in range(130):
        served.say(f"person{number % 7}", f"remark {number}")
    run(served, kind, "one")
    for number in range(121):
        served.say("person", f"later remark {number}")
    assert run(served, kind, "two").done == "updated"
    assert served.by(BOT) == [f"{MARK}\ntwo"]
    assert len(served.comments) == 252


@pytest.mark.parametrize("count", (99, 100, 101, 200))
def test_no_comment_is_lost_at_the_edge_of_a_page(served: FakeForge, kind: str, count: int) -> None:
    for number in range(count):
        served.say("person", str(number))
    assert [one.body for one in client(served, kind).comments()] == [str(number) for number in range(count)]


def test_a_comment_of_somebody_else_is_left_alone_even_with_our_mark_and_the_right_to_change_it(
    served: FakeForge, kind: str
) -> None:
    served.accounts[TOKEN].is_maintainer = True
    theirs = [f"{MARK}\nimpostor", f"{MARK}\nanother", f"> {MARK}\nwhat is this?"]
    for text in theirs:
        served.say("mallory", text)
    run(served, kind, "one")
    run(served, kind, "two")
    assert served.by("mallory") == theirs
    assert served.by(BOT) == [f"{MARK}\ntwo"]


def test_a_person_whose_token_it_is_may_quote_the_mark(served: FakeForge, kind: str) -> None:
    served.say(BOT, f"> {MARK}\n> quoted\nwhy is this so?")
    served.say(BOT, "I wrote this by hand")
    run(served, kind, "one")
    run(served, kind, "two")
    assert len(served.by(BOT)) == 3
    assert served.by(BOT)[2] == f"{MARK}\ntwo"


def test_comments_of_several_names_live_side_by_side(served: FakeForge, kind: str) -> None:
    for name in ("", "train", "train-2"):
        run(served, kind, f"for {name}", begins=comment_mark(name))
    for name in ("", "train", "train-2"):
        assert run(served, kind, f"again {name}", begins=comment_mark(name)).done == "updated"
    assert len(served.comments) == 3


def test_what_a_forge_does_to_line_ends_is_no_change(served: FakeForge, kind: str) -> None:
    served.line_end = "\r\n"
    run(served, kind, "one\ntwo  \n")
    assert run(served, kind, "one\ntwo\n").done == "unchanged"


def test_notes_of_gitlab_itself_are_no_comments(served: FakeForge) -> None:
    served.say(BOT, f"{MARK}\nchanged the description", system=True)
    assert run(served, "gitlab", "one").done == "created"


def test_the_token_of_a_workflow_knows_itself_by_graphql(served: FakeForge) -> None:
    served.accounts[TOKEN] = Account("github-actions[bot]", is_app=True)
    run(served, "github", "one")
    assert run(served, "github", "two").done == "updated"
    assert served.by("github-actions[bot]") == [f"{MARK}\ntwo"]


def test_an_account_that_is_gone_is_nobody(served: FakeForge, kind: str) -> None:
    served.say("", f"{MARK}\nghost")
    assert run(served, kind, "one").done == "created"


def test_a_forge_that_does_not_say_who_we_are_gets_no_comment(served: FakeForge, kind: str) -> None:
    served.accounts[TOKEN] = Account("")
    with pytest.raises(ForgeError, match="--as"):
        run(served, kind, "one")
    assert served.comments == []


def test_a_token_that_may_not_ask_whose_it_is_is_told_of_the_option(served: FakeForge, kind: str) -> None:
    served.troubles += [Trouble("GET", 404), Trouble("POST", 403)]
    with pytest.raises(ForgeError, match="--as"):
        run(served, kind, "one")
    served.troubles.clear()
    assert run(served, kind, "one", author=BOT).done == "created"


def test_a_login_given_by_hand_needs_no_question(served: FakeForge, kind: str) -> None:
    run(served, kind, "one", author=BOT.upper())
    assert run(served, kind, "two", author=BOT.upper()).done == "updated"
    assert not [asked for asked in served.asked if asked.path.endswith("/user")]


def test_a_wrong_login_does_not_leave_a_comment_with_every_run(served: FakeForge, kind: str) -> None:
    for _ in range(2):
        with pytest.raises(ForgeError, match=f"as '{BOT}', not as 'perfbot'.*removed again\n.*--as {BOT}"):
            run(served, kind, "one", author="perfbot")
    assert served.comments == []


def test_a_forge_without_hidden_marks_does_not_get_a_comment_with_every_run(served: FakeForge, kind: str) -> None:
    served.strips_marks = True
    for _ in range(2):
        with pytest.raises(ForgeError, match="hidden mark"):
            run(served, kind, "one")
    assert served.comments == []


def in_threads(*works: Callable[[], object]) -> None:
    failures: list[BaseException] = []

    def caught(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told in the main thread
            failures.append(error)

    threads = [threading.Thread(target=caught, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("count", (2, 3))
def test_runs_that_race_leave_one_comment(served: FakeForge, kind: str, count: int) -> None:
    """No run may write before all have seen that there is none."""
    seen = threading.Barrier(count)
    once = threading.local()

    def before(method: str, path: str) -> None:
        if method == "POST" and not getattr(once, "met", False):
            once.met = True  # a thread of the server serves one connection, and so one run
            seen.wait(10)

    served.before = before
    served.say("person", "hello")
    in_threads(*(lambda number=number: run(served, kind, f"run {number}") for number in range(count)))  # type: ignore[misc]
    assert not seen.broken
    assert len(served.by(BOT)) == 1
    assert served.by("person") == ["hello"]


def test_duplicates_of_ours_are_tidied_and_the_oldest_stays(served: FakeForge, kind: str) -> None:
    first = served.say(BOT, f"{MARK}\nfirst")
    for text in ("second", "third"):
        served.say(BOT, f"{MARK}\n{text}")
        served.say("mallory", f"{MARK}\n{text}")
    posted = run(served, kind, "now")
    assert (posted.done, posted.removed) == ("updated", 2)
    assert [one["id"] for one in served.comments if one["author"] == BOT] == [first["id"]]
    assert len(served.by("mallory")) == 2


@pytest.mark.parametrize(
    "trouble", (Trouble("POST", 502, done_first=True), Trouble("POST", 0, done_first=True, cut=True))
)
def test_an_answer_that_gets_lost_makes_no_second_comment(served: FakeForge, kind: str, trouble: Trouble) -> None:
    served.troubles.append(trouble)
    run(served, kind, "one")
    assert served.by(BOT) == [f"{MARK}\none"]


def test_a_comment_taken_away_in_between_is_written_anew(served: FakeForge, kind: str) -> None:
    served.say(BOT, f"{MARK}\nold")

    def before(method: str, path: str) -> None:
        if method in ("PATCH", "PUT"):
            served.comments.clear()

    served.before = before
    assert run(served, kind, "new").done == "created"
    assert served.by(BOT) == [f"{MARK}\nnew"]


def test_a_status_and_a_check_run_say_what_the_light_says(served: FakeForge) -> None:
    red = Light(passed=False, title="slower", summary="**slower**", url="https://ci.example/1", name="advisor")
    sha = "a" * 40
    for kind in ("github", "gitlab", "gitea"):
        client(served, kind).set_status(sha, red)
    assert [one["state"] for one in served.statuses] == ["failure", "failed", "failure"]
    assert {one["sha"] for one in served.statuses} == {sha}
    client(served, "github").add_check(sha, red)
    assert served.checks[0]["conclusion"] == "failure"
    assert served.checks[0]["output"] == {"title": "slower", "summary": "**slower**"}


class Shelf:
    """Comments in memory; another run comes in between at a chosen call."""

    name, features = "Shelf", Features(limit=1000)

    def __init__(self) -> None:
        self.kept: list[Comment] = [Comment(1, "person", MARK)]
        self.calls = 0
        self.between: dict[int, Callable[[], object]] = {}
        self.last = 1

    def _called(self) -> None:
        self.calls += 1
        self.between.pop(self.calls, lambda: None)()

    def whoami(self) -> str:
        self._called()
        return BOT

    def comments(self) -> Iterator[Comment]:
        self._called()
        return iter(tuple(self.kept))

    def create(self, body: str) -> Comment:
        self._called()
        self.last += 1
        self.kept.append(Comment(self.last, BOT, body))
        return self.kept[-1]

    def update(self, comment: Comment, body: str) -> None:
        self._called()
        place = next((i for i, one in enumerate(self.kept) if one.id == comment.id), None)
        if place is None:
            raise _gone()
        self.kept[place] = Comment(comment.id, BOT, body)

    def delete(self, comment: Comment) -> None:
        self._called()
        self.kept = [one for one in self.kept if one.id != comment.id]

    def set_status(self, sha: str, light: Light) -> None:
        raise NotImplementedError

    def add_check(self, sha: str, light: Light) -> None:
        raise NotImplementedError


def _gone() -> ForgeError:
    from advisor.messages.text import Text

    return ForgeError(Text("gone", "不存在"), None, 404)


@given(st.lists(st.integers(1, 8), max_size=4, unique=True), st.booleans())
@settings(max_examples=60)
def test_other_runs_at_any_moment_leave_one_comment(moments: list[int], there: bool) -> None:
    shelf = Shelf()
    if there:
        shelf.create(f"{MARK}\nold")
        shelf.calls = 0
    for number, moment in enumerate(moments):
        shelf.between[moment] = lambda number=number: post_comment(shelf, f"{MARK}\nother {number}", MARK)  # type: ignore[misc]
    post_comment(shelf, f"{MARK}\nmine", MARK)
    assert [one.author for one in shelf.kept] == ["person", BOT]


@given(st.integers(1, 8))
@settings(max_examples=20)
def test_a_person_who_takes_the_comment_away_at_any_moment_breaks_nothing(moment: int) -> None:
    shelf = Shelf()
    shelf.create(f"{MARK}\nold")
    shelf.calls = 0
    shelf.between[moment] = shelf.kept.clear
    post_comment(shelf, f"{MARK}\nmine", MARK)
    assert [one.author for one in shelf.kept] in ([], [BOT], ["person", BOT])
