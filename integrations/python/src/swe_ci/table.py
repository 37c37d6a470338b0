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
    """The rows of an answer, each a dictionary, and in `document` the whole answer.

    `columns` are those that the answer can have, whatever its rows have.
    """

    def __init__(self, rows: Iterable[RowT], document: DocumentT, columns: Iterable[str]) -> None:
        self._rows = list(rows)
        self.document = document
        self._flat_rows = [_flat(row) for row in self._rows]
        self._columns = _columns(self._flat_rows, columns)

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
        """The columns of the rows, in the order of their first appearance, and then those
        that no row has a value for."""
        return list(self._columns)

    def flat(self) -> list[dict[str, Any]]:
        """The rows without objects inside: `intervals.evoscore.low` is a column. Each row has
        all columns."""
        return [{name: row.get(name) for name in self._columns} for row in self._flat_rows]

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with the columns of `flat`."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtra("pandas", "pandas") from error
        # Without None, a column of missing numbers is one of numbers.
        known = [
            {name: value for name, value in row.items() if value is not None}
            for row in self._flat_rows
        ]
        return pandas.DataFrame(known, columns=self._columns)

    def to_arrow(self) -> pyarrow.Table:
        """A table of Arrow with the columns of `flat`."""
        try:
            import pyarrow
        except ImportError as error:
            raise MissingExtra("pyarrow", "hub") from error
        return pyarrow.table(
            {name: [row.get(name) for row in self._flat_rows] for name in self._columns}
        )


def _columns(rows: list[dict[str, Any]], more: Iterable[str]) -> list[str]:
    names = list(dict.fromkeys([*(name for row in rows for name in row), *more]))
    # Where an object is null, its fields are the columns.
    return [name for name in names if not any(other.startswith(f"{name}.") for other in names)]


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat
