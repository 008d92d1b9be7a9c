"""Findings of a check for people, for programs, and for tools that read SARIF."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from .._version import __version__
from .checking import RULES
from .rule import PAGES, Finding, Severity

SEVERITIES: Final[tuple[Severity, ...]] = ("note", "warning", "error")
"""From the least to the worst."""

RULES_BY_ID: Final = tuple({rule.id: rule for rule in RULES}.values())
"""The table of rules, each once."""

_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def finding_lines(findings: Iterable[Finding], name: str) -> list[str]:
    """Write findings as text, one a line, as compilers do."""
    return [
        f"{name}:{one.line}: {one.severity}: {one.rule}: {one.path} {one.message} [{one.section}]"
        for one in findings
    ]


def findings_document(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return findings as JSON."""
    found = [attrs.asdict(one) for one in findings]
    return {"findings": found, "counts": _counts(found)}


def _counts(found: list[dict[str, Any]]) -> dict[str, int]:
    return {severity: sum(one["severity"] == severity for one in found) for severity in SEVERITIES}


def sarif_document(findings: Sequence[Finding], name: str) -> dict[str, Any]:
    """Return findings as a SARIF 2.1.0 log, with the table of rules."""
    driver = {
        "name": "acp-client check",
        "version": __version__,
        "informationUri": PAGES,
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": f"{rule.title}. See {rule.section}."},
                "defaultConfiguration": {"level": rule.severity},
            }
            for rule in RULES_BY_ID
        ],
    }
    places = [rule.id for rule in RULES_BY_ID]
    results = [_result(one, places.index(one.rule), name) for one in findings]
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, index: int, name: str) -> dict[str, Any]:
    region = {"startLine": max(finding.line, 1)}
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{finding.path} {finding.message} ({finding.section})"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _uri(name)}, "region": region},
                "logicalLocations": [{"fullyQualifiedName": finding.path}],
            }
        ],
    }


def _uri(name: str) -> str:
    from urllib.parse import quote  # only this form of output needs it

    return quote(name)
