"""`Value`, the base of the frozen attrs classes that a store gives to its users."""

from __future__ import annotations

from typing import Any

import attrs


class Value:
    """What these classes have in common: one `repr`, and weak references.

    To generate a `repr` for each of them would be a fortieth of the import (benchmark "import").
    """

    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        kind: Any = type(self)
        fields = (f"{item.name}={getattr(self, item.name)!r}" for item in attrs.fields(kind))
        return f"{kind.__name__}({', '.join(fields)})"
