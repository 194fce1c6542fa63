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

int clock_gettime(clockid_t which, struct timespec *found) {
    static int (*true_clock)(clockid_t, struct timespec *);
    if (!true_clock) true_clock = dlsym(RTLD_NEXT, "clock_gettime");
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


class Shift:
    """By how many seconds a clock is fast, in a file that processes read."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.set(0)

    def set(self, seconds: int) -> None:
        """Let the clock be so many seconds fast."""
        draft = self.file.with_suffix(".draft")
        draft.write_text(str(seconds))
        draft.replace(self.file)


def in_python(wall: Shift) -> list[str]:
    """Return what to put before a command in Python, so that its wall clock is shifted."""
    return [sys.executable, "-c", PROGRAM, str(wall.file)]


def in_anything(wall: Shift, boot: Shift, folder: Path) -> list[str]:
    """Return what to put before any command, so that its clocks are shifted; needs a C compiler."""
    source, library = folder / "clocks.c", folder / "clocks.so"
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    shifts = [f"WALL_SHIFT={wall.file}", f"BOOT_SHIFT={boot.file}"]
    return ["env", f"LD_PRELOAD={library}", *shifts]
