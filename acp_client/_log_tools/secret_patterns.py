"""What a secret looks like: shapes that are known, names that say so, and what the user passes.

A pattern that has a group named `secret` covers that group alone. A secret that is given as text is
looked for in the ways in which tools write text down: as it is, escaped in JSON once or twice,
percent-encoded, and in hexadecimal. What is encoded as base64 is decoded by the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import attrs

from .._errors import InvalidValueError, checked

_NAMED = (
    "password|passwd|passphrase|secret|token|authorization|cookie|credentials?|bearer|"
    "api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|signing[-_]?key"
)
_SECRET_NAME: Final = re.compile(rf"(?:.*[-_. ])?(?:{_NAMED})", re.IGNORECASE)
_SECRET_CAMEL: Final = re.compile(
    r".*[a-z0-9](?:Token|Secret|Password|Passphrase|ApiKey|AccessKey|PrivateKey|Cookie|Credentials?)"
)


@attrs.frozen
class Pattern:
    """A pattern, and the rule under which its matches are reported."""

    rule: str
    expression: re.Pattern[str]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return where the secrets of this pattern are in a text."""
        group = "secret" if "secret" in self.expression.groupindex else 0
        for match in self.expression.finditer(text):
            start, end = match.span(group)
            if start < end:
                yield start, end


KNOWN: Final = tuple(
    Pattern(rule, re.compile(expression))
    for rule, expression in (
        ("API key", r"\bsk-[A-Za-z0-9_-]{16,}"),
        ("GitHub token", r"\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{22,}"),
        ("GitLab token", r"\bglpat-[\w-]{16,}"),
        ("AWS key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("Slack token", r"\bxox[abeoprs]-[\w-]{10,}"),
        ("Google key", r"\bAIza[\w-]{35}"),
        ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
        ("JSON web token", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+"),
        ("authorization", r"(?i:\b(?:bearer|basic))\s+(?P<secret>[\w.~+/=-]{12,})"),
        (
            "private key",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        ),
        ("password in a URL", r"://[^/\s:@]+:(?P<secret>[^/\s@]+)@"),
        (
            "assignment",
            r"\b[A-Z0-9_]*(?:API_?KEY|ACCESS_KEY|TOKEN|SECRET|PASSWORD|PASSWD)[A-Z0-9_]*="
            r"[\"']?(?P<secret>[^\s\"';&$<]{6,})",
        ),
        (
            "command line option",
            r"--?(?:[a-z]+-)*(?:api-?key|token|password|passwd|secret)[= ][\"']?"
            r"(?P<secret>[^\s\"'-][^\s\"']{5,})",
        ),
    )
)
"""Shapes of secrets that are recognised without being asked for."""

_ANY_KNOWN: Final = re.compile(
    "|".join(one.expression.pattern.replace("?P<secret>", "?:") for one in KNOWN)
)


def holds_known(text: str) -> bool:
    """Return whether a text has anything of a known shape: faster than to try each of them."""
    return _ANY_KNOWN.search(text) is not None


@lru_cache(maxsize=4096)  # the keys of a protocol come again in every message
def names_a_secret(name: str) -> bool:
    """Return whether the value under a key, an option or a variable is a secret by its name."""
    bare = name.lstrip("-")
    return bool(_SECRET_NAME.fullmatch(bare) or _SECRET_CAMEL.fullmatch(bare))


def given_patterns(
    patterns: Iterable[str | re.Pattern[str]], secrets: Iterable[str]
) -> list[Pattern]:
    """Compile what the user passes. Raises `InvalidValueError` for an invalid pattern."""
    made = [Pattern(f"pattern {place}", _compiled(one)) for place, one in enumerate(patterns, 1)]
    return [*made, *(literal(f"secret {place}", one) for place, one in enumerate(secrets, 1))]


def _compiled(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise InvalidValueError(f"not a pattern: {error}") from None


def literal(rule: str, secret: str) -> Pattern:
    """Return the pattern of a text. Raises `InvalidValueError` for an empty one."""
    if not checked(secret, str, "a secret as text").strip():
        raise InvalidValueError("a secret is text that is not blank")
    once = json.dumps(secret)[1:-1]
    plainly = json.dumps(secret, ensure_ascii=False)[1:-1]
    twice = json.dumps(once)[1:-1]
    coded = secret.encode("utf-8", "surrogatepass")
    written = {
        secret,
        once,
        plainly,
        twice,
        quote(coded, safe=""),
        coded.hex(),
        coded.hex().upper(),
    }
    longest_first = sorted(written, key=lambda text: (-len(text), text))
    return Pattern(rule, re.compile("|".join(map(re.escape, longest_first))))
