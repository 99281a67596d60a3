"""The page of `--report` in a browser: Chromium opens it from the disk."""

import csv
import io
import json
import time

import pytest
from browser import BrowserPage, start_chromium
from conftest import CLINIC_COLUMNS, PIPELINE
from selenium.webdriver.common.by import By

HOSTILE = ['<script>window.hacked=1</script>', '"><img src=x onerror=window.hacked=1>', "A & 'B'"]


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def driver(tmp_path_factory, downloads):
    driver = start_chromium(tmp_path_factory.mktemp("chromium"), downloads)
    driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield driver
    driver.quit()


class ReportPage(BrowserPage):
    def open(self, path):
        self.errors()
        self.driver.get_log("performance")
        self.driver.get(f"file://{path}")
        return self

    def requests(self):
        """The addresses that the page asked for, itself aside."""
        sent = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                sent.append(message["params"]["request"]["url"])
        return [url for url in sent if not url.startswith(("file:", "blob:", "data:"))]

    def overflow(self):
        """By how many pixels the page is wider than its window."""
        return self.script("return document.documentElement.scrollWidth - window.innerWidth")


@pytest.fixture
def page(driver):
    page = ReportPage(driver)
    yield page
    page.size(1280, 900)
    page.scheme("light")
    driver.get("about:blank")


@pytest.fixture(scope="module")
def results(ecotone, clinics, tmp_path_factory):
    """The page of an evaluation with its result as JSON."""
    folder = tmp_path_factory.mktemp("report")
    page = folder / "report.html"
    found = ecotone.json(
        "evaluate", clinics, "impute | constant", PIPELINE, *CLINIC_COLUMNS, "--resamples", 50, "--report", page,
        "--intended-use", "Screening, with a second reader",
    )
    return page, found


def test_no_error_and_no_request(page, results):
    page.open(results[0])
    assert page.errors() == []
    assert page.requests() == []
    assert results[0].stat().st_size < 2_000_000


def test_the_answer_speaks_of_probabilities(page, results):
    page.open(results[0])
    answer = page.text(".answer")
    assert "ranks rows" in answer and "probabilities need care" in answer
    assert "another unit?" in answer
    # The link leads to what is said about that hospital.
    page.driver.find_element(By.CSS_SELECTOR, ".answer a").click()
    assert "another unit?" in page.text("li:target")


def test_every_chart_has_marks_and_words(page, results):
    page.open(results[0])
    charts = page.script(
        """return [...document.querySelectorAll('figure.drawn')].map(f => [f.dataset.name,
           f.querySelectorAll('.scroll circle, .scroll polyline, .scroll rect.cell').length,
           f.querySelector('.scroll svg').getAttribute('aria-label'), f.querySelector('template.csv').content.textContent])"""
    )
    assert {"cost", "by-domain", "difference", "roc", "precision-recall", "decision-curve", "shift-by-column",
            "distances", "map", "missing-values", "label-shares"} <= {name for name, *_ in charts}
    for name, marks, words, data in charts:
        assert marks > 0 and len(words) > 20, name
        assert len(list(csv.reader(io.StringIO(data)))) > 1, name


def test_the_values_are_those_of_the_result(page, results):
    path, found = results
    page.open(path)
    data = page.script("return document.querySelector('figure[data-name=by-domain] template').content.textContent")
    rows = list(csv.DictReader(io.StringIO(data)))
    expected = [(p["pipeline"], d["domain"], d["metrics"]["auroc"]) for p in found["pipelines"] for d in p["domains"]]
    assert [(r["pipeline"], r["domain"], float(r["auroc"])) for r in rows] == expected
    # One dot for each domain and pipeline, in the picture for this width.
    assert page.script("return document.querySelectorAll('figure[data-name=by-domain] .wide circle').length") == len(rows)


