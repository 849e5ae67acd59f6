// What a track did in each column of pixels: from spans where they are exact, else from the bins of a level that is fine enough.

import { bisectRight } from "d3-array";

import type { Source } from "./data";

/** States of a thread. */
export const STATES = 5;

/** Shares of each column of pixels: of column x those of states begin at x · STATES; they add up to 1 at most. */
export interface Shares {
  states: Float32Array;
  /** The code with most time in the column; 0: none. */
  codes: Uint16Array;
  /** The code's time in the column, ns. */
  longest: Float32Array;
}

/** Room for so many columns. */
export function shares(width: number): Shares {
  return {
    states: new Float32Array(width * STATES),
    codes: new Uint16Array(width),
    longest: new Float32Array(width),
  };
}

/** Spans of a track that are looked at one by one. More are taken from bins. */
const MOST = 60_000;

/** Adds a time in the state `state`, or of the code, to the columns it lies in. */
function add(into: Shares, from: number, to: number, perPixel: number, state: number, code: number, part: number): void {
  const width = into.codes.length;
  const first = Math.max(0, Math.floor(from));
  const last = Math.min(width - 1, Math.ceil(to) - 1);
  for (let x = first; x <= last; x++) {
    const covered = (Math.min(to, x + 1) - Math.max(from, x)) * part;
    if (covered <= 0) continue;
    if (state >= 0) {
      const at = x * STATES + state;
      into.states[at] = (into.states[at] ?? 0) + covered;
    }
    const ns = covered * perPixel;
    if (code > 0 && ns > (into.longest[x] ?? 0)) {
      into.longest[x] = ns;
      into.codes[x] = code;
    }
  }
}

/** The coarsest level whose bins are no wider than a column; the finest if there is none. */
function levelFor({ levels }: Source, perPixel: number): number {
  for (let at = levels.length - 1; at > 0; at--) {
    if ((levels[at]?.width_ns ?? 0) <= perPixel) return at;
  }
  return 0;
}

/** First span that ends behind `from`, and the one behind the last that begins before `to`. */
export function spansIn(source: Source, track: number, from: number, to: number): [number, number] {
  const spans = source.tracks[track];
  if (!spans) return [0, 0];
  return [bisectRight(spans.end, from), bisectRight(spans.begin, to)];
}

function fromBins(source: Source, track: number, from: number, perPixel: number, into: Shares): void {
  const number = levelFor(source, perPixel);
  const level = source.levels[number];
  const columns = source.columns[number];
  if (!level || !columns) return;
  const states = [columns.useful, columns.sync, columns.sched, columns.idle, columns.flush];
  const to = from + perPixel * into.codes.length;
  const first = Math.max(0, Math.floor(from / level.width_ns));
  const last = Math.min(level.bins - 1, Math.ceil(to / level.width_ns) - 1);
  for (let bin = first; bin <= last; bin++) {
    const row = track * level.bins + bin;
    const begin = (bin * level.width_ns - from) / perPixel;
    const end = begin + level.width_ns / perPixel;
    for (let state = 0; state < STATES; state++) {
      const ns = (states[state]?.[row] ?? 0) * level.unit_ns;
      if (ns > 0) add(into, begin, end, perPixel, state, 0, ns / level.width_ns);
    }
    add(into, begin, end, perPixel, -1, columns.code[row] ?? 0, 1);
  }
}

function fromSpans(source: Source, track: number, from: number, perPixel: number, into: Shares, bounds: [number, number]): void {
  const spans = source.tracks[track];
  if (!spans) return;
  for (let at = bounds[0]; at < bounds[1]; at++) {
    const begin = ((spans.begin[at] ?? 0) - from) / perPixel;
    const end = ((spans.end[at] ?? 0) - from) / perPixel;
    add(into, begin, end, perPixel, spans.state[at] ?? 0, spans.code[at] ?? 0, 1);
  }
}

/** Spans over bins: a column has its spans, and of what they leave the shares of the bins. */
function over(bins: Shares, spans: Shares): void {
  for (let x = 0; x < bins.codes.length; x++) {
    let covered = 0;
    for (let state = 0; state < STATES; state++) covered += spans.states[x * STATES + state] ?? 0;
    const rest = Math.max(0, 1 - covered);
    for (let state = 0; state < STATES; state++) {
      const at = x * STATES + state;
      bins.states[at] = (spans.states[at] ?? 0) + rest * (bins.states[at] ?? 0);
    }
    if (covered > 0.5) bins.codes[x] = spans.codes[x] ?? 0;
  }
}

