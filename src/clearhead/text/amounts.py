"""Amounts in words that people read: times and sizes."""

__all__ = ["describe_bytes", "describe_time"]


def describe_time(seconds: float) -> str:
    """Say a time with as much detail as its size deserves.

    >>> [describe_time(n) for n in (0.4, 59.7, 90, 754, 3900, 200_000)]
    ['0.4 s', '1 min', '1 min 30 s', '13 min', '1 h 05 min', '2 d 7 h']
    """
    if 0 < seconds < 9.95:
        return f"{seconds:.1f} s"
    n = round(seconds)
    if n < 60:
        return f"{n} s"
    if n < 600:
        return f"{n // 60} min {n % 60:02} s".removesuffix(" 00 s")
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 2 * 24 * 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes // 1440} d {minutes % 1440 // 60} h"


def describe_bytes(n: float) -> str:
    """Say a size with three digits or so.

    >>> [describe_bytes(n) for n in (0, 999, 10_400_000, 2.5e9)]
    ['0 bytes', '999 bytes', '10.4 MB', '2.5 GB']
    """
    if n < 1000:
        return f"{n:.0f} bytes"
    for unit, size in (("kB", 1e3), ("MB", 1e6)):
        if n < 1000 * size:
            return f"{n / size:.1f} {unit}"
    return f"{n / 1e9:.1f} GB"
