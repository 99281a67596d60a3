"""Data frames of any library as columns that the native side reads: numbers, days of dates, or codes of words."""
import numpy as np

MICROSECONDS_OF_DAY = 86_400e6


def days(dates):
    """Days since 1970-01-01, with fractions."""
    dates = np.asarray(dates, dtype="datetime64[us]")
    return np.where(np.isnat(dates), np.nan, dates.astype(np.int64) / MICROSECONDS_OF_DAY)


def dates(days):
    """The reverse of `days`."""
    known = np.isfinite(days)
    result = np.full(len(days), "NaT", dtype="datetime64[us]")
    result[known] = np.round(days[known] * MICROSECONDS_OF_DAY).astype(np.int64)
    return result


class Table:
    """A small data frame, for where pandas is not installed: named columns of NumPy, text as Python strings.

    >>> table = Table({"age": [61.0, 47.0], "sex": ["f", None]})
    >>> table.shape, table.columns
    ((2, 2), ['age', 'sex'])
    >>> table["age"]
    array([61., 47.])
    """

    def __init__(self, columns):
        self._columns = {str(name): np.asarray(values) for name, values in dict(columns).items()}
        lengths = {len(values) for values in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of a table have one length, got {sorted(lengths)}")
        self.shape = (lengths.pop() if lengths else 0, len(self._columns))

    @property
    def columns(self):
        return list(self._columns)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, name):
        return self._columns[name]

    def __repr__(self):
        return f"Table of {self.shape[0]} rows: {', '.join(self.columns)}"


def is_frame(X):
    """Whether X has named columns that may be of different types."""
    return isinstance(X, Table) or hasattr(X, "__arrow_c_stream__") or _is_pandas(X)


def _is_pandas(X):
    return type(X).__module__.split(".")[0] == "pandas" and hasattr(X, "columns")


def column_names(X):
    if hasattr(X, "column_names"):  # pyarrow
        return list(X.column_names)
    if hasattr(X, "columns"):
        return list(X.columns)
    import nanoarrow

    return [field.name for field in nanoarrow.Schema(X).fields]


def row_count(X):
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return len(X) if hasattr(X, "__len__") else int(X.num_rows)


def columns(X, leave_out=None):
    """[(name, numbers or None, codes or None, words, whether dates)] of all columns but one; names are text."""
    found = _pandas_columns(X) if _is_pandas(X) else _table_columns(X) if isinstance(X, Table) else _arrow_columns(X)
    return [(str(name), *parts) for name, parts in found if name != leave_out]


def values_of(X, name):
    """One column as an array: numbers, dates, or yes and no or Python strings with None where they are missing."""
    for found, numbers, codes, words, dated in columns(X):
        if found != str(name):
            continue
        if numbers is None:
            return np.array([*words, None], dtype=object)[codes]
        if _is_yes_or_no(X, name):
            missing = np.isnan(numbers)
            return np.where(missing, None, numbers == 1) if missing.any() else numbers == 1
        return dates(numbers) if dated else numbers
    raise ValueError(f"no column {name!r}; the columns are {', '.join(map(str, column_names(X)))}")


def _is_yes_or_no(X, name):
    """Whether a column that can be read as numbers holds bools, as labels should: classes False and True, not 0 and 1."""
    place = [str(each) for each in column_names(X)].index(str(name))
    if _is_pandas(X) or isinstance(X, Table):
        values = X.iloc[:, place].dropna() if _is_pandas(X) else X[name]
        if values.dtype.kind != "O":
            return values.dtype.kind == "b"
        known = [value for value in values if value is not None and value == value]
        return bool(known) and all(isinstance(value, (bool, np.bool_)) for value in known)
    import nanoarrow

    return nanoarrow.ArrayStream(X).schema.field(place).type == nanoarrow.Type.BOOL


def take(X, rows):
    """These rows of an array, a sparse matrix or a frame."""
    if _is_pandas(X):
        return X.iloc[rows]
    if isinstance(X, Table):
        return Table({name: X[name][rows] for name in X.columns})
    if hasattr(X, "take") and hasattr(X, "column_names"):
        return X.take(rows)
    if not hasattr(X, "__getitem__") or isinstance(X, (list, tuple)):
        X = np.asarray(X)
    return X[rows]


def drop(X, names):
    """The frame without these columns."""
    if not names:
        return X
    if _is_pandas(X):
        return X.drop(columns=names)
    if isinstance(X, Table):
        return Table({name: X[name] for name in X.columns if name not in names})
    return X.drop_columns(names) if hasattr(X, "drop_columns") else X.drop(names)


def line(values):
    """Labels or domains of any library as an array; missing values of pandas become None."""
    if type(values).__module__.split(".")[0] == "pandas" and values.isna().any() and values.dtype.kind not in "fM":
        values = values.astype(object).where(values.notna(), None)
    return np.array(values) if isinstance(values, (list, tuple)) else np.asarray(values)


def frame(table):
    """The columns of a table as a pandas data frame where pandas is installed, otherwise as a Table."""
    try:
        import pandas
    except ImportError:
        category = lambda codes, levels: np.array([*levels, None], dtype=object)[codes]
        return Table({name: _column(values, levels, dated, category) for name, values, levels, dated in table})
    category = pandas.Categorical.from_codes
    return pandas.DataFrame({name: _column(values, levels, dated, category) for name, values, levels, dated in table})