def test_the_other_charts_have_the_values_of_the_result(page, results):
    path, found = results
    page.open(path)
    best = found["pipelines"][1]

    def table(name):
        text = page.script("return document.querySelector(`figure[data-name='${arguments[0]}'] template`).content.textContent", name)
        return list(csv.DictReader(io.StringIO(text)))

    def marks(name, kind):
        return page.script(
            "return document.querySelectorAll(`figure[data-name='${arguments[0]}'] .scroll ${arguments[1]}`).length", name, kind)

    cost = {(r["pipeline"], r["metric"]): r for r in table("cost")}
    row = cost[best["pipeline"], "auroc"]
    assert float(row["known_site"]) == best["known_site"]["mean"]["auroc"] and float(row["new_site"]) == best["mean"]["auroc"]
    assert float(row["cost"]) == best["known_site"]["cost"]["auroc"]["mean"]
    (difference,) = table("difference")
    assert float(difference["difference"]) == best["difference"]["auroc"]["mean"]
    for domain in best["curves"]["domains"]:
        name = f"calibration-{domain['domain']}"
        bins = [(float(r["predicted"]), float(r["observed"]), int(r["rows"])) for r in table(name)]
        assert bins == [(b["predicted"], b["observed"], b["rows"]) for b in domain["calibration"]]
        assert marks(name, "circle") == len(bins)
    roc = {r["line"] for r in table("roc")}
    assert roc == {"chance"} | {d["domain"] for d in best["curves"]["domains"]}
    assert marks("roc", "polyline") == len(roc)
    for domain in best["curves"]["domains"]:
        points = {(float(r["false_positive_rate"]), float(r["true_positive_rate"])) for r in table("roc") if r["line"] == domain["domain"]}
        expected = {(n / domain["negative"][0], p / domain["positive"][0]) for p, n in zip(domain["positive"], domain["negative"])}
        assert points == expected | {(0.0, 0.0)}
    importance = {(r["column"], r["held_out"]): r["importance"] for r in table("importance")}
    for column in best["importance"]["columns"]:
        for split, value in zip(best["importance"]["splits"], column["splits"], strict=True):
            assert float(importance[column["column"], split]) == value
    shifts = {(r["feature"], r["in"]): float(r["smd"]) for r in table("shift-by-column")}
    stored = found["diagnosis"]["shift_table"]
    assert shifts == {(f, d["domain"]): v for d in stored["domains"] for f, v in zip(stored["features"], d["smd"])}
    assert marks("shift-by-column", "rect.cell") == len(shifts)
    places = [(r["hospital"], float(r["x"]), float(r["y"])) for r in table("map")]
    assert places == [(d["domain"], d["x"], d["y"]) for d in found["diagnosis"]["map"]["domains"]]
    assert marks("map", "circle") == len(places)
    missing = {(r["column"], r["in"]): float(r["missing"]) for r in table("missing-values")}
    domains = [d["domain"] for d in found["diagnosis"]["domains"]]
    assert missing == {(m["column"], d): s for m in found["diagnosis"]["missing_shift"] for d, s in zip(domains, m["share"])}
    weights = {r["feature"]: float(r["weight"]) for r in table("weights")}
    assert weights == {e["feature"]: e["weight"] for e in found["whole_model"]["effects"]}


def test_the_threshold_moves(page, results):
    path, found = results
    page.open(path)
    curves = found["pipelines"][1]["curves"]
    place = len(curves["thresholds"]) // 3
    page.script(
        "const s = document.getElementById('threshold'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", place)
    assert float(page.script("return document.getElementById('threshold-value').value")) == curves["thresholds"][place]
    shown = page.script(
        "return [...document.getElementById('at-threshold').tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))")
    for row, domain in zip(shown, curves["domains"], strict=True):
        tp, fp = domain["positive"][place], domain["negative"][place]
        positives, negatives = domain["positive"][0], domain["negative"][0]
        tn, fn = negatives - fp, positives - tp
        parts = [(tp, positives), (tn, negatives), (tp, tp + fp), (tn, tn + fn), (tp + fp, positives + negatives)]
        assert row[0] == domain["domain"]
        for text, (part, whole) in zip(row[1:], parts, strict=True):
            assert (text == "–") if whole == 0 else (float(text[:-1]) == pytest.approx(100 * part / whole, abs=0.051))


def test_tables_sort_by_a_click(page, results):
    page.open(results[0])
    column = lambda: page.script(  # noqa: E731
        "return [...document.querySelector('#domains table').tBodies[0].rows].map(r => parseFloat(r.cells[1].textContent))")
    button = page.driver.find_element(By.CSS_SELECTOR, "#domains thead th:nth-child(2) button")
    button.click()
    assert column() == sorted(column(), reverse=True)
    button.click()
    assert column() == sorted(column())


def test_charts_can_be_saved(page, results, downloads):
    page.open(results[0])
    for kind in ("csv", "svg"):
        page.script("document.querySelector(`figure[data-name=roc] button[data-take=${arguments[0]}]`).click()", kind)
    deadline = time.monotonic() + 20
    while not all((downloads / f"roc.{kind}").exists() for kind in ("csv", "svg")):
        assert time.monotonic() < deadline, list(downloads.iterdir())
        time.sleep(0.05)
    assert (downloads / "roc.csv").read_text().startswith("line,false_positive_rate,true_positive_rate\n")
    picture = (downloads / "roc.svg").read_text()
    assert picture.startswith("<svg") and "stroke=\"rgb(" in picture
    assert page.errors() == []


