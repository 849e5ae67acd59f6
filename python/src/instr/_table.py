"""Tables for pandas, polars, pyarrow and all else that takes Arrow's PyCapsule interface."""

import os


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise ImportError("tables need the package pyarrow: pip install pyarrow") from None
    return pyarrow


class Table:
    """Columns of Arrow. `pandas.DataFrame`, `polars.DataFrame`, `pyarrow.table` and DuckDB take it as it is; its memory is not copied for them."""

    def __init__(self, arrow):
        self._arrow = arrow

    def __arrow_c_stream__(self, requested_schema=None):
        return self._arrow.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self):
        return self._arrow.schema.__arrow_c_schema__()

    def __len__(self):
        return self._arrow.num_rows

    def __repr__(self):
        return f"<instr.Table of {len(self)} rows: {', '.join(self.columns)}>"

    @property
    def columns(self):
        """Names of the columns."""
        return list(self._arrow.column_names)

    def __getitem__(self, column):
        return self._arrow.column(column)

    def to_arrow(self):
        """A `pyarrow.Table`."""
        return self._arrow

    def to_pandas(self):
        """A `pandas.DataFrame` whose columns are Arrow's: nothing is copied."""
        import pandas

        return self._arrow.to_pandas(types_mapper=pandas.ArrowDtype)

    def to_polars(self):
        """A `polars.DataFrame`. Numbers are not copied; texts become categories."""
        import polars

        return polars.from_arrow(self._arrow)

    def to_pylist(self):
        """A dictionary for each row."""
        return self._arrow.to_pylist()


def of_rows(rows, columns):
    """A table of dictionaries; `columns` are there also where there is no row."""
    arrow = _pyarrow()
    return Table(arrow.table({name: [row.get(name) for row in rows] for name in columns}))


def of_csv(path):
    """A table of lines of values separated by commas; what is missing is empty there."""
    _pyarrow()
    from pyarrow import csv

    options = csv.ConvertOptions(strings_can_be_null=True)
    return Table(csv.read_csv(path, convert_options=options))


def mapped(folder, name):
    """A table that `instr export --format arrow-mapped` has written: its files are mapped into memory."""
    arrow = _pyarrow()
    parts = []
    above = os.path.join(folder, name)
    for part in sorted(os.listdir(above), key=lambda text: int(text.rpartition("=")[2])):
        process = int(part.rpartition("=")[2])
        for file in sorted(os.listdir(os.path.join(above, part))):
            with arrow.memory_map(os.path.join(above, part, file)) as source:
                rows = arrow.ipc.open_file(source).read_all()
            parts.append(rows.add_column(0, "process", _constant(arrow, process, rows)))
    return Table(arrow.concat_tables(parts))


def _constant(arrow, number, rows):
    """A column that has `number` in each of the rows: all its pieces, one for each batch, are the same memory."""
    lengths = [len(batch) for batch in rows.to_batches()]
    longest = arrow.repeat(arrow.scalar(number, arrow.int32()), max(lengths, default=0))
    return arrow.chunked_array([longest.slice(0, length) for length in lengths], arrow.int32())
