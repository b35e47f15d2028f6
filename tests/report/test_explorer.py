"""The explorer's page: its policy, its parts, its tour."""

import base64
import hashlib
import html
import json
import re
from importlib import resources

from lff.report.explorer import SCRIPTS, explorer_page, read_tour

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_its_own_script_and_style_and_nothing_else():
    page = explorer_page()
    (policy,) = POLICY.findall(page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert dict(part.split(" ", 1) for part in policy.split("; ")) == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": digest(style),
        "script-src": digest(script),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert page.index(policy) < page.index("<style>") < page.index("<script>")


def test_it_needs_no_network_and_makes_no_code():
    page = explorer_page()
    addresses = set(re.findall(r"\b(?:https?|wss?|ftp)://[^\s\"'<]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a language, never loaded
    words = (
        r"\b(eval|Function|fetch|XMLHttpRequest|import|WebSocket|innerHTML|document\.write)\b *\("
    )
    assert re.findall(words, page) == []
    assert re.findall(r"<[^>]*\s(on\w+|style|src)=", page) == []


def test_it_is_the_same_each_time():
    assert explorer_page() == explorer_page()


def test_every_element_that_the_script_asks_for_is_there_once():
    page = explorer_page()
    asked = set(re.findall(r'byId\("([\w-]+)"\)', page))
    ids = re.findall(r'\bid="([\w-]+)"', page)
    assert len(asked) > 15
    assert asked <= set(ids)
    assert len(ids) == len(set(ids))


def test_stops_of_the_tour_are_within_reach_of_the_sliders():
    page = explorer_page()
    states = [json.loads(html.unescape(s)) for s in re.findall(r'data-state="([^"]*)"', page)]
    assert states == [stop["state"] for stop in read_tour()]
    scales = {"sigma": 10, "fourierDim": 2, "radius": 10, "time": 10}
    for name, low, high in re.findall(r'id="(\w+)" min="([-.\d]+)" max="([-.\d]+)"', page):
        for state in states:
            base = scales.get(name)
            ends = [base ** float(end) if base else float(end) for end in (low, high)]
            assert ends[0] <= state[name] <= ends[1]


def test_parts_are_package_data():
    folder = resources.files("lff.report")
    for name in (*(f"explorer/{name}" for name in SCRIPTS), "explorer/explorer.css"):
        text = folder.joinpath(name).read_text(encoding="utf-8")
        assert 0 < text.count("\n") <= 400
        assert "</script" not in text
    assert folder.joinpath("templates/explorer.html").is_file()
