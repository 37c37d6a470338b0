"""Rows of an answer, as a sequence that becomes a table of pandas or Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .errors import MissingExtra

if TYPE_CHECKING:
    import pandas
    import pyarrow

RowT = TypeVar("RowT", bound="Mapping[str, Any]")
DocumentT = TypeVar("DocumentT")


class Table(Sequence[RowT], Generic[RowT, DocumentT]):
    """The rows of an answer, each a dictionary, and in `document` the whole answer."""

    def __init__(self, rows: Iterable[RowT], document: DocumentT) -> None:
        self._rows = list(rows)
        self.document = document

    @overload
    def __getitem__(self, at: int) -> RowT: ...
    @overload
    def __getitem__(self, at: slice) -> list[RowT]: ...
    def __getitem__(self, at: int | slice) -> RowT | list[RowT]:
        return self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<{len(self)} rows: {', '.join(self.columns())}>"

    def columns(self) -> list[str]:
        """The columns of `flat`, in the order of their first appearance."""
        return list(dict.fromkeys(name for row in self.flat() for name in row))

    def flat(self) -> list[dict[str, Any]]:
        """The rows without objects inside: `intervals.evoscore.low` is a column."""
        return [_flat(row) for row in self._rows]

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with the columns of `flat`."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtra("pandas", "pandas") from error
        return pandas.DataFrame(self.flat(), columns=self.columns())

    def to_arrow(self) -> pyarrow.Table:
        """A table of Arrow with the columns of `flat`."""
        try:
            import pyarrow
        except ImportError as error:
            raise MissingExtra("pyarrow", "hub") from error
        flat = self.flat()
        return pyarrow.table({name: [row.get(name) for row in flat] for name in self.columns()})


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat
