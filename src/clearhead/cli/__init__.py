"""The command line: `clearhead VERB …`. Each verb is a short file that calls the rooms above."""

from clearhead.cli.main import main

__all__ = ["main"]