def _column(values, levels, dated, category):
    return category(values, levels) if levels is not None else dates(values) if dated else values


def _numbers(values):
    return np.ascontiguousarray(values, dtype=np.float64), None, [], False


def _dates(values):
    return days(values), None, [], True


def _words(codes, words):
    return None, codes, words, False


def factorise(values):
    """Codes and words of an array of text or objects; None and NaN are missing (-1)."""
    values = np.asarray(values, dtype=object)
    missing = np.array([value is None or value != value for value in values], dtype=bool)
    words, inverse = np.unique(np.array([str(value) for value in values[~missing]], dtype=object), return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = inverse
    return codes, [str(word) for word in words]


def _objects(values):
    """A column of objects: numbers if all of them are, otherwise words."""
    present = [value for value in values if value is not None and value == value]
    if all(isinstance(value, (int, float, np.number, np.bool_)) for value in present):
        return _numbers([np.nan if value is None else value for value in values])
    return _words(*factorise(values))


def _table_columns(X):
    for name in X.columns:
        values = X[name]
        yield name, _numbers(values) if values.dtype.kind in "biuf" else _dates(values) if values.dtype.kind == "M" else _objects(values)


def _pandas_columns(X):
    import pandas

    for position, name in enumerate(X.columns):
        series = X.iloc[:, position]
        dtype = series.dtype
        if isinstance(dtype, pandas.CategoricalDtype):
            yield name, _words(series.cat.codes.to_numpy(np.int32), [str(word) for word in dtype.categories])
        elif pandas.api.types.is_datetime64_any_dtype(dtype):
            yield name, _dates(pandas.to_datetime(series, utc=True).dt.tz_localize(None).to_numpy())
        elif pandas.api.types.is_numeric_dtype(dtype) and not pandas.api.types.is_complex_dtype(dtype):
            yield name, _numbers(series.to_numpy(dtype=np.float64, na_value=np.nan))
        elif pandas.api.types.is_string_dtype(dtype) or pandas.api.types.is_object_dtype(dtype):
            yield name, _objects(series.astype(object).where(series.notna(), None).to_numpy())
        else:
            raise ValueError(f"column {name!r} is of type {dtype}, neither numbers, dates nor text; convert it or leave it out")


def _arrow_columns(X):
    """Columns through the Arrow PyCapsule interface, chunk by chunk."""
    import nanoarrow

    stream = nanoarrow.ArrayStream(X)
    names = [field.name for field in stream.schema.fields]
    chunks = [[] for _ in names]
    for chunk in stream:
        for j, column in enumerate(chunk.iter_children()):
            chunks[j].append(_arrow_values(names[j], column))
    for name, parts in zip(names, chunks):
        if all(codes is None for _, codes, *_ in parts):
            numbers = _numbers(np.concatenate([numbers for numbers, *_ in parts]) if parts else [])
            yield name, (*numbers[:3], any(dated for *_, dated in parts))
        else:
            yield name, _words(*_joined(parts))


def _arrow_values(name, column):
    """The parts of one chunk of a column."""
    import nanoarrow

    kind = column.schema.type
    if kind == nanoarrow.Type.DICTIONARY:
        return _words(*_arrow_dictionary(nanoarrow.c_array(column)))
    if kind in (nanoarrow.Type.STRING, nanoarrow.Type.LARGE_STRING, nanoarrow.Type.STRING_VIEW):
        return _words(*factorise(column.to_pylist()))
    if kind in (nanoarrow.Type.DATE32, nanoarrow.Type.DATE64, nanoarrow.Type.TIMESTAMP):
        return _dates([None if value is None else _without_zone(value) for value in column.to_pylist()])
    values = np.asarray(column.to_pysequence(handle_nulls=nanoarrow.nulls_as_sentinel()))
    if values.dtype.kind not in "biuf":
        raise ValueError(f"column {name!r} is of type {kind.name.lower()}, neither numbers, dates nor text; convert it or leave it out")
    return _numbers(values)


def _without_zone(value):
    """A date, or a time in UTC that does not say so."""
    zone = getattr(value, "tzinfo", None)
    return value if zone is None else (value - value.utcoffset()).replace(tzinfo=None)


def _arrow_dictionary(array):
    """Codes and words of a column of categories, without looking at each row's word."""
    import nanoarrow

    view = array.view()
    rows = slice(view.offset, view.offset + view.length)
    codes = np.array(np.asarray(view.buffer(1))[rows], dtype=np.int32)
    if view.null_count:
        valid = np.unpackbits(np.asarray(view.buffer(0)).view(np.uint8), bitorder="little")[rows]
        codes[valid == 0] = -1
    words = nanoarrow.Array(array.dictionary).to_pylist()
    missing = [code for code, word in enumerate(words) if word is None]
    codes[np.isin(codes, missing)] = -1
    return codes, [str(word) for word in words]


def _joined(parts):
    """Codes of chunks that have words of their own, in the words of all."""
    place = {}
    codes = []
    for numbers, own, words, _ in parts:
        if own is None:
            own, words = factorise(numbers)
        to_all = np.array([place.setdefault(word, len(place)) for word in words] + [-1], dtype=np.int32)
        codes.append(to_all[own])
    return np.concatenate(codes), list(place)
