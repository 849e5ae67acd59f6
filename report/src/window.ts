// The time in view, what is selected, and who wants to know when that changes.

/** A time from `from` to `to`, ns. */
export interface Range {
  from: number;
  to: number;
}

/** A span: its track and its place there. */
export interface SpanId {
  track: number;
  span: number;
}

/** A task: its graph and its row there. */
export interface TaskRef {
  graph: number;
  row: number;
}

/** What colours are of: states of threads, their bodies, the threads themselves, or their applications. */
export type Colouring = "state" | "code" | "thread" | "application";

/** No more than this is magnified, ns in view. */
const LEAST = 20;

/** What the time line shows. */
export class Window {
  from = 0;
  to: number;
  /** A span that was clicked. */
  selected: SpanId | null = null;
  /** The task of the graph that is selected. */
  task: TaskRef | null = null;
  /** A time that is measured; on one track only where `track` is one. */
  range: (Range & { track: number | null }) | null = null;
  /** Where the pointer is: time, and track if it is on one. */
  pointer: { time: number; track: number | null; row: number | null } | null = null;

  /** User code has the colour of its region or task. */
  get byCode(): boolean {
    return this.colour === "code";
  }

  /** What the colours are of. */
  colour: Colouring = "state";
  /** Rows are processors, not threads. */
  byProcessor = false;
  /** A slice of a processor that was clicked: its row and its place there. */
  slice: SpanId | null = null;
  /** Codes that the search found; null: nothing is searched. */
  found: Set<number> | null = null;
  foundWaits: Set<number> = new Set();
  /** Processes whose rows are shown; null: all. */
  only: Set<number> | null = null;

  /** Whether rows of a process are shown. */
  shows(process: number | undefined): boolean {
    return this.only === null || (process !== undefined && this.only.has(process));
  }

  private readonly listeners: (() => void)[] = [];

  constructor(readonly end: number) {
    this.to = Math.max(end, 1);
  }

  /** Calls `listener` after each change. */
  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Says that something changed. */
  changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** Shows a time, as far as the session has it. */
  show(from: number, to: number): void {
    const whole = Math.max(this.end, 1);
    const length = Math.min(Math.max(to - from, LEAST), Math.max(whole, LEAST));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - length / 2, 0), Math.max(whole - length, 0));
    this.to = this.from + length;
    this.changed();
  }

  /** Shows a time with some room around it. */
  showAround(from: number, to: number): void {
    const room = Math.max((to - from) * 0.15, LEAST / 2);
    this.show(from - room, to + room);
  }

  /** Makes the time in view longer by a factor, around a time. */
  zoom(factor: number, around: number): void {
    const length = (this.to - this.from) * factor;
    const share = (around - this.from) / (this.to - this.from);
    const from = around - length * share;
    this.show(from, from + length);
  }

  /** Moves by a part of the time in view. */
  pan(part: number): void {
    const by = (this.to - this.from) * part;
    this.show(this.from + by, this.to + by);
  }
}
