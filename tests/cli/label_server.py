"""A running `ecotone label` and what a browser, or an attacker, would send to it."""

import http.client
import json
import secrets
import signal
import socket
import subprocess
import threading
import urllib.parse

import pytest

PIPELINE = "impute | scale | logistic l2=0.01"
COLUMNS = ("--label", "y", "--domain", "site", "--target", "new")


def truth(x1, x2):
    return "yes" if x1 + x2 > 10 else "no"


def write_pool(path, sources=40, targets=60):
    """Rows of two labelled sites and of the site `new`, whose labels are to be asked."""
    lines = ["key,site,x1,x2,colour,y"]
    for i in range(sources + targets):
        x1, x2 = i * 37 % 11, (i * 53 % 41) / 4
        site = "new" if i >= sources else "ab"[i % 2]
        label = truth(x1, x2) if i < sources else ""
        lines.append(f"K{i:05d},{site},{x1},{x2},{('red', 'green', 'blue')[i // 4 % 3]},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


def rows_of(path):
    """The fields of a plain CSV file by name."""
    head, *lines = path.read_text().splitlines()
    return [dict(zip(head.split(","), line.split(","))) for line in lines]


class Server:
    """`ecotone label` with its page; ends with the block."""

    def __init__(self, ecotone, *args, cwd):
        command = [ecotone.path, "label", *map(str, args), "--json"]
        self.process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        assert first, self.process.stderr.read()
        self.started = json.loads(first)
        self.url = urllib.parse.urlsplit(self.started["url"])
        self.port = self.url.port
        self.token = urllib.parse.parse_qs(self.url.query)["token"][0]
        self.local = threading.local()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def raw(self, data, timeout=15):
        """Sends bytes; gives all that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as sent:
            sent.sendall(data)
            answer = b""
            while piece := sent.recv(65536):
                answer += piece
            return answer

    def send(self, method, path, body=None, **headers):
        """One request on a connection of its own with exactly these headers; status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        headers = {"Host": f"127.0.0.1:{self.port}"} | {name.replace("_", "-"): value for name, value in headers.items()}
        body = body.encode() if isinstance(body, str) else body
        if body is not None:
            headers["Content-Length"] = str(len(body))
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def api(self, method, path, body=None, status=200):
        """A request as the page sends it, on this thread's connection; the JSON of the answer."""
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"X-Token": self.token} | ({"Content-Type": "application/json"} if body is not None else {})
        connection = self.local.connection
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        assert answer.status == status, content
        return content

    def state(self, page="p1"):
        return self.api("GET", f"/api/state?page={page}")

    def answer(self, row, label=None, page="p1", kind="label", request=None, status=200):
        body = {"page": page, "request": request or secrets.token_hex(8), "row": row, "kind": kind}
        return self.api("POST", "/api/answer", body | ({} if label is None else {"label": label}), status)

    def undo(self, page="p1", status=200):
        return self.api("POST", "/api/undo", {"page": page, "request": secrets.token_hex(8)}, status)

    def finish(self):
        """Ends by the page; what it was told, and the program's own last document."""
        told = self.api("POST", "/api/finish", {"page": "p1"})
        return told, json.loads(self.ended()[0])

    def ended(self, by=None, exit=0):
        """Waits for the end, after a signal if one is given; standard output (after the first line) and error."""
        if by:
            self.process.send_signal(by)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == exit, err
        return out, err

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def pool(tmp_path):
    return write_pool(tmp_path / "pool.csv")


@pytest.fixture
def label(pool):
    """The arguments that most of these tests begin with."""
    budget = lambda more: () if "--budget" in more else ("--budget", 30)
    return lambda *more: ("label", pool, PIPELINE, *COLUMNS, "--id", "key", *budget(more), *more)


@pytest.fixture
def serve(ecotone, label, tmp_path):
    return lambda *more: Server(ecotone, *label(*more)[1:], cwd=tmp_path)


def right(question):
    """The true answer, from the fields that are shown."""
    value = {field["name"]: float(field["value"]) for field in question["fields"] if field["name"] in ("x1", "x2")}
    return truth(value["x1"], value["x2"])


def work(server, count, page="p1"):
    """Answers questions; gives {row: label} as acknowledged."""
    given, state = {}, server.state(page)
    for _ in range(count):
        question = state["question"]
        state = server.answer(question["row"], right(question), page)
        given[question["row"]] = right(question)
    return given


def journal(folder):
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def labels_of(events):
    """{row: label} of the answers that stand."""
    undone = {event["undoes"] for event in events if event["kind"] == "undo"}
    return {event["row"]: event["label"] for event in events if event["kind"] == "label" and event["id"] not in undone}
