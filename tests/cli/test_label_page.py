"""The labelling page in a browser: `ecotone label` with Chromium, by keyboard."""

import contextlib
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import urllib.request

import pytest
from browser import BrowserPage, start_chromium
from conftest import CLINIC_COLUMNS, PIPELINE
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

TARGET, BUDGET = "Dunmere", 60


class Labelling:
    """`ecotone label` in the background, and what it has stored."""

    def __init__(self, ecotone, folder, *arguments):
        self.folder = pathlib.Path(folder)
        command = [ecotone.path, "label", *map(str, arguments), "-o", str(folder), "--port", "0"]
        self.log = open(f"{folder}.log", "w+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, text=True)
        self.url = self.wait_for_url()
        self.base, self.token = self.url.split("/?token=")

    def wait_for_url(self):
        for _ in range(300):
            text = pathlib.Path(self.log.name).read_text()
            found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\w+", text)
            if found:
                return found[0]
            assert self.process.poll() is None, text
            time.sleep(0.1)
        raise AssertionError(f"no address within 30 seconds:\n{text}")

    def state(self, page="test"):
        request = urllib.request.Request(f"{self.base}/api/state?page={page}", headers={"X-Token": self.token})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def labels(self):
        return self.state()["progress"]["labels"]

    def stored(self):
        """What the journal says of each row (from 1, as on the page): its kind and label, without what was undone."""
        said = {}
        # The running program has the journal for itself; its files are what a power cut would leave.
        with tempfile.TemporaryDirectory() as copy:
            for path in self.folder.glob("labels.sqlite*"):
                shutil.copy(path, copy)
            with contextlib.closing(sqlite3.connect(pathlib.Path(copy) / "labels.sqlite")) as journal:
                for kind, row, label in journal.execute("select kind, row + 1, label from events order by id"):
                    if kind == "undo":
                        said.pop(row)
                    else:
                        assert row not in said, f"row {row} is answered twice"
                        said[row] = (kind, label or None)
        return said

    def kill(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()


class Page(BrowserPage):
    """The page in the browser, used by its keys."""

    def open(self, url):
        self.driver.get(url)
        self.wait_until_ready()
        return self

    def wait_until_ready(self):
        self.wait("document.body?.dataset.ready === 'yes'")

    def id(self):
        return self.script("return sessionStorage.getItem('ecotone-label-page')")

    def row(self):
        return int(self.script("return document.getElementById('question').dataset.row"))

    def answer(self, key):
        """Answers the row with a key, and waits for the next one; gives the row answered."""
        row = self.row()
        self.press(key)
        self.wait("document.getElementById('question').dataset.row !== arguments[0]", str(row))
        self.wait_until_ready()
        return row

    def class_keys(self):
        """The key of each class."""
        buttons = self.driver.find_elements(By.CSS_SELECTOR, "#classes button")
        return {button.get_attribute("data-class"): button.get_attribute("aria-keyshortcuts") for button in buttons}


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    driver = start_chromium(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@pytest.fixture
def page(driver):
    page = Page(driver)
    page.errors()  # earlier tests' messages
    yield page
    page.size(1280, 900)
    page.scheme("light")
    driver.get("about:blank")  # no more requests to a server that is gone


@pytest.fixture
def start(ecotone, tmp_path):
    """Starts the program; a second call goes on with the same folder."""
    started = []

    def start(*arguments, folder="labels"):
        started.append(Labelling(ecotone, tmp_path / folder, *arguments))
        return started[-1]

    yield start
    for labelling in started:
        labelling.kill()


@pytest.fixture(scope="module")
def clinic_arguments(clinics, tmp_path_factory):
    """The clinics without the labels of one hospital, which are asked for."""
    with open(clinics, newline="") as file:
        rows = list(csv.DictReader(file))
    table = tmp_path_factory.mktemp("unlabelled") / "clinics.csv"
    with open(table, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | ({"disease": ""} if row["hospital"] == TARGET else {}) for row in rows)
    return (table, PIPELINE, *CLINIC_COLUMNS, "--target", TARGET, "--budget", BUDGET)


@pytest.fixture(scope="module")
def shared(ecotone, clinic_arguments, tmp_path_factory):
    """One run for all tests that only need some row on the screen."""
    labelling = Labelling(ecotone, tmp_path_factory.mktemp("shared") / "labels", *clinic_arguments)
    yield labelling
    labelling.kill()


def test_nothing_is_lost_when_the_program_is_killed(start, clinic_arguments, page):
    first = start(*clinic_arguments)
    page.open(first.url)
    keys = list(page.class_keys().items())
    expected = {}
    for i in range(20):
        name, key = keys[i % 3 % len(keys)]
        expected[page.answer(key)] = ("label", name)
    assert first.labels() == 20
    assert first.stored() == expected

    last = list(expected)[-1]
    page.press("z")
    page.wait("document.getElementById('question').dataset.row === arguments[0]", str(last))
    page.wait_until_ready()
    assert expected.pop(last)[1] in page.text("#before")
    assert first.labels() == 19
    assert "19 of 60 labels" in page.text("#progress")
    assert page.errors() == []

    first.kill()
    page.press(keys[0][1])
    banner = page.wait("!document.getElementById('banner').hidden && document.getElementById('banner').textContent")
    assert re.search(r"The server does not answer; your last label\b.* was (not )?saved", banner), banner
    page.press(keys[0][1], "z")  # the keys wait for the server
    assert page.script("return document.body.dataset.ready") == "no"
    assert page.row() == last
    assert first.stored() == expected
    assert page.errors("Failed to load resource", "ERR_CONNECTION") == []

    second = start(*clinic_arguments)
    assert second.labels() == 19
    page.open(second.url)
    page.errors()  # of the attempts to reach the first one
    assert "19 of 60 labels" in page.text("#progress")
    row = page.row()
    assert row not in expected
    page.answer(keys[0][1])
    assert second.labels() == 20
    assert second.stored() == expected | {row: ("label", keys[0][0])}
    assert page.errors() == []


def test_an_answer_sent_again_is_stored_once(shared, page):
    page.open(shared.url)
    # The first answer of the server never arrives.
    page.script(
        """const send = window.fetch; let lost = false;
        window.fetch = async (path, options) => {
          const answer = await send(path, options);
          if (options?.method !== "POST") return answer;
          if (lost) { window.again = options.body; return answer; }
          lost = true;
          window.sent = options.body;
          throw new TypeError("lost");
        };"""
    )
    before = shared.labels()
    row = page.answer(next(iter(page.class_keys().values())))
    assert page.script("return window.sent === window.again && window.sent !== undefined")
    assert shared.labels() == before + 1
    assert row in shared.stored()
    assert page.script("return document.getElementById('banner').hidden")
    assert page.errors() == []


def test_unsure_skip_undo_and_the_belief(start, clinic_arguments, page):
    labelling = start(*clinic_arguments)
    page.open(labelling.url)
    keys = page.class_keys()
    unsure, skipped = page.answer("u"), page.answer("s")
    assert labelling.stored() == {unsure: ("unsure", None), skipped: ("skip", None)}
    for row in (skipped, unsure):  # undo goes back as far as one likes
        page.press("z")
        page.wait("document.getElementById('question').dataset.row === arguments[0]", str(row))
        page.wait_until_ready()
    assert labelling.stored() == {}

    audits = beliefs = 0
    for i in range(45):
        question = labelling.state(page.id())["question"]
        assert question["row"] == page.row()
        accept = page.driver.find_element(By.ID, "accept")
        if question["audit"]:
            audits += 1
            assert page.driver.find_elements(By.CSS_SELECTOR, "#belief-bars .belief-bar") == []
            assert not accept.is_enabled()
            before = labelling.stored()
            page.press(Keys.SPACE)
            time.sleep(0.3)
            assert page.row() == question["row"]
            assert labelling.stored() == before
        elif accept.is_enabled():
            beliefs += 1
            assert len(page.driver.find_elements(By.CSS_SELECTOR, "#belief-bars .belief-bar")) == len(keys)
            best = page.text("#belief-bars .first .belief-name")
            assert f"“{best}”" in accept.accessible_name
            row = page.answer(Keys.SPACE)
            assert labelling.stored()[row] == ("label", best)
            if audits:
                break
            continue
        page.answer(list(keys.values())[i % 3 % len(keys)])
    assert audits and beliefs
    assert page.errors() == []


def test_two_windows(shared, page):
    driver = page.driver
    page.open(shared.url)
    before, key, first_id = shared.labels(), next(iter(page.class_keys().values())), page.id()
    first = driver.current_window_handle
    driver.switch_to.new_window("window")
    second = driver.current_window_handle
    try:
        page.open(shared.url)
        assert page.id() != first_id
        rows = []
        for _ in range(2):
            for window in (first, second):
                driver.switch_to.window(window)
                page.wait_until_ready()
                rows.append(page.answer(key))
        assert len(set(rows)) == 4
        assert shared.labels() == before + 4
        for window in (first, second):
            driver.switch_to.window(window)
            page.wait(f"document.getElementById('count').textContent.startsWith('{before + 4} ')")

        # A copied tab has the id of the other one and asks about the same row; only one of the answers counts.
        driver.switch_to.window(first)
        same, row = page.id(), page.row()
        driver.switch_to.window(second)
        page.script("sessionStorage.setItem('ecotone-label-page', arguments[0])", same)
        page.open(shared.url)
        assert page.row() == row
        page.answer(key)
        driver.switch_to.window(first)
        if page.row() == row:
            page.press(key)
        page.wait("document.getElementById('question').dataset.row !== arguments[0]", str(row))
        assert "answered in another window" in page.text("#status")
        assert shared.labels() == before + 5
        shared.stored()  # checks that no row is answered twice
        assert page.errors("status of 409") == []
    finally:
        driver.switch_to.window(second)
        driver.close()
        driver.switch_to.window(first)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(shared, page, scheme):
    page.scheme(scheme)
    page.size(390, 844)
    page.open(shared.url)
    for place in ("0", "document.body.scrollHeight"):
        page.script(f"window.scrollTo(0, {place})")
        assert page.script("return document.documentElement.scrollWidth") <= 390
        beyond = page.script(
            """return [...document.querySelectorAll('body *')]
            .filter(e => e.checkVisibility() && !e.closest('.unseen, .skip-link'))
            .filter(e => e.getBoundingClientRect().right > 390.5).map(e => e.outerHTML.slice(0, 120))"""
        )
        assert beyond == []
        for button in page.driver.find_elements(By.CSS_SELECTOR, "#answer button"):
            if button.is_displayed():
                top, bottom = page.script(
                    "const r = arguments[0].getBoundingClientRect(); return [r.top, r.bottom]", button
                )
                assert 0 <= top < bottom <= 844
    assert page.errors() == []


# The texts whose contrast with what is behind them is below 4.5; disabled buttons may be pale.
LOW_CONTRAST = """
const parse = text => text.match(/[0-9.]+/g).map(Number);
const part = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
function behind(e) {
  for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c;
  }
  return [255, 255, 255];
}
return [...document.querySelectorAll('body *')]
  .filter(e => e.checkVisibility() && !e.closest('button:disabled'))
  .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
  .map(e => {
    const style = getComputedStyle(e), ink = parse(e.namespaceURI.endsWith('svg') ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 100)];
  }).filter(([contrast]) => contrast < 4.5)
"""


def test_light_and_dark(shared, page):
    page.open(shared.url)
    paper = {}
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        time.sleep(0.3)  # buttons change their colour softly
        paper[scheme] = page.script("return getComputedStyle(document.body).backgroundColor")
        assert page.script(LOW_CONTRAST) == []
    assert paper == {"light": "rgb(250, 249, 245)", "dark": "rgb(18, 23, 26)"}


def test_names_landmarks_and_help(shared, page):
    page.open(shared.url)
    controls = page.driver.find_elements(By.CSS_SELECTOR, "button, input")
    assert len(controls) >= 10
    for control in controls:
        if control.is_displayed():
            assert control.accessible_name.strip(), control.get_attribute("outerHTML")
    for picture in page.driver.find_elements(By.CSS_SELECTOR, "svg, img"):
        assert picture.accessible_name.strip(), picture.get_attribute("outerHTML")[:200]
    for selector in ("html[lang]", "header", "main", "aside", "h1", "[aria-live]", "[role=status]", "[role=alert]"):
        assert page.driver.find_elements(By.CSS_SELECTOR, selector), selector
    row = page.row()
    page.press("?")
    assert page.wait("document.getElementById('help').open")
    page.press(next(iter(page.class_keys().values())))  # keys mean nothing behind the help
    page.press(Keys.ESCAPE)
    page.wait("!document.getElementById('help').open")
    assert page.row() == row
    assert page.errors() == []


def test_finish(start, clinic_arguments, page):
    labelling = start(*clinic_arguments)
    page.open(labelling.url)
    page.answer(next(iter(page.class_keys().values())))
    finish = page.driver.find_element(By.ID, "open-finish")
    finish.send_keys(Keys.ENTER)
    page.wait("document.getElementById('finish').open")
    page.press(Keys.ESCAPE)
    page.wait("!document.getElementById('finish').open")
    assert labelling.process.poll() is None
    finish.send_keys(Keys.ENTER)
    page.wait("document.getElementById('finish').open")
    page.driver.find_element(By.ID, "confirm-finish").send_keys(Keys.ENTER)
    page.wait("document.querySelector('.done') !== null")
    files = [element.text for element in page.driver.find_elements(By.CSS_SELECTOR, ".done li")]
    assert files
    assert labelling.process.wait(timeout=20) == 0
    assert page.errors() == []


def test_text_of_the_data_stays_text(start, tmp_path, page):
    script, image = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'
    quoted = '"' + image.replace('"', '""') + '"'
    lines = [f"site,{script},{quoted},y"]
    for i in range(120):
        level = quoted if i % 5 < 2 else "plain"
        label = "" if i % 3 == 2 else script if i * 29 % 13 > 6 else "no"  # of site c none is known
        lines.append(f"<i>{'abc'[i % 3]}</i>,{i * 37 % 11},{level},{label}")
    table = tmp_path / "hostile.csv"
    table.write_text("\n".join(lines) + "\n")
    columns = ("--label", "y", "--domain", "site", "--target", "<i>c</i>", "--budget", 20)
    labelling = start(table, PIPELINE, *columns)
    page.open(labelling.url)
    for _ in range(5):
        text = page.text()
        assert script in text and image in text and "<i>c</i>" in text
        for selector, count in (("script", 1), ("img", 0), ("i:not([class], .track i)", 0), ("[onerror]", 0)):
            assert len(page.driver.find_elements(By.CSS_SELECTOR, selector)) == count, selector
        page.answer(page.class_keys()[script])
    assert page.errors() == []


def test_numbers(start, tmp_path, page):
    lines = ["site,x1,x2,amount"]
    for i in range(120):
        x1, x2 = i * 37 % 11, (i * 53 % 17) / 4
        lines.append(f"{'abc'[i % 3]},{x1},{x2},{'' if i % 3 == 2 else x1 / 2 + x2 + i * 29 % 13 / 10}")
    table = tmp_path / "amounts.csv"
    table.write_text("\n".join(lines) + "\n")
    columns = ("--label", "amount", "--domain", "site", "--target", "c", "--budget", 30, "--task", "regress")
    labelling = start(table, "impute | scale | ridge lam=0.01", *columns)
    page.open(labelling.url)
    row = page.row()
    page.press("3.5x", Keys.ENTER)  # the field has the focus
    assert "not a number" in page.text("#number-problem")
    assert page.row() == row
    page.press(Keys.BACKSPACE)
    first = page.answer(Keys.ENTER)
    second = page.answer("u")  # letters are keys while the field is empty
    page.press("12", Keys.ESCAPE)  # and outside of it
    third = page.answer("s")
    stored = labelling.stored()
    assert list(stored) == [first, second, third] and stored[second][0] == "unsure" and stored[third][0] == "skip"
    assert float(stored[first][1]) == 3.5
    page.press("z")
    page.wait("document.getElementById('question').dataset.row === arguments[0]", str(third))
    page.wait_until_ready()
    for i in range(25):
        accept = page.driver.find_element(By.ID, "accept")
        if accept.is_enabled():
            shown = float(page.text("#belief-bars strong"))
            row = page.answer(Keys.SPACE)
            assert float(labelling.stored()[row][1]) == shown
            break
        page.press(f"{i / 4}")
        page.answer(Keys.ENTER)
    else:
        raise AssertionError("no belief after 25 labels")
    assert page.errors() == []
