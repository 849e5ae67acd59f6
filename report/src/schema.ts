// What a report carries. Generated from instr/src/report by its test `schema`; do not edit.

/**
 * How the values of a column are stored.
 */
export type Kind = "u8" | "u16" | "u32" | "f64" | "varint";

/**
 * Where a column is.
 */
export type StoredColumn = { name: string, kind: Kind,
/**
 * First byte.
 */
at: number,
/**
 * Bytes.
 */
bytes: number, };

/**
 * Where a table is.
 */
export type Stored = {
/**
 * Which table it is.
 */
table: string, rows: number, columns: Array<StoredColumn>, };

/**
 * A process.
 */
export type Process = { program: string,
/**
 * 0: the trace does not have it.
 */
pid: number, };

/**
 * A thread.
 */
export type Track = {
/**
 * A number of `processes`.
 */
process: number, name: string,
/**
 * Spans of the table of spans.
 */
spans: number,
/**
 * First and last event.
 */
begin_ns: number, end_ns: number, };

/**
 * A body.
 */
export type CodeLabel = {
/**
 * A number of `processes`.
 */
process: number, label: string,
/**
 * Whether it is an explicit task's; else it is a region's.
 */
task: boolean, };

/**
 * A level of the time line.
 */
export type Level = {
/**
 * Time of a bin.
 */
width_ns: number,
/**
 * Bins of a track.
 */
bins: number,
/**
 * What the numbers of the table are multiples of.
 */
unit_ns: number, table: Stored, };

/**
 * The spans that are kept.
 */
export type Spans = {
/**
 * Spans of at least this length are all there; 0: all are.
 */
exact_from_ns: number, table: Stored, };

/**
 * Values over time.
 */
export type Lane = {
/**
 * A number of `processes`.
 */
process: number, name: string, unit: string,
/**
 * Whether a value holds until the next one.
 */
step: boolean,
/**
 * Time of an interval.
 */
width_ns: number,
/**
 * The smallest and the largest value of all.
 */
least: number, most: number, table: Stored, };

/**
 * The time line of all processes. Times are ns since the session's begin.
 */
export type Timeline = {
/**
 * The end of the last process.
 */
end_ns: number,
/**
 * The begin, ns since 1970; 0: the traces do not have it.
 */
realtime_ns: number, processes: Array<Process>,
/**
 * The threads of all processes.
 */
tracks: Array<Track>,
/**
 * Names of states.
 */
states: Array<string>,
/**
 * Names of what threads wait for.
 */
waits: Array<string>,
/**
 * Bodies of regions and tasks; the first one is none.
 */
codes: Array<CodeLabel>,
/**
 * The finest first.
 */
levels: Array<Level>, spans: Spans, lanes: Array<Lane>,
/**
 * Lanes that are not here because there are too many.
 */
lanes_left_out: number, };

/** A level of the time line: the bins of the first track, then those of the second, and so on. */
export type BinsColumns = {
  /** User code, in units of the level. */
  useful: Uint32Array;
  /** Synchronization, in units of the level. */
  sync: Uint32Array;
  /** Scheduling, in units of the level. */
  sched: Uint32Array;
  /** Idle, in units of the level. */
  idle: Uint32Array;
  /** Flush, in units of the level. */
  flush: Uint32Array;
  /** The code that ran for most of the bin: a number of `codes`; 0: none. */
  code: Uint16Array;
};

/** Times in which a thread was in one state and in one body: those of the first track in order, then those of the second, and so on. */
export type SpansColumns = {
  /** From the end of the span before on the same track, or from 0, to the begin, ns. */
  gap: Float64Array;
  /** From the begin to the end, ns. */
  length: Float64Array;
  /** A number of `states`. */
  state: Uint8Array;
  /** A number of `waits`; 0: none. */
  wait: Uint8Array;
  /** A number of `codes`; 0: none. */
  code: Uint16Array;
};

/** The values of one lane in intervals of equal length. */
export type LaneColumns = {
  /** The smallest value; NaN: none is known yet. */
  least: Float64Array;
  /** The largest value; NaN: none is known yet. */
  most: Float64Array;
};

/** Tables by name. */
export type Tables = {
  bins: BinsColumns;
  spans: SpansColumns;
  lane: LaneColumns;
};
