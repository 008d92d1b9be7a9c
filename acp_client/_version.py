"""The version of the package, in one place for the build and for users."""

__version__ = "0.1.0.dev0"
