"""A PostgreSQL server on loopback, in a folder of its own, for as long as a test needs it."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from waiting import PATIENCE, wait_for


def missing() -> str | None:
    """Why there can be no server here; None where there can."""
    if program("initdb") is None or program("postgres") is None:
        return "PostgreSQL is not installed"
    if find_spec("psycopg") is None:
        return "psycopg is not installed"
    return "root may not run PostgreSQL, and there is no other user" if os.geteuid() == 0 and not _user() else None


def program(name: str) -> str | None:
    """On the path, or where Debian keeps it."""
    found = shutil.which(name)
    others = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return found or (str(others[-1]) if others else None)


def _user() -> pwd.struct_passwd | None:
    """Who runs it in place of root."""
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    return None


@contextmanager
def server() -> Iterator[str]:
    """The address of an empty database."""
    folder = Path(tempfile.mkdtemp(prefix="believer-postgres-"))
    user = _user() if os.geteuid() == 0 else None
    ids = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    password, data = secrets.token_hex(16), folder / "data"
    try:
        (folder / "password").write_text(password, encoding="utf-8")
        if user is not None:
            for path in (folder, folder / "password"):
                os.chown(path, user.pw_uid, user.pw_gid)
        make = [program("initdb"), "-D", data, "-U", "believer", "--auth=scram-sha-256", "--no-sync"]
        make += [f"--pwfile={folder / 'password'}", "--locale=C", "--encoding=UTF8"]
        subprocess.run(make, check=True, capture_output=True, timeout=PATIENCE, cwd=folder, **ids)  # type: ignore[call-overload]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with (folder / "log").open("wb") as log:
            start = [program("postgres"), "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", "", "-F"]
            process = subprocess.Popen(start, stdout=log, stderr=log, cwd=folder, **ids)  # type: ignore[call-overload]
        try:
            wait_for(lambda: _answers(port, password) or process.poll() is not None)
            assert process.poll() is None, (folder / "log").read_text(encoding="utf-8")
            yield f"postgresql+psycopg://believer:{password}@127.0.0.1:{port}/postgres"
        finally:
            process.send_signal(signal.SIGINT)  # ends what is connected, and then the server
            process.wait(PATIENCE)
    finally:
        shutil.rmtree(folder)


def _answers(port: int, password: str) -> bool:
    import psycopg

    try:
        psycopg.connect(host="127.0.0.1", port=port, user="believer", password=password, dbname="postgres").close()
    except psycopg.OperationalError:
        return False
    return True
