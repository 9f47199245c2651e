"""From a person's file to examples: readers for many formats, the doctor, and the hold-out."""

from clearhead.data.alignment import find_divergence
from clearhead.data.doctor import clean, examine
from clearhead.data.holdout import Shares, shares_for, side_of
from clearhead.data.pair_report import Limits, PairReport
from clearhead.data.pairs import Pair, PairFile
from clearhead.data.readers import open_pairs
from clearhead.data.report import Finding, Report

__all__ = [
    "Finding",
    "Limits",
    "Pair",
    "PairFile",
    "PairReport",
    "Report",
    "Shares",
    "clean",
    "examine",
    "find_divergence",
    "open_pairs",
    "shares_for",
    "side_of",
]
