"""What the page of `ecotone label` must withstand: other sites, other programs, and data that are hostile."""

import json
import os
import re
import signal
import socket
import time

import pytest
from label_server import COLUMNS, PIPELINE, Server, write_pool


@pytest.fixture(scope="module")
def server(ecotone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacks")
    write_pool(folder / "pool.csv")
    (folder / "secret.txt").write_text("secret")
    with Server(ecotone, "pool.csv", PIPELINE, *COLUMNS, "--id", "key", cwd=folder) as server:
        yield server
        assert server.state()["progress"]["labels"] == 0  # no attack stored anything
        server.ended(by=signal.SIGTERM)


JSON = {"Content_Type": "application/json"}


def answer_body(server):
    return json.dumps({"page": "p1", "request": "r1", "row": server.state()["question"]["row"], "kind": "skip"})


def refused(answer, status, code):
    assert answer[0] == status and json.loads(answer[2])["error"]["code"] == code, answer
    return answer


ADDRESSES = ("/", "/api/state?page=p1", "/api/image?row=1", "/nothing")


@pytest.mark.parametrize("path", ADDRESSES)
def test_without_the_token_nothing_is_answered(server, path):
    refused(server.send("GET", path), 403, "bad_token")
    mark = "&" if "?" in path else "?"
    for wrong in ("", "0" * 32, server.token[:-1], server.token + "0", server.token.upper() + "é"):
        refused(server.send("GET", f"{path}{mark}token={wrong.encode().hex() if 'é' in wrong else wrong}"), 403, "bad_token")
        refused(server.send("GET", path, X_Token=wrong.encode().hex() if "é" in wrong else wrong), 403, "bad_token")
    refused(server.send("POST", "/api/answer", "{}", **JSON), 403, "bad_token")


def test_the_token_in_the_address_opens_the_page_but_not_the_interface(server):
    assert server.send("GET", f"/?token={server.token}")[0] == 200
    refused(server.send("GET", f"/api/state?page=p1&token={server.token}"), 403, "bad_token")
    refused(server.send("POST", f"/api/finish?token={server.token}", '{"page":"p1"}', **JSON), 403, "bad_token")
    refused(server.send("GET", f"/?token={server.token}&token={server.token}"), 400, "bad_address")


def test_other_names_of_this_computer_are_not_answered(server):
    page = f"/?token={server.token}"
    for host in (f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"127.0.0.1.evil.example:{server.port}",
                 f"evil.example:{server.port}@127.0.0.1:{server.port}", "", f"10.0.0.1:{server.port}", None):
        refused(server.send("GET", page, Host=host), 403, "bad_host")
    for host in ("localhost", "[::1]", "127.0.0.1"):
        assert server.send("GET", page, Host=f"{host}:{server.port}")[0] == 200
    twice = f"GET {page} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert b" 403 " in server.raw(twice.encode()) or b" 400 " in server.raw(twice.encode())


def test_pages_of_other_sites_are_not_answered(server):
    send = lambda **headers: server.send("POST", "/api/answer", answer_body(server), X_Token=server.token, **JSON, **headers)
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}", f"https://127.0.0.1:{server.port}",
                   f"http://localhost:{server.port}", "", f"http://127.0.0.1:{server.port}.evil.example"):
        refused(send(Origin=origin), 403, "bad_origin")
    for site in ("cross-site", "same-site", ""):
        refused(send(Sec_Fetch_Site=site), 403, "bad_origin")
        refused(server.send("GET", f"/?token={server.token}", Sec_Fetch_Site=site), 403, "bad_origin")
    own = server.send("GET", "/api/state?page=p1", X_Token=server.token, Origin=f"http://127.0.0.1:{server.port}",
                      Sec_Fetch_Site="same-origin")
    assert own[0] == 200 and own[1]["Access-Control-Allow-Origin"] is None
    refused(server.send("OPTIONS", "/api/answer", Origin="http://evil.example"), 403, "bad_origin")


@pytest.mark.parametrize("kind", ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x",
                                  "application/jsonp", "", None))
def test_forms_are_not_answered(server, kind):
    refused(server.send("POST", "/api/answer", answer_body(server), X_Token=server.token, Content_Type=kind), 415, "bad_type")


def test_requests_are_limited_in_size(server):
    send = lambda size: server.send("POST", "/api/answer", b" " * size, X_Token=server.token, **JSON)
    refused(send(65536), 400, "bad_request")
    refused(send(65537), 413, "body_limit")
    head = f"POST /api/answer HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Token: {server.token}\r\n".encode()
    chunks = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    assert b" 413 " in server.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + 3 * chunks)
    assert b" 40" in server.raw(head + b"Content-Length: 99999999999999999999\r\n\r\n")
    assert b" 431 " in server.raw(head + b"X-Long: " + b"a" * 17000 + b"\r\n\r\n")
    assert b" 431 " in server.raw(head + b"".join(b"X-%d: a\r\n" % i for i in range(3000)) + b"\r\n")
    assert b" 431 " in server.raw(b"GET /" + b"a" * 17000)
    assert server.state()


