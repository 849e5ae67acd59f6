// The task graph of one region: rows of tasks, what they depend on, and which of them runs where.

import { bisectRight } from "d3-array";

import type { CellsColumns, EdgesColumns, TaskGraph, TasksColumns } from "./schema";

/** Columns that are one too high, with 0 for what is unknown. */
type Known = "track" | "creator" | "parent" | "created" | "ready" | "begin" | "end" | "complete" | "level" | "slack";

const CRITICAL = 1;
const UNDEFERRED = 2;
const CANCELLED = 4;

/** First places in `list` of the edges of each row. */
interface Index {
  first: Uint32Array;
  list: Uint32Array;
}

/** Numbers of `values` by `keys`: those of each row one behind the other, in their order. */
function index(rows: number, keys: Uint32Array, values: Uint32Array): Index {
  const first = new Uint32Array(rows + 1);
  for (const key of keys) first[key + 1] = (first[key + 1] ?? 0) + 1;
  for (let row = 0; row < rows; row++) first[row + 1] = (first[row + 1] ?? 0) + (first[row] ?? 0);
  const next = first.slice();
  const list = new Uint32Array(keys.length);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? 0;
    list[next[key] ?? 0] = values[at] ?? 0;
    next[key] = (next[key] ?? 0) + 1;
  }
  return { first, list };
}

/** One region's graph. */
export class Graph {
  private readonly before: Index | null;
  private readonly after: Index | null;
  private tracks: Map<number, { rows: number[]; begins: number[] }> | null = null;

  constructor(
    readonly number: number,
    readonly of: TaskGraph,
    readonly cells: CellsColumns,
    readonly tasks: TasksColumns | null,
    edges: EdgesColumns | null,
  ) {
    this.before = edges && index(this.rows, edges.to, edges.from);
    this.after = edges && index(this.rows, edges.from, edges.to);
  }

  /** Tasks that are kept. */
  get rows(): number {
    return this.of.tasks?.rows ?? 0;
  }

  /** Dependences between them. */
  get edges(): number {
    return this.of.edges?.rows ?? 0;
  }

  /** What a row has in a column; null: the trace does not have it. */
  known(column: Known, row: number): number | null {
    const value = this.tasks?.[column][row] ?? 0;
    return value > 0 ? value - 1 : null;
  }

  /** `THREAD.SEQ`, as `instr graph` has it. */
  name(row: number): string {
    return `${this.tasks?.thread[row] ?? 0}.${this.tasks?.seq[row] ?? 0}`;
  }

  code(row: number): number {
    return this.tasks?.code[row] ?? 0;
  }

  critical(row: number): boolean {
    return ((this.tasks?.flags[row] ?? 0) & CRITICAL) !== 0;
  }

  undeferred(row: number): boolean {
    return ((this.tasks?.flags[row] ?? 0) & UNDEFERRED) !== 0;
  }

  cancelled(row: number): boolean {
    return ((this.tasks?.flags[row] ?? 0) & CANCELLED) !== 0;
  }

  /** Rows that a row depends on. */
  predecessors(row: number): number[] {
    return this.list(this.before, row);
  }

  /** Rows that depend on a row. */
  successors(row: number): number[] {
    return this.list(this.after, row);
  }

  private list(of: Index | null, row: number): number[] {
    return of ? Array.from(of.list.subarray(of.first[row] ?? 0, of.first[row + 1] ?? 0)) : [];
  }

  /** The tasks of the critical path, by their begin. */
  path(): number[] {
    const rows = Array.from({ length: this.rows }, (_, row) => row).filter((row) => this.critical(row));
    return rows.sort((a, b) => (this.known("begin", a) ?? 0) - (this.known("begin", b) ?? 0) || a - b);
  }

  /** Rows of a function in a band of levels; of all functions where `code` is null. */
  members(code: number | null, band: number): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.rows; row++) {
      const level = this.known("level", row);
      const own = this.tasks?.kind[row] !== 2 && (code === null || this.code(row) === code);
      if (own && level !== null && Math.floor(level / this.of.band_levels) === band) rows.push(row);
    }
    return rows;
  }

  /** The task that ran on a track at a time: of tasks inside of each other the innermost. */
  at(track: number, time: number): number | null {
    this.tracks ??= this.byTrack();
    const of = this.tracks.get(track);
    if (!of) return null;
    for (let at = bisectRight(of.begins, time) - 1; at >= 0; at--) {
      const row = of.rows[at] ?? 0;
      if ((this.known("end", row) ?? 0) > time) return row;
    }
    return null;
  }

  private byTrack(): Map<number, { rows: number[]; begins: number[] }> {
    const tracks = new Map<number, { rows: number[]; begins: number[] }>();
    const rows = Array.from({ length: this.rows }, (_, row) => row).filter((row) => this.tasks?.kind[row] !== 2 && this.known("begin", row) !== null);
    rows.sort((a, b) => (this.known("begin", a) ?? 0) - (this.known("begin", b) ?? 0) || a - b);
    for (const row of rows) {
      const track = this.known("track", row);
      if (track === null) continue;
      const of = tracks.get(track) ?? { rows: [], begins: [] };
      of.rows.push(row);
      of.begins.push(this.known("begin", row) ?? 0);
      tracks.set(track, of);
    }
    return tracks;
  }
}
