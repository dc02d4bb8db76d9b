from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from page_studies import hostile, reaction, small
from waiting import PATIENCE, wait_for

from believer import Float, Optimizer, Space, read_study
from believer.errors import InvalidInput
from believer.page import Watch, watch
from believer.page.live import Live
from believer.page.watched import journal, studies_at

pytest.importorskip("plotly")


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def port_of(served: Watch) -> int:
    return int(served.url.split(":")[2].split("/")[0])


def said(port: int, request: bytes) -> Answer:
    """The answer to the very bytes of a request."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(request)
        received = b""
        while chunk := connection.recv(1 << 16):
            received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Answer(int(first.split(" ")[1]), headers, body)


def get(port: int, path: str, method: str = "GET", host: str | None = "127.0.0.1", *more: str) -> Answer:
    lines = [f"{method} {path} HTTP/1.1", *([] if host is None else [f"Host: {host}"]), *more, "Connection: close"]
    return said(port, ("\r\n".join(lines) + "\r\n\r\n").encode())


def state_in(port: int, page: str = "/") -> dict[str, Any]:
    """The state that a page follows."""
    shell = get(port, page).text
    found = re.search(r'id="state">(.*?)</script>', shell)
    assert found is not None
    return dict(json.loads(get(port, page + json.loads(found[1])["follow"]).body))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "studies"
    (root / "inner").mkdir(parents=True)
    small(root / "one.jsonl").close()
    hostile(root / "inner" / "two.jsonl").close()
    (root / "notes.jsonl").write_text('{"kind":"else"}\n', encoding="utf-8")
    (root / "secret.txt").write_text("secret", encoding="utf-8")
    small(tmp_path / "outside.jsonl").close()
    return root


@pytest.fixture
def served(folder: Path) -> Iterator[int]:
    with watch(folder / "one.jsonl", port=0) as page:
        yield port_of(page)


def test_a_journal_is_served_as_it_stands_and_stays_as_it_is(folder: Path, served: int) -> None:
    before = (folder / "one.jsonl").read_bytes(), (folder / "one.jsonl").stat().st_mtime_ns
    found = state_in(served)
    assert found["title"] == "one"
    assert len(found["trials"]["rows"]) == 14
    wait_for(lambda: bool(state_in(served)["next"].get("tables")))  # models come after what happened
    assert {"figure-convergence", "figure-slice"} <= {figure["id"] for figure in state_in(served)["figures"]}
    assert ((folder / "one.jsonl").read_bytes(), (folder / "one.jsonl").stat().st_mtime_ns) == before
    assert sorted(path.name for path in folder.iterdir()) == ["inner", "notes.jsonl", "one.jsonl", "secret.txt"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_nothing_but_get_and_head_is_answered(served: int, method: str) -> None:
    answer = get(served, "/", method, "127.0.0.1", "Content-Length: 0")
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_head_has_the_headers_of_get_and_no_body(served: int) -> None:
    answer = get(served, "/", "HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-length"] == get(served, "/").headers["content-length"]


@pytest.mark.parametrize(
    "path",
    [
        *("/../secret.txt", "/study/../../secret.txt", "/%2e%2e/secret.txt", "/study/%2e%2e/state.json", "/secret.txt"),
        *("/one.jsonl", "/study/one.jsonl/state.json", "/list.json", "/study//state.json", "/study/0000/", "/\\..\\x"),
        *("/etc/passwd", "/study/" + "a" * 4000 + "/", "/..%00/", "/?x=/../secret.txt/../y#z/../"),
    ],
)
def test_no_path_leads_to_a_file(served: int, path: str) -> None:
    answer = get(served, path)
    assert answer.status == (200 if path.startswith("/?") else 404)
    assert b"secret" not in answer.body.replace(b"secret.txt", b"")


@pytest.mark.parametrize("target", ["http://127.0.0.1/", "//evil.example/", "evil", "*"])
def test_a_target_that_is_no_path_is_refused(served: int, target: str) -> None:
    # Python itself makes one slash of several at the beginning.
    assert get(served, target).status == (404 if target.startswith("//") else 400)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1234", "localhost", "LOCALHOST:80", "[::1]:8765"])
def test_a_page_is_reached_by_the_names_of_this_machine(served: int, host: str) -> None:
    assert get(served, "/", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", None, "192.0.2.1", "0.0.0.0"),
        *("evil.example@localhost.example", "[::ffff:192.0.2.1]", "localhost\tx", "127.0.0.1 evil"),
    ],
)
def test_a_request_under_the_name_of_another_site_is_refused(served: int, host: str | None) -> None:
    answer = get(served, "/", host=host)
    assert answer.status == 403
    assert b"<html" not in answer.body


def test_two_names_or_a_body_are_refused(served: int) -> None:
    assert get(served, "/", "GET", "localhost", "Host: evil.example").status == 403
    assert get(served, "/", "GET", "localhost", "Content-Length: 5").status == 400
    assert get(served, "/", "GET", "localhost", "Transfer-Encoding: chunked").status == 400
    assert said(served, b"nonsense\r\n\r\n").status == 400


def test_answers_allow_no_other_site_and_no_other_script(served: int) -> None:
    answer = get(served, "/")
    assert "access-control-allow-origin" not in answer.headers
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "unsafe-eval" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_a_state_that_the_page_has_is_not_sent_again(served: int) -> None:
    wait_for(lambda: bool(state_in(served)["next"].get("tables")))
    follow = re.search(r'"follow":"([^"]*)"', get(served, "/").text)
    assert follow is not None
    first = get(served, f"/{follow[1]}")
    again = get(served, f"/{follow[1]}", "GET", "localhost", f"If-None-Match: {first.headers['etag']}")
    assert (again.status, again.body) == (304, b"")


def test_a_folder_is_a_list_of_its_journals_and_of_nothing_else(folder: Path) -> None:
    links = {"out.jsonl": folder.parent / "outside.jsonl", "in.jsonl": folder / "one.jsonl"}
    for name, target in links.items():
        try:
            (folder / name).symlink_to(target)
        except OSError:  # Windows needs a privilege for it
            links = {}
    with watch(folder, port=0) as page:
        port = port_of(page)
        wait_for(lambda: all("not read yet" not in one["text"][0] for one in state_in(port)["studies"]))
        studies = {one["name"]: one for one in state_in(port)["studies"]}
        assert set(studies) == {"one.jsonl", os.path.join("inner", "two.jsonl"), *(["in.jsonl"] if links else [])}
        assert "14 trials" in " ".join(studies["one.jsonl"]["text"])
        assert state_in(port, "/" + studies["one.jsonl"]["href"])["title"] == "one"
        small(folder / "later.jsonl").close()
        assert "later.jsonl" in {one["name"] for one in state_in(port)["studies"]}
        (folder / "later.jsonl").unlink()
        assert "later.jsonl" not in {one["name"] for one in state_in(port)["studies"]}


def test_a_folder_that_is_a_link_within_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    small(elsewhere / "three.jsonl").close()
    try:
        (folder / "linked").symlink_to(elsewhere, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    assert {one.name for one in studies_at(folder)[1]().values()} == {"one.jsonl", os.path.join("inner", "two.jsonl")}


def test_a_token_is_asked_for_and_kept_in_a_cookie(folder: Path) -> None:
    with watch(folder / "one.jsonl", port=0, token=True) as page:
        port, token = port_of(page), page.url.partition("?token=")[2]
        assert len(token) >= 32
        for path in ("/", "/?token=", "/?token=wrong", f"/?token={token[:-1]}", "/plotly.js", "/list.json"):
            answer = get(port, path)
            assert (answer.status, b"<html" in answer.body) == (403, False)
        let_in = get(port, f"/?token={token}")
        assert (let_in.status, let_in.headers["location"]) == (303, "/")
        cookie, *flags = let_in.headers["set-cookie"].split("; ")
        assert {"HttpOnly", "SameSite=Strict"} <= set(flags)
        assert get(port, "/", "GET", "localhost", f"Cookie: a=b; {cookie}").status == 200
        assert get(port, "/", "GET", "localhost", f"Cookie: {cookie}x").status == 403
        assert get(port, "/", "GET", "evil.example", f"Cookie: {cookie}").status == 403


def test_other_addresses_get_a_token_whether_or_not_one_is_asked_for(folder: Path) -> None:
    with watch(folder, host="0.0.0.0", port=0) as page:
        assert "?token=" in page.url
        assert get(port_of(page), "/").status == 403
        assert get(port_of(page), "/", "GET", "evil.example").status == 403
    with pytest.raises(InvalidInput, match="needs a token"):
        watch(folder, host="0.0.0.0", port=0, token=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"port": 70000}, "port must be"),
        ({"port": "80"}, "port must be"),
        ({"host": ""}, "host must be"),
        ({"token": "short"}, "a token must have"),
        ({"token": 3}, "token must be"),
        ({"next_q": -1}, "next must be"),
        ({"host": "192.0.2.1", "port": 0}, "cannot listen at"),
    ],
)
def test_wrong_options_are_one_error_of_ours(folder: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        watch(folder, **options)


def test_what_is_no_study_is_one_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a journal or a folder"):
        watch(tmp_path / "nothing.jsonl")
    with pytest.raises(InvalidInput, match="has none"):
        watch(small().snapshot())


def test_a_port_that_is_taken_is_told_and_the_usual_one_makes_way(folder: Path) -> None:
    with watch(folder) as one, watch(folder) as two:
        assert port_of(one) != port_of(two)
        with pytest.raises(InvalidInput, match=f"port {port_of(one)}"):
            watch(folder, port=port_of(one))


def test_an_optimizer_without_a_journal_is_watched_in_memory() -> None:
    optimizer = small()
    with optimizer.watch(port=0) as page:
        port = int(page.url.split(":")[2].split("/")[0])
        assert state_in(port)["results"] == 12
        trial = optimizer.pending[0]
        optimizer.tell(trial, reaction(trial.params))
        assert state_in(port)["results"] == 13
    assert str(page) == f"watching at {page.url}"
    with pytest.raises(OSError, match=r"refused|reset|timed out|actively"):
        get(port, "/")


def test_a_study_that_was_read_is_watched_in_its_journal(folder: Path) -> None:
    with read_study(folder / "one.jsonl").watch(port=0) as page:
        assert state_in(int(page.url.split(":")[2].split("/")[0]))["title"] == "one"


def test_a_journal_that_is_gone_or_damaged_is_told_in_a_sentence(folder: Path, served: int) -> None:
    follow = re.search(r'"follow":"([^"]*)"', get(served, "/").text)
    assert follow is not None
    path = folder / "one.jsonl"
    kept = path.read_bytes()
    path.write_bytes(kept + b"nonsense\n")
    damaged = get(served, f"/{follow[1]}")
    assert (damaged.status, "cannot be read" in damaged.text, "Traceback" in damaged.text) == (503, True, False)
    path.unlink()
    assert get(served, f"/{follow[1]}").status == 404
    path.write_bytes(kept)
    assert get(served, f"/{follow[1]}").status == 200


def test_what_happened_is_told_at_once_and_what_models_make_of_it_when_it_is_there(tmp_path: Path) -> None:
    optimizer = small(tmp_path / "one.jsonl")
    live = Live(journal(str(tmp_path / "one.jsonl"), "one.jsonl"))
    first = json.loads(live.state()[1])
    assert "being worked out" in first["note"]
    wait_for(lambda: "being worked out" not in json.loads(live.state()[1])["note"])
    trial = optimizer.pending[0]
    optimizer.tell(trial, reaction(trial.params))
    second = json.loads(live.state()[1])
    assert second["results"] == 13
    assert "is of 12 results" in second["note"]
    wait_for(lambda: json.loads(live.state()[1])["note"] == "")
    optimizer.close()


def test_a_model_that_fails_leaves_the_rest_of_the_page() -> None:
    class Fails:
        def fit(self, *_: Any) -> Any:
            raise ZeroDivisionError("no model today")

    optimizer = Optimizer(Space({"x": Float(0, 1)}), surrogate=Fails(), seed=1)
    optimizer.observe({"x": 0.5}, 1.0)
    with optimizer.watch(port=0) as page:
        port = int(page.url.split(":")[2].split("/")[0])
        wait_for(lambda: "no model today" in state_in(port)["note"])
        assert len(state_in(port)["trials"]["rows"]) == 1


def test_many_ask_at_once(served: int) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(state_in(served)["trials"]["rows"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert found == [14] * 8


@pytest.mark.skipif(os.name != "posix", reason="sends the signal of Ctrl-C")
def test_the_command_serves_until_it_is_interrupted_and_ends_with_one_line(folder: Path) -> None:
    command = [sys.executable, "-m", "believer", "watch", str(folder / "one.jsonl"), "--port", "0", "--next", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"at http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends it\)\.", line)
        assert found is not None, line
        assert state_in(int(found[1]))["title"] == "one"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out.strip(), err) == (0, "Stopped watching.", "")