def test_a_slow_sender_is_cut_off(server):
    begun = time.time()
    with socket.create_connection(("127.0.0.1", server.port)) as idle, socket.create_connection(
            ("127.0.0.1", server.port)) as slow:
        slow.settimeout(0.5)
        try:
            for byte in "GET / HTTP/1.1\r\nX: " + "a" * 1000:  # a byte every half second would take minutes
                slow.sendall(byte.encode())
                try:
                    if not slow.recv(1):
                        break
                except TimeoutError:
                    assert server.state(), "others are answered meanwhile"
        except ConnectionError:
            pass
        assert 8 < time.time() - begun < 14
        idle.settimeout(5)
        assert idle.recv(1) == b""


def test_connections_are_limited_in_number(server):
    page = f"GET /?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    connect = lambda: socket.create_connection(("127.0.0.1", server.port), timeout=5)

    def is_open(connection):
        try:
            connection.sendall(page)
            return connection.recv(12) == b"HTTP/1.1 200"
        except ConnectionError:
            return False

    many = []
    try:
        while len(many) < 300 and is_open(connection := connect()):
            many.append(connection)
        assert 200 < len(many) <= 256
        assert not is_open(connect())
    finally:
        for connection in many:
            connection.close()
    deadline = time.time() + 5
    while not is_open(connect()):
        assert time.time() < deadline


@pytest.mark.parametrize("path", ("/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "//secret.txt", "/secret.txt", "/pool.csv",
                                  "/api/../pool.csv", "/api/state/", "/pool.labels/labels.sqlite", "/etc/passwd", "/%00"))
def test_no_file_is_reachable(server, path):
    status, _, body = server.send("GET", path, X_Token=server.token)
    assert status in (400, 404) and b"secret" not in body


@pytest.mark.parametrize("row", ("0", "-1", "1e3", "../secret.txt", "99999999999999999999", "", "41"))
def test_there_are_no_pictures_without_the_flag(server, row):
    assert server.send("GET", f"/api/image?row={row}&token={server.token}")[0] == 404


@pytest.mark.parametrize(
    "body",
    ("", "{", "[]", "null", "1", '"page"', '{"page":1}', '{"page":""}', '{"page":"p1"}', '{"page":"\\n","request":"r"}',
     '{"page":"p1","request":"r","row":1.5,"kind":"skip"}', '{"page":"p1","request":"r","row":-3,"kind":"skip"}',
     '{"page":"p1","request":"r","row":"41","kind":"skip"}', '{"page":"p1","request":"r","row":41,"kind":"undo"}',
     '{"page":"p1","request":"r","row":41,"kind":null}', '{"page":"p1","request":"r","row":18446744073709551615,"kind":"skip"}',
     '{"page":"p1","request":"r","row":41,"kind":"label","label":["yes"]}', '{"page":"p1","request":"r","row":41,"kind":"label","label":1}',
     '{"page":"p1","request":"r","row":41,"kind":"label","label":"' + "y" * 1001 + '"}', "[" * 60000, '{"a":' * 10000,
     '{"page":"\\ud800","request":"r"}', b'{"page":"\xff\xfe"}', b"\0" * 100))
def test_bad_json_is_refused(server, body):
    refused(server.send("POST", "/api/answer", body, X_Token=server.token, **JSON), 400, "bad_request")


@pytest.mark.parametrize("method", ("HEAD", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "POST"))
def test_other_methods_are_refused(server, method):
    status, headers, _ = server.send(method, "/api/state?page=p1", X_Token=server.token)
    assert status == 405 and headers["Allow"] == "GET"


@pytest.mark.parametrize("data", (b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                                  b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"GET http://evil.example/ HTTP/1.1\r\n\r\n",
                                  b"GET /%zz HTTP/1.1\r\nConnection: close\r\n\r\n", os.urandom(5000) + b"\r\n\r\n"))
def test_what_is_not_http_does_no_harm(server, data):
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        try:
            answer = connection.recv(100)
        except ConnectionError:
            answer = b""
    assert answer == b"" or b" 40" in answer
    assert server.state()


def test_what_every_answer_tells_browsers(server):
    answers = [server.send("GET", f"/?token={server.token}"), server.send("GET", "/api/state?page=p1", X_Token=server.token),
               server.send("GET", "/"), server.send("GET", "/nothing", X_Token=server.token)]
    for _, headers, _ in answers:
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store" and headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]


def test_scripts_need_a_nonce_that_is_fresh(server):
    nonces = []
    for _ in range(2):
        _, headers, body = server.send("GET", f"/?token={server.token}")
        policy, page = headers["Content-Security-Policy"], body.decode()
        nonces.append(re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy)[1])
        assert page.count(nonces[-1]) == len(re.findall("<script|<style", page)) == 2
        assert "@NONCE@" not in page and server.token not in page
        assert not re.search(r"\son\w+=", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S))
    assert nonces[0] != nonces[1]


