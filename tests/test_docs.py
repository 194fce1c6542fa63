"""Every command and every piece of Python shown in the documentation runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SLOW = {"colme reproduce"}  # the reproduction has its own tests


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind == language]


def commands(page: Path) -> list[str]:
    lines = (line for text in blocks(page, "sh") for line in text.splitlines())
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page, "python"))
    exec(compile(code, page.name, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_the_page_run(page: Path, tmp_path: Path) -> None:
    for text in blocks(page, "toml"):
        (tmp_path / "experiment.toml").write_text(text)
    if any(command.startswith("colme estimate") for command in commands(page)):
        table = [sys.executable, "-c", blocks(page, "python")[0]]  # the first piece writes a table
        subprocess.run(table, cwd=tmp_path, check=True, env=os.environ)
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in commands(page):
        program, *arguments = shlex.split(command)
        if " | " in command:
            run = ["bash", "-o", "pipefail", "-c", command]
        elif program == "make":
            run = ["make", "--dry-run", "--directory", str(ROOT), *arguments]
        elif program == "colme":
            if " ".join(shlex.split(command)[:2]) in SLOW:
                arguments.append("--help")
            run = [sys.executable, "-m", "colme", *arguments]
        else:
            pytest.fail(f"{page.name} shows a command that nothing runs: {command}")
        done = subprocess.run(
            run, cwd=tmp_path, capture_output=True, text=True, check=False, env=env
        )
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_on_the_page_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []
