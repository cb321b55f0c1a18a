"""The receiver of reports, asked over real connections."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app.background.feedback.serve import MOST_BODY, Receiver
from app.errors import ReverieError, UsageError
from tests.protocol.feedback_wire import TOKEN, receiver

REPORT = json.dumps({"id": "fb-1", "title": "T", "body": "B"}).encode()
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": "fb-1"}


def post(
    service: Receiver, body: bytes = REPORT, headers: dict[str, str] = HEADERS
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", service.server_port, timeout=20)
    try:
        connection.request("POST", "/", body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_a_report_becomes_a_private_file_named_by_its_key(tmp_path: Path) -> None:
    with receiver(tmp_path / "in") as service:
        status, answer = post(service)
    file = tmp_path / "in" / "fb-1.json"
    assert (status, answer["id"][:3]) == (201, "FB-")
    assert file.read_bytes() == REPORT
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_repeated_report_gets_the_same_id_and_another_one_under_its_key_a_no(
    tmp_path: Path,
) -> None:
    with receiver(tmp_path) as service:
        _, first = post(service)
        again = post(service)
    with receiver(tmp_path) as service:
        assert post(service) == again == (200, {"id": first["id"], "duplicate": True})
        status, answer = post(service, REPORT.replace(b'"B"', b'"other"'))
    assert (status, answer) == (409, {"error": "Another report is stored under this key."})
    assert [f.name for f in tmp_path.iterdir()] == ["fb-1.json"]
    assert (tmp_path / "fb-1.json").read_bytes() == REPORT


def test_many_senders_of_one_key_make_one_report(tmp_path: Path) -> None:
    with receiver(tmp_path) as service, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(service), range(24)))
    assert sorted(status for status, _ in answers) == [200] * 23 + [201]
    assert len({answer["id"] for _, answer in answers}) == 1
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", f"bearer {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xe9"]
)
def test_without_the_token_nothing_is_stored(tmp_path: Path, given: str) -> None:
    with receiver(tmp_path / "in") as service:
        status, answer = post(service, headers={**HEADERS, "Authorization": given})
    assert (status, "token" in answer["error"]) == (401, True)
    assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.parametrize("key", ["", "../fb-1", ".lock", "a/b", "a b", "x" * 129, "fb\xe9"])
def test_a_key_that_is_no_file_name_is_refused(tmp_path: Path, key: str) -> None:
    with receiver(tmp_path / "in") as service:
        assert post(service, headers={**HEADERS, "Idempotency-Key": key})[0] == 400
    assert list((tmp_path / "in").iterdir()) == []
    assert [f.name for f in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"{}", b'{"title":1,"body":"x"}', b"\xff", b"[" * 99_999]
)
def test_garbage_is_refused(tmp_path: Path, body: bytes) -> None:
    with receiver(tmp_path) as service:
        assert post(service, body)[0] == 400
    assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_is_answered_with_413_and_the_limit_is_taken(tmp_path: Path) -> None:
    frame = b'{"title":"T","body":"%s"}'
    full = frame % (b"x" * (MOST_BODY - len(frame) + 2))
    with receiver(tmp_path) as service:
        assert post(service, full)[0] == 201
        assert post(service, full + b" ", {**HEADERS, "Idempotency-Key": "fb-2"})[0] == 413
    assert [f.name for f in tmp_path.iterdir()] == ["fb-1.json"]


@pytest.mark.parametrize(("token", "status"), [(TOKEN, 413), ("wrong", 401)])
def test_a_no_to_a_large_report_is_heard_by_its_sender(
    tmp_path: Path, token: str, status: int
) -> None:
    with receiver(tmp_path) as service:
        headers = {**HEADERS, "Authorization": f"Bearer {token}"}
        assert post(service, b"x" * (7 << 20), headers)[0] == status


def test_a_team_with_a_larger_budget_sets_a_larger_limit(tmp_path: Path) -> None:
    report = json.dumps({"title": "T", "body": "x" * MOST_BODY}).encode()
    with receiver(tmp_path, most_body=2 * MOST_BODY) as service:
        assert post(service, report)[0] == 201
        status, answer = post(service, report * 2, {**HEADERS, "Idempotency-Key": "fb-2"})
    assert (status, answer["error"]) == (413, f"A report has at most {2 * MOST_BODY} bytes.")


def connected(service: Receiver) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.server_port), 10)


def ended_after(connection: socket.socket, piece: bytes) -> float:
    """Seconds until the receiver hangs up on a sender of many small pieces."""
    start = time.monotonic()
    connection.settimeout(0.05)
    while time.monotonic() - start < 10:
        try:
            connection.sendall(piece)
            if not connection.recv(99):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - start


@pytest.mark.parametrize("piece", [b"", b"x"])
@pytest.mark.parametrize("head", ["", "POST / HTTP/1.1\r\n", "whole"])
def test_nobody_holds_a_connection_longer_than_a_request_may_take(
    tmp_path: Path, head: str, piece: bytes
) -> None:
    lines = [f"{name}: {value}\r\n" for name, value in HEADERS.items()]
    whole = "".join(["POST / HTTP/1.1\r\n", *lines, "Content-Length: 9999\r\n\r\n"])
    with receiver(tmp_path, patience=0.5) as service, connected(service) as connection:
        connection.sendall((whole if head == "whole" else head).encode())
        assert ended_after(connection, piece) < 5
    assert list(tmp_path.iterdir()) == []


def test_only_so_many_are_served_at_once_and_places_are_given_back(tmp_path: Path) -> None:
    with receiver(tmp_path, patience=5.0) as service, contextlib.ExitStack() as many:
        before = threading.active_count()
        silent = [many.enter_context(connected(service)) for _ in range(40)]
        silent[-1].settimeout(10)
        assert silent[-1].recv(99).startswith(b"HTTP/1.1 503 Busy\r\nRetry-After: 5")
        assert threading.active_count() <= before + 32
        for each in silent:
            each.close()
        until = time.monotonic() + 20
        while (status := status_of(service)) == 503:
            assert time.monotonic() < until
        assert status == 201


def status_of(service: Receiver) -> int:
    """The status of one report's answer; 503 too where the connection was closed over it."""
    with connected(service) as connection:
        lines = [f"{name}: {value}" for name, value in HEADERS.items()]
        head = "\r\n".join(["POST / HTTP/1.1", *lines, f"Content-Length: {len(REPORT)}", "", ""])
        try:
            connection.sendall(head.encode() + REPORT)
            return int(connection.recv(99).split()[1])
        except OSError:
            return 503


