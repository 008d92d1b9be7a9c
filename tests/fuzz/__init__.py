"""Fuzzing: anything that a peer, a file or a caller may come up with, for as long as one likes.

`python -m fuzz`, run in the directory of the tests, tries every target with two engines. What it
finds is kept in `seeds`, and `test_fuzz` tries all seeds again in every run of the tests.
"""
