# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import EXPOSED, HOSTILE, rich

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis
from advisor.report.charts.draw import Renderer
from advisor.report.diagnosis.page import diagnosis_page

VOID = {"meta", "input", "br", "img", "link", "wbr"}
FETCHING = {"img", "link", "iframe", "object", "embed", "video", "audio", "base", "foreignobject", "image", "use"}
hostile = st.sampled_from(HOSTILE) | st.text(st.sampled_from("<>\"'&;/=! abon`{}%#\\-"), max_size=20)


class Reader(HTMLParser):
    """Every element and attribute of a page, and whether the elements nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_elements_nest_and_ids_are_unique(diagnosis: Diagnosis, language: Language, renderer: Renderer) -> None:
    reader = Reader(diagnosis_page(diagnosis, language, renderer))
    assert reader.open == []
    ids = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_every_anchor_leads_somewhere(diagnosis: Diagnosis, renderer: Renderer) -> None:
    reader = Reader(diagnosis_page(diagnosis, "en", renderer))
    ids = {attrs.get("id") for _, attrs in reader.elements}
    targets = {attrs["href"] for tag, attrs in reader.elements if tag == "a" and str(attrs["href"]).startswith("#")}
    assert {str(target)[1:] for target in targets} <= ids
    labels = {attrs["aria-labelledby"] for _, attrs in reader.elements if "aria-labelledby" in attrs}
    assert labels <= ids


@given(st.tuples(*[hostile] * 2))
@settings(max_examples=25)
def test_nothing_from_a_profile_becomes_an_element_or_attribute(names: tuple[str, ...]) -> None:
    def shape(diagnosis: Diagnosis) -> list[tuple[str, list[str]]]:
        reader = Reader(diagnosis_page(diagnosis.model_copy(update={"exhibits": ()}), "en"))
        return [(tag, sorted(attrs)) for tag, attrs in reader.elements if tag not in ("code", "wbr")]

    assert shape(rich(names)) == shape(rich(("a", "b")))


def test_the_page_asks_for_nothing_outside_itself(language: Language, renderer: Renderer) -> None:
    text = diagnosis_page(rich(), language, renderer)
    reader = Reader(text)
    assert not {tag for tag, _ in reader.elements} & FETCHING
    assert not [attrs for _, attrs in reader.elements if "src" in attrs or "srcset" in attrs or "action" in attrs]
    assert not re.search(r"@import|url\((?!#)", text)
    links = {attrs["href"] for tag, attrs in reader.elements if tag == "a" and not str(attrs["href"]).startswith("#")}
    assert links == {EXPOSED.references[0].url}


def test_only_the_one_script_of_the_page_may_run(renderer: Renderer) -> None:
    text = diagnosis_page(rich(), "en", renderer)
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert not [name for _, attrs in Reader(text).elements for name in attrs if name.startswith("on")]


def test_the_numbers_of_a_chart_also_stand_in_words(renderer: Renderer) -> None:
    text = diagnosis_page(rich(), "en", renderer)
    assert text.count("<figure") == text.count("<summary>Numbers</summary>") == 9
    assert "80.0 ms" in text


def test_a_cause_and_its_symptom_link_to_each_other(renderer: Renderer) -> None:
    text = diagnosis_page(rich(), "en", renderer)
    cause, symptom = rich().findings[1], rich().findings[2]
    assert text.count(f'href="#f-{symptom.fingerprint}"') >= 2
    assert text.count(f'href="#f-{cause.fingerprint}"') >= 2


def test_an_odd_fingerprint_is_no_anchor(renderer: Renderer) -> None:
    odd = rich().findings[0].model_copy(update={"fingerprint": '"><script>', "causes": ()})
    text = diagnosis_page(rich().model_copy(update={"findings": (odd,)}), "en", renderer)
    assert 'id="f-no-1"' in text
    assert text.count("<script") == 1
