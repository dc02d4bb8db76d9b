"""A page in a real browser: headless Chromium, driven over the pipe of its DevTools protocol, and what it finds wrong.

Messages are JSON, each ended by a zero byte; Chromium reads them at file descriptor 3 and answers at 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waiting import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PHONE, DESK = 360, 1280
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)
_TO_PIPE = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
"""The shell gives our pipes the two numbers that Chromium knows."""

_LOOK = """
(async () => {
  await Promise.all([...document.images].map(image => image.decode().catch(() => null)));
  const root = document.documentElement;
  const small = node => parseFloat(getComputedStyle(node.parentElement).fontSize) < 12;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const tiny = new Set();
  while (walker.nextNode()) {
    if (walker.currentNode.data.trim() && small(walker.currentNode)) tiny.add(walker.currentNode.data.trim());
  }
  const links = [...document.links].map(link => link.getAttribute("href"));
  return {
    images: [...document.images].filter(i => !i.naturalWidth).map(i => i.alt || i.src.slice(0, 80)),
    anchors: links.filter(to => to.startsWith("#") && !document.getElementById(to.slice(1))),
    files: links.filter(to => !to.startsWith("#")),
    twice: [...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) < i),
    tiny: [...tiny].slice(0, 3), width: root.clientWidth, needs: root.scrollWidth,
  };
})()
"""


def chromium() -> str | None:
    """The path of a Chromium that can be driven here; None without one."""
    # A snap is confined: it sees neither our pipes nor pages outside of the home folder.
    names = [name for name in NAMES if not (name.startswith("chromium") and Path("/snap/bin/chromium").exists())]
    return next(filter(None, map(shutil.which, names)), None) if os.name == "posix" else None


@contextmanager
def browser() -> Iterator[Browser]:
    """A running Chromium, with a profile of its own; both are gone at the end."""
    path = chromium()
    assert path is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = ["/bin/sh", "-c", _TO_PIPE, path, *_FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            try:
                chrome = Browser(process)
                yield chrome
                chrome.close()
                process.wait(PATIENCE)
            finally:
                process.kill()


class Browser:
    """Speaks to Chromium: commands and their answers, and the events that come meanwhile."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._from = process.stdin, process.stdout
        self._rest = b""
        self._sent = 0
        self._tab: str | None = None
        self._target: str | None = None
        self._events: list[dict[str, Any]] = []

    def open(self, page: Path | str, width: int, *, dark: bool = False, height: int = 800) -> None:
        """Load a page, a file or an address, in a new tab, ``width`` pixels wide; a narrow one is a phone's."""
        self._tab = None
        last, target = self._target, self.call("Target.createTarget", url="about:blank")["targetId"]
        if last is not None:
            self.call("Target.closeTarget", targetId=last)
        self._target, self._events = target, []
        self._tab = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        while not self.heard("Page.loadEventFired"):
            self._events.append(self._receive())

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What Chromium answers to a command."""
        self._sent += 1
        tab = {} if self._tab is None else {"sessionId": self._tab}
        self._to.write(json.dumps({"id": self._sent, "method": method, "params": parameters, **tab}).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._sent:
            self._events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def heard(self, method: str) -> list[dict[str, Any]]:
        """What the events of a kind said, since the page was opened."""
        return [event["params"] for event in self._events if event.get("method") == method]

    def evaluate(self, script: str) -> Any:
        """The value of a script in the page, once it is there."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")  # nothing, for what is undefined

    def screenshot(self, out: Path, whole: bool = False) -> None:
        """What the window shows, or the ``whole`` page, as a PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        out.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """Tell Chromium to end."""
        self._tab = None
        self.call("Browser.close")

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], PATIENCE)
            assert ready, f"Chromium was silent for {PATIENCE:.0f} s"
            got = self._from.read(1 << 16)
            assert got, "Chromium ended"
            self._rest += got
        line, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        return message


def faults(chrome: Browser, page: Path, width: int) -> list[str]:
    """What is wrong with a page in a window of that width; nothing, if all is well."""
    chrome.open(page, width)
    look = chrome.evaluate(_LOOK)
    found = [f"console: {said['type']} {said['args']}" for said in chrome.heard("Runtime.consoleAPICalled")]
    found += [f"exception: {said['exceptionDetails']['text']}" for said in chrome.heard("Runtime.exceptionThrown")]
    found += [f"log: {said['entry']['text']}" for said in chrome.heard("Log.entryAdded")]
    asked = [said["request"]["url"] for said in chrome.heard("Network.requestWillBeSent")]
    found += [f"asks for {url}" for url in asked if url != page.resolve().as_uri() and not url.startswith("data:")]
    found += [f"image not loaded: {image}" for image in look["images"]]
    found += [f"link to nowhere: {link}" for link in look["anchors"]]
    found += [f"link to no file: {link}" for link in look["files"] if not (page.parent / link).is_file()]
    found += [f"id used twice: {name}" for name in look["twice"]]
    found += [f"too small to read: {text}" for text in look["tiny"]]
    if max(look["needs"], look["width"]) > width:
        found.append(f"scrolls sideways: {look['needs']} px in a window of {width}")
    return found
