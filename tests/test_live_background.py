"""Work in threads that keep no program alive, and that cannot spoil its end."""

import subprocess
import sys

import pytest

BUSY = """
import asyncio, sys, time
from colme.live.background import in_background, exit_if_busy

async def main():
    in_background(lambda: time.sleep({seconds}))
    print("said")

asyncio.run(main())
exit_if_busy({code})
print("went on")
"""


@pytest.mark.parametrize("code", [0, 2])
def test_a_program_ends_at_once_with_its_code_while_work_is_under_way(code: int) -> None:
    program = [sys.executable, "-c", BUSY.format(seconds=60, code=code)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "said\n", "")


def test_a_program_without_such_work_ends_as_any_other() -> None:
    program = [
        sys.executable,
        "-c",
        "from colme.live.background import exit_if_busy; exit_if_busy(3); print('on')",
    ]
    done = subprocess.run(program, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (0, "on\n")