/** What a track did in `width` columns from the time `from` on, each `perPixel` ns. */
export function compute(source: Source, track: number, from: number, perPixel: number, width: number): Shares {
  const found = shares(width);
  const bounds = spansIn(source, track, from, from + perPixel * width);
  const whole = source.exact_from_ns === 0;
  const few = bounds[1] - bounds[0] <= MOST;
  if (whole && few) {
    fromSpans(source, track, from, perPixel, found, bounds);
    return found;
  }
  fromBins(source, track, from, perPixel, found);
  const finest = source.levels[0]?.width_ns ?? 0;
  if (!whole && few && perPixel < finest) {
    const exact = shares(width);
    fromSpans(source, track, from, perPixel, exact, bounds);
    over(found, exact);
  }
  return found;
}

/** What the threads of `owner` did while a processor ran them: states and bodies of the slices of a row. Null where they are too many, or not all there. */
export function through(slices: Source, row: number, threads: Source, owner: (code: number) => number | null, from: number, perPixel: number, width: number): Shares | null {
  const bounds = spansIn(slices, row, from, from + perPixel * width);
  const rows = slices.tracks[row];
  if (!rows || slices.exact_from_ns > 0 || threads.exact_from_ns > 0 || bounds[1] - bounds[0] > MOST) return null;
  const found = shares(width);
  let looked = 0;
  for (let at = bounds[0]; at < bounds[1]; at++) {
    const [begin, end] = [rows.begin[at] ?? 0, rows.end[at] ?? 0];
    const track = owner(rows.code[at] ?? 0);
    if (track === null) {
      // A thread without a trace: nobody knows its state.
      add(found, (begin - from) / perPixel, (end - from) / perPixel, perPixel, 3, 0, 1);
      continue;
    }
    const of = threads.tracks[track];
    const [first, last] = spansIn(threads, track, Math.max(begin, from), Math.min(end, from + perPixel * width));
    looked += last - first;
    if (!of || looked > MOST) return null;
    for (let span = first; span < last; span++) {
      const left = (Math.max(begin, of.begin[span] ?? 0) - from) / perPixel;
      const right = (Math.min(end, of.end[span] ?? 0) - from) / perPixel;
      add(found, left, right, perPixel, of.state[span] ?? 0, of.code[span] ?? 0, 1);
    }
  }
  return found;
}

/** Time of a track in each state in [from, to), ns, and whether that is exact. */
export function measure(source: Source, track: number, from: number, to: number): { states: number[]; exact: boolean } {
  const states = new Array<number>(STATES).fill(0);
  const bounds = spansIn(source, track, from, to);
  if (source.exact_from_ns === 0) {
    const spans = source.tracks[track];
    for (let at = bounds[0]; spans && at < bounds[1]; at++) {
      const ns = Math.min(to, spans.end[at] ?? 0) - Math.max(from, spans.begin[at] ?? 0);
      const state = spans.state[at] ?? 0;
      states[state] = (states[state] ?? 0) + Math.max(0, ns);
    }
    return { states, exact: true };
  }
  const level = source.levels[0];
  const columns = source.columns[0];
  if (!level || !columns) return { states, exact: false };
  const all = [columns.useful, columns.sync, columns.sched, columns.idle, columns.flush];
  const first = Math.max(0, Math.floor(from / level.width_ns));
  const last = Math.min(level.bins - 1, Math.ceil(to / level.width_ns) - 1);
  let exact = level.unit_ns === 1;
  for (let bin = first; bin <= last; bin++) {
    const begin = bin * level.width_ns;
    const covered = Math.min(to, begin + level.width_ns) - Math.max(from, begin);
    const part = covered / level.width_ns;
    const reaches = begin + level.width_ns > source.end_ns && to >= source.end_ns;
    if (part < 1 && !reaches) exact = false;
    const whole = reaches && from <= begin ? 1 : part;
    for (let state = 0; state < STATES; state++) {
      states[state] = (states[state] ?? 0) + (all[state]?.[track * level.bins + bin] ?? 0) * level.unit_ns * whole;
    }
  }
  return { states, exact };
}
