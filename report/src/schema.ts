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
least: number, most: number,
/**
 * When the last value ceases to hold, ns.
 */
end_ns: number, table: Stored,
/**
 * Every value; null where there are too many.
 */
points: Stored | null, };

/**
 * A thread that ran on a processor.
 */
export type Runner = { name: string,
/**
 * Name of its process.
 */
process: string, pid: number, tid: number,
/**
 * A number of `groups`.
 */
group: number,
/**
 * A number of `tracks`; null: it is in no trace.
 */
track: number | null, };

/**
 * Who ran on which processor.
 */
export type Processors = {
/**
 * Whose switches were recorded: `tree`, `system` or `sums`.
 */
recorded: string,
/**
 * Events that were lost.
 */
lost: number,
/**
 * The processors' numbers: they are the rows.
 */
numbers: Array<number>,
/**
 * Slices of each row.
 */
counts: Array<number>,
/**
 * Threads: `code` of a slice is a place here and one; 0: unknown.
 */
runners: Array<Runner>,
/**
 * Names of applications, or of programs where there is one application.
 */
groups: Array<string>,
/**
 * What a thread did behind a slice: `wait` of a slice is a place here.
 */
then: Array<string>,
/**
 * States 0: a thread of what was recorded runs; 1: one of another program.
 */
levels: Array<Level>, spans: Spans, };

/**
 * Tasks of one level.
 */
export type LevelCount = {
/**
 * How many.
 */
tasks: number,
/**
 * Their work.
 */
work_ns: number, };

/**
 * Threads in user code at one time.
 */
export type Parallelism = {
/**
 * Fewest, between the first and the last task body.
 */
min: number,
/**
 * Work by time.
 */
mean: number | null,
/**
 * Most.
 */
max: number, };

/**
 * An outermost parallel region.
 */
export type Region = {
/**
 * Encountering thread and number there.
 */
id: string | null,
/**
 * Body.
 */
function: string | null,
/**
 * Source file.
 */
file: string | null,
/**
 * Line.
 */
line: number | null,
/**
 * For people.
 */
label: string,
/**
 * P.
 */
threads: number,
/**
 * Entry, since the trace's start.
 */
begin_ns: number,
/**
 * T_P.
 */
elapsed_ns: number,
/**
 * Explicit tasks that ran.
 */
tasks: number,
/**
 * Dependences of tasks created in it.
 */
edges: number,
/**
 * T1.
 */
work_ns: number,
/**
 * In explicit tasks.
 */
task_work_ns: number,
/**
 * T∞.
 */
span_ns: number,
/**
 * Tasks on the longest path.
 */
span_hops: number,
/**
 * Heaviest chain of dependences.
 */
chain_ns: number,
/**
 * Tasks on the longest chain.
 */
chain_hops: number,
/**
 * Tasks by level.
 */
levels: Array<LevelCount>,
/**
 * Most tasks of one level.
 */
width: number,
/**
 * T1 / T∞.
 */
average_parallelism: number | null,
/**
 * max(T1/P, T∞).
 */
lower_bound_ns: number,
/**
 * T1/P + T∞.
 */
upper_bound_ns: number,
/**
 * Outside of user code while a task was ready.
 */
delay_ns: number,
/**
 * Outside of user code while none was.
 */
no_work_ns: number,
/**
 * Threads in user code.
 */
parallelism: Parallelism, };

/**
 * What a function has of a critical path.
 */
export type PathPart = {
/**
 * A number of `codes`; 0: outside of explicit tasks.
 */
code: number, tasks: number, ns: number, };

/**
 * The task graph of one execution of an outermost parallel region.
 */
export type TaskGraph = {
/**
 * A number of `processes`.
 */
process: number,
/**
 * Begin and end, ns since the session's begin.
 */
begin_ns: number, end_ns: number,
/**
 * What `instr graph --format json` says of it, but for the levels.
 */
region: Region,
/**
 * Parts of the critical path, the largest first; null where it is not known.
 */
path: Array<PathPart> | null,
/**
 * Levels of a band, and bands.
 */
band_levels: number, bands: number, cells: Stored,
/**
 * Null where there are too many for the page.
 */
tasks: Stored | null, edges: Stored | null, };

/**
 * Regions with tasks that are not in the page.
 */
export type LeftOut = { regions: number, elapsed_ns: number, };

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
realtime_ns: number,
/**
 * Those of traces; behind them, where no trace has events, those that the kernel saw.
 */
processes: Array<Process>,
/**
 * The threads of all processes.
 */
tracks: Array<Track>,
/**
 * Threads without a row: there are too many.
 */
tracks_left_out: number,
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
lanes_left_out: number,
/**
 * Series that were 0 all the time: they have no lane.
 */
series_without_values: number,
/**
 * Null where it was not recorded.
 */
processors: Processors | null,
/**
 * Why rows by processor are not here though it was recorded.
 */
processors_trouble: string | null,
/**
 * Regions with explicit tasks, the longest first.
 */
graphs: Array<TaskGraph>, graphs_left_out: LeftOut, };

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

/** Every value of one lane, in order of time. */
export type PointsColumns = {
  /** From the value before, or from 0, ns. */
  gap: Float64Array;
  /** The value. */
  value: Float64Array;
};

/** The explicit tasks of a region, in the order of their creation. Where 0 says that the trace does not have it, other numbers are one too high. */
export type TasksColumns = {
  /** The creating thread's number: the task is `thread.seq`. */
  thread: Float64Array;
  /** Number of the task there. */
  seq: Float64Array;
  /** A number of `codes`; 0: none. */
  code: Uint16Array;
  /** 0: task, 1: of a taskloop, 2: taskwait with dependences, 3: target. */
  kind: Uint8Array;
  /** 1: on the critical path, 2: undeferred, 4: cancelled; sums of these. */
  flags: Uint8Array;
  /** Track of the thread that began it; 0: none. */
  track: Float64Array;
  /** Track of the thread that created it; 0: none. */
  creator: Float64Array;
  /** Row of the task that created it; 0: none. */
  parent: Float64Array;
  /** Entry of the construct, ns; 0: unknown. */
  created: Float64Array;
  /** When its last predecessor was complete, or it was created, ns; 0: unknown. */
  ready: Float64Array;
  /** Begin of the body, ns; 0: unknown. */
  begin: Float64Array;
  /** End of the body, ns; 0: unknown. */
  end: Float64Array;
  /** When its successors might begin, ns; 0: unknown. */
  complete: Float64Array;
  /** User code, ns. */
  work: Float64Array;
  /** Tasks on the longest path that ends just before it; 0: it never began. */
  level: Float64Array;
  /** How much longer it could take without making the span longer, ns; 0: unknown. */
  slack: Float64Array;
};

/** Dependences between rows of a region's tasks, by the later one. */
export type EdgesColumns = {
  /** The earlier task. */
  from: Uint32Array;
  /** The task that waits for it. */
  to: Uint32Array;
};

/** Tasks of a region by function and band of levels. */
export type CellsColumns = {
  /** A number of `codes`. */
  code: Uint16Array;
  /** The band: levels from `band · band_levels` on. */
  band: Uint8Array;
  /** How many. */
  tasks: Float64Array;
};

/** Tables by name. */
export type Tables = {
  bins: BinsColumns;
  spans: SpansColumns;
  lane: LaneColumns;
  points: PointsColumns;
  tasks: TasksColumns;
  edges: EdgesColumns;
  cells: CellsColumns;
};
