// The search: bodies and waits whose names contain a text; the next span of them.

import { bisectRight } from "d3-array";

import type { Data } from "./data";
import type { SpanId, Window } from "./window";

/** What a text found. */
export interface Found {
  codes: Set<number>;
  waits: Set<number>;
}

/** Bodies and waits with a text in their names; null: nothing is asked for. */
export function find(data: Data, text: string): Found | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const holds = (name: string) => name !== "" && name.toLowerCase().includes(wanted);
  const codes = data.timeline.codes.flatMap(({ label }, at) => (holds(label) ? [at] : []));
  const waits = data.timeline.waits.flatMap((name, at) => (holds(name) ? [at] : []));
  return { codes: new Set(codes), waits: new Set(waits) };
}

function matches(data: Data, { track, span }: SpanId, found: Found): boolean {
  const spans = data.tracks[track];
  if (!spans) return false;
  const wait = spans.wait[span] ?? 0;
  if (wait > 0 && found.waits.has(wait)) return true;
  return spans.state[span] === 0 && found.codes.has(spans.code[span] ?? 0);
}

/** Spans that were found, of those that are kept. */
export function countFound(data: Data, view: Window, found: Found): number {
  let count = 0;
  for (const [track, spans] of data.tracks.entries()) {
    if (!view.shows(data.timeline.tracks[track]?.process)) continue;
    for (let span = 0; span < spans.begin.length; span++) {
      if (matches(data, { track, span }, found)) count++;
    }
  }
  return count;
}

/** The first span that was found and begins behind a time (`step` 1), or the last before it (-1); around the end. */
export function next(data: Data, view: Window, found: Found, step: 1 | -1): SpanId | null {
  const selected = view.selected;
  const now = selected ? (data.tracks[selected.track]?.begin[selected.span] ?? 0) : step > 0 ? view.from - 1 : view.to;
  const after = (time: number, track: number) => {
    if (time !== now) return step > 0 ? time > now : time < now;
    const own = selected?.track ?? (step > 0 ? -1 : Infinity);
    return step > 0 ? track > own : track < own;
  };
  let [best, first]: [SpanId | null, SpanId | null] = [null, null];
  const begin = ({ track, span }: SpanId) => data.tracks[track]?.begin[span] ?? 0;
  const sooner = (a: SpanId, b: SpanId | null) => {
    if (!b) return true;
    const by = (begin(a) - begin(b)) * step;
    return by < 0 || (by === 0 && (a.track - b.track) * step < 0);
  };
  for (const [track, spans] of data.tracks.entries()) {
    if (!view.shows(data.timeline.tracks[track]?.process)) continue;
    const length = spans.begin.length;
    const middle = bisectRight(spans.begin, now);
    const start = Math.min(Math.max(step > 0 ? middle - 1 : middle, 0), Math.max(length - 1, 0));
    for (let at = start; at >= 0 && at < length; at += step) {
      const id = { track, span: at };
      if (!after(spans.begin[at] ?? 0, track) || !matches(data, id, found)) continue;
      if (sooner(id, best)) best = id;
      break;
    }
    for (let at = step > 0 ? 0 : length - 1; at >= 0 && at < length; at += step) {
      const id = { track, span: at };
      if (!matches(data, id, found)) continue;
      if (sooner(id, first)) first = id;
      break;
    }
  }
  return best ?? first;
}
