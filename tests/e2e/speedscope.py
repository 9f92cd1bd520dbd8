#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope.py RELEASE PROFILE FOLDER: whether speedscope itself (RELEASE is dist/release of its npm package) opens a profile,
in a browser whose files go to FOLDER."""

import base64
import json
import os
import pathlib
import sys
import time

from browser import Browser

release, profile, folder = map(pathlib.Path, sys.argv[1:])
os.makedirs(folder, exist_ok=True)
script = folder / "profile.js"
data = base64.b64encode(profile.read_bytes()).decode()
script.write_text(f"speedscope.loadFileFromBase64({json.dumps(profile.name)}, {json.dumps(data)})")
first = json.loads(profile.read_text())["profiles"][0]["name"]
with Browser(folder / "browser") as browser:
    browser.ask("Page.navigate", url=(release / "index.html").resolve().as_uri() + "#localProfilePath=" + str(script.resolve()))
    for _ in range(3000):
        title = browser.value("document.title")
        if title not in ("", "speedscope"):
            break
        time.sleep(0.1)
    assert title == f"{first} - speedscope", title
    assert browser.faults == [], browser.faults
