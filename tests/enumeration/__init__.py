"""Every order in which a few things can happen, instead of some orders of many things.

- `actors`: what each of the few does, as short scripts of steps;
- `conversations`: what a step does, live (the store's methods) or told (lines of a recording);
- `interleavings`: every way in which the scripts of a cast can be merged.

After each step the store is compared with the second implementation.
"""
