"""Rows as users have them: numbers, sequences, mappings, arrays and data frames."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Kinds of numpy's types that are numbers: booleans, integers with and without sign, floats.
_NUMERIC = "biuf"
#: Most channels and most frequencies of a map: ``dynamic::MOST`` of the core.
MOST = 65_536


class MissingDependencyError(ImportError):
    """A package that this call needs is not installed."""


def whole(name: str, value: object, least: int, most: int) -> int:
    """An integer parameter within a range, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}: must be an integer, not {type(value).__name__}")
    if not least <= int(value) <= most:
        raise ValueError(f"{name}: must be from {least} to {most}, not {int(value)}")
    return int(value)


def real(name: str, value: object) -> float:
    """A number, or an error that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, (Real, np.floating, np.integer)):
        raise TypeError(f"{name}: must be a number, not {type(value).__name__}")
    return float(value)


def text(name: str, value: object) -> str:
    """A string, or an error that names the parameter."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: must be a string, not {type(value).__name__}")
    return value


def named(channels: object) -> tuple[list[str] | None, int | None]:
    """Names and number of the channels: of a number, or of a sequence of names."""
    if channels is None:
        return None, None
    if isinstance(channels, Integral) and not isinstance(channels, bool):
        return None, whole("channels", channels, 1, MOST)
    if isinstance(channels, str) or not hasattr(channels, "__iter__"):
        kind = type(channels).__name__
        raise TypeError(f"channels: must be a number or a sequence of names, not {kind}")
    names = [text("channels", name) for name in channels]
    if not names or len(set(names)) != len(names):
        raise ValueError("channels: names must be at least one, and differ")
    return names, len(names)


def reading(name: str, value: object) -> float:
    """One reading; ``None`` is a missing one."""
    if value is None or value is np.ma.masked:
        return float("nan")
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}: a reading must be a number, not {type(value).__name__}")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        # A missing value of pandas is neither a number nor equal to itself.
        if type(value).__name__ == "NAType":
            return float("nan")
        kind = type(value).__name__
        raise TypeError(f"{name}: a reading must be a number, not {kind}") from None


def row_of(x: object, names: list[str] | None) -> tuple[list[float], list[str] | None]:
    """One row, and the names that it brings."""
    if hasattr(x, "columns"):
        raise TypeError(f"x: one row, not a {type(x).__name__}; predict takes several")
    # A row of a data frame: its labels are the names of the columns.
    labels = getattr(x, "index", None)
    if not isinstance(x, Mapping) and hasattr(x, "items") and labels is not None:
        pairs = dict(x.items())
        if pairs and all(isinstance(key, str) for key in pairs):
            x = pairs
    if isinstance(x, Mapping):
        own = [str(key) for key in x]
        if names is None:
            names = own
        unknown = [key for key in own if key not in names]
        if unknown:
            raise ValueError(f"x: no channel {unknown[0]!r}; there are {', '.join(names)}")
        values = {str(key): value for key, value in x.items()}
        # As in river, a feature that is not there is missing.
        return [reading("x", values.get(name)) for name in names], names
    if x is None or isinstance(x, (str, bytes)):
        raise TypeError(f"x: must be a number, a row or a mapping, not {type(x).__name__}")
    array = x if isinstance(x, np.ndarray) else None
    if array is not None and array.ndim > 1:
        raise ValueError(f"x: one row has one dimension, not {array.ndim}; predict takes several")
    if hasattr(x, "__iter__") and not (array is not None and array.ndim == 0):
        return [reading("x", value) for value in x], None
    return [reading("x", x)], None


def is_flat(data: object, length: int) -> bool:
    """Whether this is a sequence of so many numbers, and no table."""
    if isinstance(data, Mapping) or hasattr(data, "columns") or not hasattr(data, "__len__"):
        return False
    try:
        return len(data) == length and np.ndim(data) == 1  # type: ignore[arg-type]
    except ValueError:
        return False


def _column(where: str, column: Any) -> NDArray[Any]:
    """A column of a data frame as numbers, NaN where it has none."""
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    if kind in ("M", "m", "U", "S") or (
        kind == "O" and any(isinstance(value, (str, bytes)) for value in column)
    ):
        raise TypeError(f"{where}: {column.dtype} is not a type of numbers")
    try:
        values = np.asarray(column.to_numpy(dtype="float64", na_value=np.nan))
    except (TypeError, ValueError):
        # Without these arguments (polars), or not numbers (pandas).
        values = np.asarray(column.to_numpy())
    if values.dtype.kind not in _NUMERIC:
        raise TypeError(f"{where}: {values.dtype} is not a type of numbers")
    return values


def table(name: str, data: object) -> tuple[NDArray[np.float64], list[str] | None]:
    """Rows in float64, and the names of their columns if they have some."""
    columns = getattr(data, "columns", None)
    if columns is not None and hasattr(data, "__getitem__"):
        names = [str(column) for column in columns]
        if len(set(names)) != len(names) or not names:
            raise ValueError(f"{name}: columns must be at least one, and their names differ")
        parts = [_column(f"{name}, column {str(key)!r}", data[key]) for key in columns]
        return np.column_stack([part.astype(np.float64) for part in parts]), names
    if hasattr(data, "to_numpy") and not isinstance(data, np.ndarray):
        series = _column(name, data).astype(np.float64)
        own = getattr(data, "name", None)
        return series.reshape(-1, 1), [str(own)] if own not in (None, "") else None
    try:
        if isinstance(data, np.ma.MaskedArray):
            data = np.ma.filled(data.astype(np.float64), np.nan)
        array = np.asarray(data)
        if array.dtype.kind == "O":
            array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: must be rows of numbers, all of one length") from None
    if array.dtype.kind not in _NUMERIC:
        raise TypeError(f"{name}: {array.dtype} is not a type of numbers")
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"{name}: must have one or two dimensions, not {array.ndim}")
    if array.shape[1] == 0:
        raise ValueError(f"{name}: has no columns")
    return np.asarray(array, dtype=np.float64), None


def in_order(
    name: str, rows: NDArray[np.float64], own: list[str] | None, names: list[str] | None
) -> NDArray[np.float64]:
    """Columns in the order of the channels, where both have names."""
    if own is None or names is None or own == names:
        return rows
    if sorted(own) != sorted(names):
        raise ValueError(f"{name}: columns {', '.join(own)}; the channels are {', '.join(names)}")
    return rows[:, [own.index(channel) for channel in names]]


def single(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rows in the detector's precision, one after the other in memory."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(rows, dtype=np.float32)


def pyplot() -> Any:
    """Matplotlib, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        why = "plot needs matplotlib, which is not installed: pip install 'fastmmd[plot]'"
        raise MissingDependencyError(why) from error
    return plt
