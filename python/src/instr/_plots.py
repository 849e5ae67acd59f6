"""Figures by matplotlib. Each returns the axes, which the caller may give."""

# Colours that people with any sight tell apart (Okabe and Ito).
_STATES = {"useful": "#0072b2", "synchronization": "#d55e00", "scheduling": "#f0e442", "flush": "#cc79a7", "idle": "#e5e5e5"}


def _axes(axes):
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("figures need the package matplotlib: pip install matplotlib") from None
    return pyplot.subplots()[1]


def timeline(trace, axes):
    axes = _axes(axes)
    names = {(row["process"], row["thread"]): row["name"] for row in trace.table("threads").to_pylist()}
    lanes = {key: place for place, key in enumerate(sorted(names))}
    states = trace.table("states").to_arrow()
    columns = [states.column(name).to_pylist() for name in ("process", "thread", "state", "begin_ns", "duration_ns")]
    bars = {}
    for process, thread, state, begin, length in zip(*columns):
        bars.setdefault((state, lanes[process, thread]), []).append((begin / 1e9, length / 1e9))
    named = set()
    for (state, lane), pieces in bars.items():
        label = None if state in named else state
        named.add(state)
        axes.broken_barh(pieces, (lane - 0.4, 0.8), facecolors=_STATES.get(state, "#999999"), label=label)
    axes.set_yticks(list(lanes.values()), [names[key] for key in lanes])
    axes.invert_yaxis()
    axes.set_xlabel("time, s")
    if named:
        axes.legend(loc="upper right")
    return axes


def functions(trace, axes, top):
    axes = _axes(axes)
    sums = {}
    for row in trace.functions().to_pylist():
        sums[row["name"]] = sums.get(row["name"], 0) + row["own_ns"]
    most = sorted(sums.items(), key=lambda item: -item[1])[:top]
    axes.barh([name for name, _ in most], [own / 1e9 for _, own in most], color=_STATES["useful"])
    axes.invert_yaxis()
    axes.set_xlabel("own time, s")
    return axes


def curves(rows, of, ideal, axes):
    """A quantity over threads, a curve for each series."""
    axes = _axes(axes)
    series = {}
    for row in rows:
        if row[of] is not None:
            name = " / ".join(part for part in (row["region"], row["series"]) if part) or "program"
            series.setdefault(name, []).append((row["threads"], row[of]))
    for name, points in series.items():
        points.sort()
        axes.plot(*zip(*points), marker="o", label=name)
    threads = sorted({row["threads"] for row in rows})
    if threads:
        axes.plot(threads, [ideal(number, threads[0]) for number in threads], color="#999999", linestyle="--", label="ideal")
        axes.legend()
    axes.set_xlabel("threads")
    axes.set_ylabel(of)
    return axes
