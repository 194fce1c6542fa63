"""`python -m colme` is the command line."""

from colme.cli import run

run()