def test_a_table_is_saved_as_programs_read_it(page, results, downloads):
    path, found = results
    page.open(path)
    page.script("document.querySelector('#domains button[data-take=table]').click()")
    file = downloads / "results-by-hospital.csv"
    deadline = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < deadline, list(downloads.iterdir())
        time.sleep(0.05)
    rows = list(csv.reader(file.open(newline="")))
    domains = {d["domain"]: d["metrics"]["auroc"] for d in found["pipelines"][1]["domains"]}
    shown = {row[0]: float(row[1]) for row in rows[1 : 1 + len(domains)]}
    assert shown == pytest.approx(domains, abs=6e-5)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_clipped(page, results, width, scheme):
    page.size(width, 900)
    page.scheme(scheme)
    page.open(results[0])
    assert page.overflow() <= 0
    background = page.script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")
    # The first column of values, that of the best pipeline, is in sight.
    box = page.script("return document.querySelector('#domains tbody td').getBoundingClientRect().toJSON()")
    assert box["right"] <= width


def test_hostile_names_are_text(ecotone, page, tmp_path):
    table = tmp_path / "hostile.csv"
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["site", "<b>x</b>", "z", "y"])
        for i in range(120):
            writer.writerow([HOSTILE[i % 3], (i * 37) % 11, (i * 13) % 7, HOSTILE[0] if (i * 7) % 5 > 2 else "no"])
    path = tmp_path / "page.html"
    ecotone("evaluate", table, "scale | logistic", "--label", "y", "--domain", "site", "--report", path, "--title", HOSTILE[1])
    page.open(path)
    assert page.script("return window.hacked") is None
    assert page.errors() == [] and page.requests() == []
    assert HOSTILE[1] in page.text("h1")
    assert HOSTILE[0] in page.text("#domains")


def test_saved_results_give_the_same_page(ecotone, clinics, results, tmp_path):
    path, found = results
    saved = tmp_path / "scores.json"
    saved.write_text(json.dumps(found))
    again = tmp_path / "again.html"
    ecotone("report", saved, "-o", again)
    assert again.read_text() == path.read_text()
    shift = tmp_path / "shift.json"
    shift.write_text(ecotone("diagnose", clinics, *CLINIC_COLUMNS, "--json").stdout)
    ecotone.error("report", saved, saved, "-o", tmp_path / "two.html", code="bad_result", exit=4)
    # A diagnosis of its own takes the place of the one that came with the scores, in whatever order they are given.
    for first, second in ((saved, shift), (shift, saved)):
        ecotone("report", first, second, "-o", tmp_path / "both.html")
        assert "another unit?" in (tmp_path / "both.html").read_text()


def test_other_verbs_write_pages(ecotone, clinics, page, tmp_path):
    runs = {
        "tune": ("tune", clinics, "impute | scale | logistic l2={0.01,0.1}", *CLINIC_COLUMNS),
        "diagnose": ("diagnose", clinics, *CLINIC_COLUMNS),
        "select": ("select", clinics, "impute | scale | tgreedy steps=4", *CLINIC_COLUMNS),
    }
    runs["reproduce"] = ("reproduce", "habrard2012", "--figure", "3", "--repetitions", 3)
    for name, command in runs.items():
        path = tmp_path / f"{name}.html"
        found = ecotone.json(*command, "--report", path)
        page.open(path)
        assert page.errors() == [] and page.requests() == [], name
        assert page.script("return document.querySelectorAll('figure.drawn svg').length") > 0, name
        saved = tmp_path / f"{name}.json"
        saved.write_text(json.dumps(found))
        ecotone("report", saved, "-o", tmp_path / f"{name}-again.html")
        assert (tmp_path / f"{name}-again.html").read_text() == path.read_text(), name


def test_bad_results_are_refused(ecotone, tmp_path):
    for text in ("", "{", "[]", "{}", '{"kind": "evaluation"}', '{"kind": 3}', '{"kind": "soup"}'):
        path = tmp_path / "bad.json"
        path.write_text(text)
        message = ecotone.error("report", path, "-o", tmp_path / "page.html", code="bad_result", exit=4)
        assert "bad.json" in message
    assert not (tmp_path / "page.html").exists()
