"""Processes whose clock can be set while they run."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import pathlib, sys, time

true, shift = time.time, pathlib.Path(sys.argv[1])
time.time = lambda: true() + float(shift.read_text())
del sys.argv[1:5]  # the file, and the interpreter with "-m colme"
from colme.cli import main
main()
"""

LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <stdio.h>
#include <time.h>

static int (*true_clock)(clockid_t, struct timespec *);

static __attribute__((constructor)) void begin(void) {
    true_clock = dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t which, struct timespec *found) {
    int code = true_clock(which, found);
    const char *name = which == CLOCK_REALTIME ? getenv("WALL_SHIFT")
                     : which == CLOCK_BOOTTIME ? getenv("BOOT_SHIFT") : NULL;
    FILE *file = name ? fopen(name, "r") : NULL;
    long shift = 0;
    if (file) {
        if (fscanf(file, "%ld", &shift) != 1) shift = 0;
        fclose(file);
    }
    found->tv_sec += shift;
    return code;
}
"""


class WallClock:
    """A wall clock that can be set, for processes in Python."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "shift"
        self.set(0)

    def set(self, seconds: int) -> None:
        """Let the clock be so many seconds fast."""
        draft = self._file.with_suffix(".draft")
        draft.write_text(str(seconds))
        draft.replace(self._file)

    @property
    def wrapper(self) -> list[str]:
        """What to put before a command, in place of its interpreter."""
        return [sys.executable, "-c", PROGRAM, str(self._file)]


def library(folder: Path) -> Path:
    """Return a library that sets the clocks of whatever process loads it; needs a C compiler."""
    source, built = folder / "clocks.c", folder / "clocks.so"
    source.write_text(LIBRARY)
    command = ["cc", "-shared", "-fPIC", "-o", str(built), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return built
