"""Benchmarks: each runs alone, prints a table, and takes --quick and --json FILE."""
