"""Speed and memory, as ratios that anyone can measure again: `python -m benchmarks`.

Nothing here is part of the package. Each benchmark compares a subject with a baseline in one
process, run by run in turn, because a ratio of neighbouring runs survives a noisy machine and a
number of nanoseconds does not.
"""
