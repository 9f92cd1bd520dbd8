# SPDX-License-Identifier: MIT
"""A headless Chromium, driven over a pipe: what tests of pages share.

    with Browser(folder) as browser:
        browser.open("/a/page.html")
        browser.value("document.title")
"""
import base64
import json
import os
import pathlib
import select
import subprocess

PATIENCE = 300 # seconds that a browser may be silent before it is taken for stuck


class Browser:
    def __init__(self, folder, program="chromium"):
        mine, its = os.pipe(), os.pipe()
        # Chromium reads commands from 3, and answers on 4.
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={folder}", "--window-size=1280,900", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{mine[0]} 4>&{its[1]}', "bash", *command],
                                        pass_fds=(mine[0], its[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(mine[0])
        os.close(its[1])
        self.out, self.incoming = os.fdopen(mine[1], "wb", buffering=0), os.fdopen(its[0], "rb")
        self.number, self.rest, self.session, self.faults, self.requests = 0, b"", None, [], []
        self.loaded = set()
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.ask(domain + ".enable")
        self.ask("Page.setLifecycleEventsEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.out.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _message(self):
        while b"\0" not in self.rest:
            if not select.select([self.incoming], [], [], PATIENCE)[0]:
                self.process.kill()
                raise TimeoutError(f"the browser has said nothing for {PATIENCE} s")
            piece = os.read(self.incoming.fileno(), 1 << 16)
            if not piece:
                raise EOFError("the browser has ended")
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.faults.append(message["params"]["exceptionDetails"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") == "Page.lifecycleEvent" and message["params"]["name"] == "load":
            self.loaded.add(message["params"]["loaderId"])
        return message

    def ask(self, method, **params):
        """Its answer to a command."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path):
        """Shows a file, and waits until its scripts have run."""
        self.requests = []
        # A small page may be loaded before the command that asked for it is answered.
        loader = self.ask("Page.navigate", url=pathlib.Path(path).resolve().as_uri())["loaderId"]
        while loader not in self.loaded:
            self._message()

    def value(self, expression):
        """What an expression is in the page, as JSON."""
        result = self.ask("Runtime.evaluate", expression=f"JSON.stringify({expression})", awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return json.loads(result["result"].get("value", "null"))

    def click(self, x, y, count=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def wheel(self, x, y, by):
        self.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" and len(key) == 1 else "")

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
