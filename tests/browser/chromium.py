"""A headless Chromium, driven through pipes: pages, scripts, keys, screenshots."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
SECONDS = 30
# The browser reads commands from descriptor 3 and writes answers to 4.
_EXECUTE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """The browser's command, or None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser process; commands go down a pipe, answers and events come up another."""

    def __init__(self, profile: str) -> None:
        down, self._write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in os.pipe())
        self._read, up = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in os.pipe())
        command = (find_chromium(), *OPTIONS, f"--user-data-dir={profile}", "about:blank")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _EXECUTE, str(down), str(up), *command],
            pass_fds=(down, up),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(down)
        os.close(up)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events on the way are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self._buffer += part
        line, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(line))

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(RuntimeError, TimeoutError, OSError):
            self.send("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._process.kill()
        os.close(self._write)
        os.close(self._read)


class Page:
    """One page of a browser."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to this page."""
        return self._browser.send(method, self._session, **parameters)

    def resize(self, width: int, height: int = 900, scheme: str = "light") -> None:
        """Set the window's size and the colours that the reader prefers."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.send("Emulation.setEmulatedMedia", features=features)

    def open(self, path: Path) -> None:
        """Open a file and wait until it is drawn."""
        self.send("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + SECONDS
        while not self.run("document.readyState === 'complete' && location.protocol === 'file:'"):
            if time.monotonic() > end:
                raise TimeoutError(f"{path.name} is not drawn")
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """Value of an expression in the page."""
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", script))
        return answer["result"].get("value")

    def click(self, selector: str, index: int = 0) -> None:
        """Press what a selector finds with the mouse, where a reader would see it."""
        x, y = self.run(
            f"""(() => {{
            const found = document.querySelectorAll({json.dumps(selector)})[{index}];
            if (!found) throw new Error("nothing is " + {json.dumps(selector)});
            found.scrollIntoView({{block: "center", inline: "center"}});
            const box = found.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
            }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key, for example ``Tab`` or ``ArrowRight``."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        codes |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = {"text": "\r"} if key == "Enter" else {}
        code = codes[key]
        self.send(
            "Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text
        )
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Type a text where the focus is."""
        self.send("Input.insertText", text=text)

    def shoot(self, path: Path, selector: str | None = None) -> None:
        """Save a picture of the page from top to end, or of one element."""
        box = self.run(
            f"""(() => {{
            const found = document.querySelector({json.dumps(selector or "body")});
            const box = found.getBoundingClientRect();
            return [0, box.top + scrollY, document.documentElement.clientWidth, box.height];
            }})()"""
        )
        clip = dict(zip(("x", "y", "width", "height"), box, strict=True), scale=1)
        data = self.send("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def print_to(self, path: Path) -> None:
        """Save the page as it prints."""
        data = self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def save_to(self, folder: Path) -> None:
        """Let the page's files be saved in a folder."""
        self._browser.send(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder)
        )

    def close(self) -> None:
        """Close the page."""
        self._browser.send("Target.closeTarget", targetId=self._target)

    def complaints(self) -> list[str]:
        """What the console said: errors and warnings, exceptions, refused requests."""
        self.run("0")
        said = []
        for event in self._browser.events:
            method, parameters = event.get("method"), event.get("params", {})
            if event.get("sessionId") != self._session:
                continue
            if method == "Runtime.exceptionThrown":
                said.append(str(parameters["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" or method == "Log.entryAdded":
                said.append(str(parameters))
        return said


@contextlib.contextmanager
def start_browser() -> Iterator[Browser]:
    """A browser with an empty profile, ended at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            yield browser
        finally:
            browser.close()