@pytest.mark.parametrize(
    "length", ["Content-Length: x", "Content-Length: -1", "Transfer-Encoding: chunked", "A: b"]
)
def test_a_body_of_unknown_length_is_refused(tmp_path: Path, length: str) -> None:
    with receiver(tmp_path) as service:
        lines = [f"{name}: {value}" for name, value in HEADERS.items()]
        request = "\r\n".join(["POST / HTTP/1.1", "Host: a", *lines, length, "", ""])
        with socket.create_connection(("127.0.0.1", service.server_port), 10) as connection:
            connection.sendall(request.encode())
            assert connection.recv(99).startswith(b"HTTP/1.1 411")
    assert list(tmp_path.iterdir()) == []


def test_half_a_report_is_not_stored_and_the_next_one_is(tmp_path: Path) -> None:
    with receiver(tmp_path) as service:
        lines = [f"{name}: {value}" for name, value in HEADERS.items()]
        head = "\r\n".join(["POST / HTTP/1.1", "Host: a", *lines, "Content-Length: 999", "", ""])
        with socket.create_connection(("127.0.0.1", service.server_port), 10) as connection:
            connection.sendall(head.encode() + REPORT)
        assert post(service, headers={**HEADERS, "Idempotency-Key": "fb-2"})[0] == 201
    assert [f.name for f in tmp_path.iterdir()] == ["fb-2.json"]


def test_a_report_that_cannot_be_stored_gets_no_receipt(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    with receiver(folder) as service:
        folder.rmdir()
        folder.write_text("in the way")
        status, answer = post(service)
    assert (status, "id" in answer) == (507, False)


def test_a_server_without_a_token_or_on_a_taken_port_does_not_start(tmp_path: Path) -> None:
    for token in ("", "new\nline", "\xe9"):
        with pytest.raises(UsageError, match="token"):
            Receiver(tmp_path, token)
    with receiver(tmp_path) as service, pytest.raises(ReverieError, match="listened on"):
        Receiver(tmp_path, TOKEN, port=service.server_port)


def test_it_runs_until_it_is_ended_and_prints_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = (
        "import sys; from pathlib import Path;"
        "from app.background.feedback.serve import Receiver;"
        "Receiver(Path(sys.argv[1]), sys.argv[3], port=int(sys.argv[2])).serve_forever()"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "in"), str(port), TOKEN]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("POST", "/", REPORT, HEADERS)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < until
                assert child.poll() is None
        assert connection.getresponse().status == 201
        connection.close()
    finally:
        child.kill()
        said, _ = child.communicate()
    assert said == b""
