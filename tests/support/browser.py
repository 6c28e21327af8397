"""Pages as a browser has them: what becomes of a page when its scripts have run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

__all__ = ["answer_of", "browser", "dom_of"]

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=20000")
_WAITING = """
const pagesOf = () => [document, ...[...document.querySelectorAll("iframe")].map((frame) => frame.contentDocument)];
const isDrawn = (page) => page && page.readyState === "complete"
  && [...page.querySelectorAll("[data-chart]")].every((plot) => plot.querySelector("svg"));
addEventListener("load", async () => {
  for (let tries = 0; tries < 60 && !pagesOf().every(isDrawn); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  const answer = document.createElement("pre");
  answer.id = "answer";
  answer.textContent = await (async () => { SCRIPT })().then(JSON.stringify, (error) => JSON.stringify(String(error)));
  document.documentElement.append(answer);
});
"""
_ANSWER = re.compile(r'<pre id="answer">(.*?)</pre>', re.DOTALL)


def browser() -> str:
    """Returns the path of Chromium; skips the test that asks if there is none."""
    path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if path is None:
        pytest.skip("there is no Chromium")
    return path


def dom_of(page: str, folder: Path, *options: str) -> tuple[str, list[str]]:
    """The elements of a page after its scripts have run, and what the browser complains of; skips without Chromium."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    command = [browser(), *_OPTIONS, f"--user-data-dir={folder}/browser", *options, "--dump-dom", path.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    return ran.stdout, [line for line in ran.stderr.splitlines() if "CONSOLE" in line]


def answer_of(page: str, folder: Path, script: str, *options: str) -> Any:
    """What a script answers of a page that it is put at the end of: the value that its promise has, as JSON.

    It waits until the plots are drawn.
    """
    waiting = _WAITING.replace("SCRIPT", script)
    dom, complaints = dom_of(f"{page}<script>{waiting}</script>", folder, *options)
    answer = _ANSWER.search(dom)
    assert answer, complaints
    return json.loads(unescape(answer[1]))