def test_hostile_text_stays_text(ecotone, tmp_path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    path = tmp_path / "evil.csv"
    lines = [f'site,"<b>x</b>",word,y'] + [
        f'{"new" if i > 19 else evil},{i % 7},"{evil} {i % 2}",{"" if i > 19 else f"{evil}{i % 2}"}' for i in range(40)]
    path.write_text("\n".join(lines) + "\n")
    with Server(ecotone, path, "scale | logistic", "--label", "y", "--domain", "site", "--target", "new", "--classes", "'<&",
                cwd=tmp_path) as server:
        state = server.state()
        assert f"{evil}0" in state["classes"] and "'<&" in state["classes"]
        assert {field["name"] for field in state["question"]["fields"]} == {"<b>x</b>", "word"}
        status, headers, body = server.send("GET", "/api/state?page=p1", X_Token=server.token)
        assert headers["Content-Type"] == "application/json" and json.loads(body)["classes"] == state["classes"]
        assert b"alert(1)" not in server.send("GET", f"/?token={server.token}")[2]
        server.answer(state["question"]["row"], f"{evil}1")
        server.finish()
    events = [json.loads(line) for line in (tmp_path / "evil.labels" / "journal.jsonl").read_text().splitlines()]
    assert events[0]["label"] == f"{evil}1"


def test_another_address_needs_a_token_of_the_users_own(ecotone, tmp_path):
    write_pool(tmp_path / "pool.csv")
    secret = "0123456789abcdef"
    with Server(ecotone, "pool.csv", PIPELINE, *COLUMNS, "--host", "0.0.0.0", "--token", secret, cwd=tmp_path) as server:
        assert server.token == secret
        assert server.send("GET", f"/?token={secret}", Host=f"192.168.1.5:{server.port}")[0] == 200
        refused(server.send("GET", f"/?token={secret}", Host=f"evil.example:{server.port}"), 403, "bad_host")
        assert "not encrypted" in server.ended(by=signal.SIGTERM)[1]


# ---- pictures

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture(scope="module")
def gallery(ecotone, tmp_path_factory):
    """A data set whose column `file` names what it should and what it should not."""
    top = tmp_path_factory.mktemp("gallery")
    folder = top / "data"
    (folder / "sub").mkdir(parents=True)
    (top / "data_not").mkdir()
    (top / "outside.png").write_bytes(PNG)
    (top / "data_not" / "near.png").write_bytes(PNG)
    (folder / "good.png").write_bytes(PNG)
    (folder / "sub" / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 20)
    (folder / "drawing.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "text.png").write_text("<script>alert(1)</script>")
    (folder / "huge.png").write_bytes(PNG)
    os.truncate(folder / "huge.png", 20_000_000)
    (folder / "link.png").symlink_to("good.png")
    (folder / "out.png").symlink_to("../outside.png")
    (folder / "outer").symlink_to("..")
    os.mkfifo(folder / "pipe.png")
    names = ["good.png", "sub/photo.jpg", "link.png", "sub/../good.png", str(folder / "good.png"), "", "none.png", "drawing.svg",
             "text.png", "huge.png", "out.png", "outer/outside.png", "../outside.png", str(top / "outside.png"), "../data_not/near.png",
             "pipe.png", "sub", "/etc/passwd", "/dev/zero", "pool.csv"]
    lines = ["site,x,file,y"] + [f"old,{i},,{'ab'[i % 2]}" for i in range(10)] + [f"new,{i},{name}," for i, name in enumerate(names)]
    (folder / "pool.csv").write_text("\n".join(lines) + "\n")
    with Server(ecotone, folder / "pool.csv", "scale | logistic", *COLUMNS, "--images", "file", cwd=top) as server:
        yield server, {name: 11 + i for i, name in enumerate(names)}, folder


@pytest.mark.parametrize(("name", "kind"), (("good.png", "png"), ("sub/photo.jpg", "jpeg"), ("link.png", "png"), ("sub/../good.png", "png")))
def test_pictures_of_the_column_are_shown(gallery, name, kind):
    server, rows, folder = gallery
    status, headers, body = server.send("GET", f"/api/image?row={rows[name]}&token={server.token}")
    assert (status, headers["Content-Type"]) == (200, f"image/{kind}") and body == (folder / name).read_bytes()
    assert headers["X-Content-Type-Options"] == "nosniff"
    refused(server.send("GET", f"/api/image?row={rows[name]}"), 403, "bad_token")


def test_nothing_else_is_shown(gallery):
    server, rows, folder = gallery
    shown = {"good.png", "sub/photo.jpg", "link.png", "sub/../good.png", str(folder / "good.png")}
    for name, row in rows.items():
        if name not in shown:
            refused(server.send("GET", f"/api/image?row={row}&token={server.token}"), 404, "no_image")
    refused(server.send("GET", f"/api/image?row=1&token={server.token}"), 404, "no_image")
    refused(server.send("GET", f"/api/image?row=9999&token={server.token}"), 404, "no_image")
    refused(server.send("GET", f"/api/image?row=good.png&token={server.token}"), 400, "bad_request")


def test_the_column_of_pictures_is_no_feature(gallery):
    server, rows, _ = gallery
    question = server.state()["question"]
    assert [field["name"] for field in question["fields"]] == ["x"]
    name = next(name for name, row in rows.items() if row == question["row"])
    assert question["image"] == (name != "")
