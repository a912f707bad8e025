"""Sequences of records that are data frames, too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

T = TypeVar("T")


class Framed(Sequence[T]):
    """A sequence of records with flat rows, which become a data frame.

    Attributes
    ----------
    columns
        Type of each column; an empty frame has them too.
    """

    columns: ClassVar[Mapping[str, type]]
    _records: tuple[T, ...]

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the data frames, each a mapping with the names of the columns."""

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame of `rows()`."""
        import polars as pl

        return pl.DataFrame(self.rows(), schema=dict(self.columns))

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame of `rows()` (needs the package pandas)."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(self.columns))

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[T]:
        return iter(self._records)
