"""A real Chromium, driven over a pair of pipes: what a page shows, says and tries to run."""

import base64
import contextlib
import fcntl
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from tests.system.programs import require

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
PATIENCE = 60
WIRE = """
import os, sys
for end, number in zip(sys.argv[1:3], (3, 4)):  # Chromium reads from 3 and answers on 4
    os.dup2(int(end), number)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Done in a program of its own: a fork of this one would disturb libraries with threads."""


class Browser:
    """One page of one browser; commands are those of the DevTools protocol."""

    def __init__(self, profile: Path) -> None:
        chromium = require("chromium", package="chromium")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (theirs_in, theirs_out)]
        program = [chromium, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", WIRE, *map(str, ends), *program],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
        self._in, self._out = ours_in, ours_out
        self._number, self._rest, self._session = 0, b"", None
        self.complaints: list[str] = []
        """Errors of the console, refusals of the policy, requests that left the page."""
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """Send a command and return its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, page: Path, *, width=1200, height=900, dark=False):
        """Load a file into a screen of this size and theme."""
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=theme)
        screen = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=width < 600, **screen)
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url=page.as_uri())
        end = time.monotonic() + PATIENCE
        while self.evaluate("document.readyState + location.href") != "complete" + page.as_uri():
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.02)
        time.sleep(0.2)  # what a hostile page would do after loading
        self.evaluate("1")

    def evaluate(self, expression):
        """Return the value of an expression in the page; the page's policy does not bind it."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)[
            "result"
        ].get("value")

    def screenshot(self, path: Path, *, whole=True):
        """Save what is to be seen."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)[
            "data"
        ]
        path.write_bytes(base64.b64decode(data))
        return path

    def close(self):
        """End the browser."""
        with contextlib.suppress(Exception):
            self._session = None
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        os.close(self._out)

    def _next(self):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            assert ready, "the browser is silent"
            block = os.read(self._in, 1 << 16)
            assert block, "the browser has gone"
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        params = message.get("params", {})
        match message.get("method"):
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(params)[:300])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
        return message
