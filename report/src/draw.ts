// Draws rows of the time line on a canvas.

import { GAP, LABELS, shortened, ticks } from "./canvas";
import { colours as readColours, type Colours, ofCode } from "./colours";
import { compute, type Shares, shares as empty, spansIn, STATES, through } from "./columns";
import type { Data, Source } from "./data";
import { drawLane } from "./draw_lanes";
import { tick, value } from "./format";
import type { Row } from "./layout";
import type { Window } from "./window";

/** A span of this width has room for a name. */
const NAMED = 46;
/** Arrows to and from a task. */
const ARROWS = 64;
/** What the search did not find. */
const FADED = 0.18;

/** `main a.c:12` of `main [omp task a.c:12]`: what tells bodies apart comes early. */
export function short(label: string): string {
  const parts = /^(.*) \[(?:omp \S+ )?(.*)\]$/.exec(label);
  return parts ? `${parts[1]} ${parts[2]}` : label;
}

/** Everything that drawing needs. */
export class Painter {
  colours: Colours;
  private readonly cache = new Map<string, Shares>();

  constructor(
    readonly data: Data,
    readonly view: Window,
  ) {
    this.colours = readColours(data.timeline.states);
  }

  /** Reads the colours again, after the theme has changed. */
  themed(): void {
    this.colours = readColours(this.data.timeline.states);
  }

  private shares(track: number, from: number, perPixel: number, width: number): Shares {
    const key = `${track} ${from} ${perPixel} ${width}`;
    const known = this.cache.get(key);
    if (known) return known;
    if (this.cache.size > 600) this.cache.clear();
    const found = compute(this.data.threads, track, from, perPixel, width);
    this.cache.set(key, found);
    return found;
  }

  /** What a processor did: who ran, or what they did, by what the colours are of. */
  private slices(row: number, from: number, perPixel: number, width: number): Shares {
    const { data, view } = this;
    const only = view.only ? [...view.only].join() : "all";
    const key = `processor ${row} ${view.colour} ${only} ${from} ${perPixel} ${width}`;
    const known = this.cache.get(key);
    if (known) return known;
    if (this.cache.size > 600) this.cache.clear();
    const { processors } = data;
    const found = processors ? this.ran(processors, row, from, perPixel, width) : empty(width);
    this.cache.set(key, found);
    return found;
  }

  private ran(processors: Source, row: number, from: number, perPixel: number, width: number): Shares {
    const { data, view } = this;
    const runners = data.timeline.processors?.runners ?? [];
    if (view.colour === "state" || view.colour === "code") {
      const owner = (code: number) => {
        const track = runners[code - 1]?.track ?? null;
        return track !== null && view.shows(data.timeline.tracks[track]?.process) ? track : null;
      };
      const seen = through(processors, row, data.threads, owner, from, perPixel, width);
      if (seen) return seen;
    }
    const found = compute(processors, row, from, perPixel, width);
    const pids = view.only && new Set([...view.only].map((process) => data.timeline.processes[process]?.pid));
    for (let x = 0; x < width; x++) {
      const who = runners[(found.codes[x] ?? 0) - 1];
      if (pids && !pids.has(who?.pid)) {
        // A program that is not shown.
        found.states[x * STATES + 1] = (found.states[x * STATES + 1] ?? 0) + (found.states[x * STATES] ?? 0);
        found.states[x * STATES] = 0;
      }
      // Other programs are drawn as idle.
      found.states[x * STATES + 3] = found.states[x * STATES + 1] ?? 0;
      found.states[x * STATES + 1] = 0;
      const runner = found.codes[x] ?? 0;
      if (view.colour === "application") found.codes[x] = runner > 0 ? (runners[runner - 1]?.group ?? 0) + 1 : 0;
      else if (view.colour !== "thread") found.codes[x] = 0;
    }
    return found;
  }

  /** The time axis. */
  ruler(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { view, colours } = this;
    const room = width - LABELS;
    const at = ticks(view, room);
    const step = (at[1] ?? 1) - (at[0] ?? 0);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const ns of at) {
      const x = LABELS + ((ns - view.from) / (view.to - view.from)) * room;
      context.fillStyle = colours.line;
      context.fillRect(Math.round(x), height - 6, 1, 6);
      context.fillStyle = colours.text;
      const label = tick(ns, step);
      const wide = context.measureText(label).width;
      const left = Math.min(Math.max(x - wide / 2, LABELS), width - wide - 2);
      context.fillText(label, left, height / 2 - 2);
    }
  }

  /** One row whose first pixel is at `top`. */
  row(context: CanvasRenderingContext2D, row: Row, top: number, width: number): void {
    const { colours } = this;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    if (row.kind === "process") {
      context.fillStyle = colours.text;
      context.font = "600 12px system-ui, sans-serif";
      context.fillText(shortened(context, row.label, width - 16), 8, top + row.height / 2 + 2);
      return;
    }
    const room = width - LABELS;
    context.save();
    context.beginPath();
    context.rect(LABELS, top, room, row.height);
    context.clip();
    if (row.kind === "track") this.track(context, row, top, room);
    else if (row.kind === "processor") this.processor(context, row, top, room);
    else drawLane(context, this, row, top, room);
    context.restore();
    context.fillStyle = row.kind === "lane" ? colours.faint : colours.text;
    const size = Math.min(12, row.height - 1);
    context.font = `${size}px system-ui, sans-serif`;
    context.fillText(shortened(context, row.label, LABELS - 14), 8, top + (row.height - GAP) / 2 - (row.kind === "lane" ? 8 : 0));
    if (row.kind === "lane") {
      const lane = this.data.timeline.lanes[row.number];
      const range = lane ? `${value(lane.least, lane.unit)} … ${value(lane.most, lane.unit)}` : "";
      context.font = "10px system-ui, sans-serif";
      context.fillText(shortened(context, range, LABELS - 14), 8, top + row.height / 2 + 7);
    }
  }

  private processor(context: CanvasRenderingContext2D, row: Row, top: number, room: number): void {
    const { view, data, colours } = this;
    const perPixel = (view.to - view.from) / room;
    const high = row.height - GAP;
    context.fillStyle = colours.row;
    context.fillRect(LABELS, top, room, high);
    this.bars(context, this.slices(row.number, view.from, perPixel, room), LABELS, top, high, room);
    const slices = data.processors?.tracks[row.number];
    const [first, last] = data.processors ? spansIn(data.processors, row.number, view.from, view.to) : [0, 0];
    if (!slices || high < 14) return;
    const x = (ns: number) => (ns - view.from) / perPixel;
    if (last - first <= 4 * room) {
      context.font = "11px system-ui, sans-serif";
      for (let at = first; at < last; at++) {
        const [from, to] = [Math.max(0, x(slices.begin[at] ?? 0)), Math.min(room, x(slices.end[at] ?? 0))];
        if (to - from < NAMED) continue;
        const runner = data.timeline.processors?.runners[(slices.code[at] ?? 0) - 1];
        context.fillStyle = "#101418";
        if (runner) this.tagged(context, `${runner.name} (${runner.tid})`, LABELS + from, to - from, top, high);
      }
    }
    if (view.slice?.track === row.number) {
      const [from, to] = [x(slices.begin[view.slice.span] ?? 0), x(slices.end[view.slice.span] ?? 0)];
      context.strokeStyle = colours.mark;
      context.lineWidth = 2;
      context.strokeRect(LABELS + Math.max(from, -4), top + 1, Math.max(3, Math.min(to, room + 4) - Math.max(from, -4)), high - 2);
    }
  }

  /** A name on a ground of its own: what is behind it may have any colour. */
  private tagged(context: CanvasRenderingContext2D, name: string, left: number, width: number, top: number, high: number): void {
    const text = shortened(context, name, width - 12);
    if (!text) return;
    context.fillStyle = this.colours.back;
    context.globalAlpha = 0.78;
    context.fillRect(left + 3, top + high / 2 - 7, context.measureText(text).width + 6, 14);
    context.globalAlpha = 1;
    context.fillStyle = this.colours.text;
    context.fillText(text, left + 6, top + high / 2 + 0.5);
  }

  private track(context: CanvasRenderingContext2D, row: Row, top: number, room: number): void {
    const { view, colours } = this;
    const perPixel = (view.to - view.from) / room;
    const shares = this.shares(row.number, view.from, perPixel, room);
    const own = view.colour === "thread" ? row.number + 1 : view.colour === "application" ? (this.data.timeline.tracks[row.number]?.process ?? 0) + 1 : 0;
    const high = row.height - GAP;
    context.fillStyle = colours.row;
    context.fillRect(LABELS, top, room, high);
    this.bars(context, shares, LABELS, top, high, room, own);
    this.names(context, row, top, high, room);
    const selected = view.selected;
    if (selected?.track === row.number) {
      const spans = this.data.tracks[row.number];
      const from = LABELS + ((spans?.begin[selected.span] ?? 0) - view.from) / perPixel;
      const to = LABELS + ((spans?.end[selected.span] ?? 0) - view.from) / perPixel;
      context.strokeStyle = colours.mark;
      context.lineWidth = 2;
      context.strokeRect(Math.max(from, LABELS - 4), top + 1, Math.max(3, Math.min(to, LABELS + room + 4) - Math.max(from, LABELS - 4)), high - 2);
    }
  }

  /** Stacked shares, useful time at the bottom; equal neighbours become one rectangle. */
  bars(context: CanvasRenderingContext2D, shares: Shares, left: number, top: number, high: number, room: number, own = 0): void {
    const { view } = this;
    // Borders lie between pixels of the screen: else two neighbours let what is behind them through.
    const ratio = context.getTransform().a;
    const snap = (x: number) => Math.round(x * ratio) / ratio;
    let start = 0;
    const same = (a: number, b: number) => {
      for (let state = 0; state < STATES; state++) {
        if (Math.abs((shares.states[a * STATES + state] ?? 0) - (shares.states[b * STATES + state] ?? 0)) > 0.004) return false;
      }
      return shares.codes[a] === shares.codes[b];
    };
    for (let x = 1; x <= room; x++) {
      if (x < room && same(start, x)) continue;
      const code = shares.codes[start] ?? 0;
      let bottom = top + high;
      const searched = view.found !== null;
      const faded = searched && !view.found?.has(code);
      for (let state = 0; state < STATES; state++) {
        const share = shares.states[start * STATES + state] ?? 0;
        if (share <= 0.002) continue;
        const tall = share > 0.996 ? high : share * high;
        context.globalAlpha = faded ? FADED : 1;
        context.fillStyle = this.colour(state, own || code);
        const from = snap(left + start);
        context.fillRect(from, bottom - tall, snap(left + x) - from, tall);
        bottom -= tall;
      }
      start = x;
    }
    context.globalAlpha = 1;
  }

  private colour(state: number, code: number): string {
    const { view, colours } = this;
    if (view.colour !== "state" && code > 0 && state === 0) return ofCode(colours, code);
    return colours.states[state] ?? colours.text;
  }

  /** Names in spans that are wide enough. */
  private names(context: CanvasRenderingContext2D, row: Row, top: number, high: number, room: number): void {
    const { view, data, colours } = this;
    const spans = data.tracks[row.number];
    const perPixel = (view.to - view.from) / room;
    const [first, last] = spansIn(data.threads, row.number, view.from, view.to);
    if (!spans || high < 14 || last - first > 4 * room) return;
    context.font = "11px system-ui, sans-serif";
    for (let at = first; at < last; at++) {
      const from = Math.max(0, ((spans.begin[at] ?? 0) - view.from) / perPixel);
      const to = Math.min(room, ((spans.end[at] ?? 0) - view.from) / perPixel);
      if (to - from < NAMED) continue;
      const text = this.nameOf(spans.state[at] ?? 0, spans.wait[at] ?? 0, spans.code[at] ?? 0);
      context.fillStyle = (spans.state[at] ?? 0) === 3 ? colours.faint : "#fff";
      if ((spans.state[at] ?? 0) === 1) context.fillStyle = "#1c1200";
      const code = spans.code[at] ?? 0;
      if (view.colour !== "state" && (code > 0 || !view.byCode) && (spans.state[at] ?? 0) === 0) context.fillStyle = "#101418";
      if (view.found !== null && !view.found.has(code)) continue;
      context.fillText(shortened(context, text, to - from - 8), LABELS + from + 4, top + high / 2 + 0.5);
    }
  }

  /** What a span shows: the body that computes, or what it waits for. */
  nameOf(state: number, wait: number, code: number): string {
    const { timeline } = this.data;
    const label = timeline.codes[code]?.label ?? "";
    if (state === 0) return label ? short(label) : this.data.ofKernel ? "running" : "outside of regions";
    return timeline.waits[wait] || timeline.states[state] || "";
  }

  /** Arrows of the selected task: from its creation and from what it depends on, to what depends on it. `rowOf` is the middle of a track's row. */
  arrows(context: CanvasRenderingContext2D, width: number, height: number, rowOf: (track: number) => number | null): void {
    const { view, colours, data } = this;
    const graph = view.task && data.graphs[view.task.graph];
    if (!view.task || !graph) return;
    const { row } = view.task;
    const room = width - LABELS;
    const x = (ns: number) => LABELS + ((ns - view.from) / (view.to - view.from)) * room;
    context.save();
    context.beginPath();
    context.rect(LABELS, 0, room, height);
    context.clip();
    context.lineWidth = 1.5;
    const arrow = (fromTrack: number | null, from: number | null, toTrack: number | null, to: number | null, created: boolean) => {
      const [a, b] = [fromTrack === null ? null : rowOf(fromTrack), toTrack === null ? null : rowOf(toTrack)];
      if (a === null || b === null || from === null || to === null) return;
      const [left, right] = [x(from), x(to)];
      if (Math.max(left, right) < LABELS || Math.min(left, right) > width) return;
      context.strokeStyle = created ? colours.faint : colours.mark;
      context.fillStyle = context.strokeStyle;
      context.setLineDash(created ? [4, 3] : []);
      const bend = Math.min(60, Math.max(12, Math.abs(right - left) / 2));
      context.beginPath();
      context.moveTo(left, a);
      context.bezierCurveTo(left + bend, a, right - bend, b, right - 5, b);
      context.stroke();
      context.beginPath();
      context.moveTo(right, b);
      context.lineTo(right - 7, b - 3.5);
      context.lineTo(right - 7, b + 3.5);
      context.fill();
    };
    const begin = (of: number) => graph.known("begin", of);
    const end = (of: number) => graph.known("complete", of) ?? graph.known("end", of);
    const track = (of: number) => graph.known("track", of);
    arrow(graph.known("creator", row), graph.known("created", row), track(row), begin(row), true);
    for (const before of graph.predecessors(row).slice(0, ARROWS)) arrow(track(before), end(before), track(row), begin(row), false);
    for (const after of graph.successors(row).slice(0, ARROWS)) arrow(track(row), end(row), track(after), begin(after), false);
    context.restore();
  }

  /** The range that is measured, and the pointer. */
  overlay(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { view, colours } = this;
    const room = width - LABELS;
    const x = (ns: number) => LABELS + ((ns - view.from) / (view.to - view.from)) * room;
    context.save();
    context.beginPath();
    context.rect(LABELS, 0, room, height);
    context.clip();
    if (view.range) {
      const [from, to] = [x(view.range.from), x(view.range.to)];
      context.fillStyle = colours.mark;
      context.globalAlpha = 0.14;
      context.fillRect(from, 0, to - from, height);
      context.globalAlpha = 1;
      context.fillRect(from, 0, 1.5, height);
      context.fillRect(to - 1.5, 0, 1.5, height);
    }
    if (view.pointer) {
      context.fillStyle = colours.faint;
      context.fillRect(Math.round(x(view.pointer.time)), 0, 1, height);
    }
    context.restore();
  }

  /** All threads together, and the part of the time that is in view. */
  map(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { data, view, colours } = this;
    const end = Math.max(view.end, 1);
    const sum = { states: new Float32Array(width * STATES), codes: new Uint16Array(width), longest: new Float32Array(width) };
    const tracks = data.timeline.tracks.flatMap(({ process }, track) => (view.shows(process) ? [track] : []));
    const step = Math.max(1, Math.floor(tracks.length / 64));
    let shown = 0;
    for (let at = 0; at < tracks.length; at += step) {
      const track = tracks[at] ?? 0;
      const shares = this.shares(track, 0, end / width, width);
      for (let at = 0; at < sum.states.length; at++) sum.states[at] = (sum.states[at] ?? 0) + (shares.states[at] ?? 0);
      shown++;
    }
    for (let at = 0; at < sum.states.length; at++) sum.states[at] = (sum.states[at] ?? 0) / Math.max(1, shown);
    context.fillStyle = colours.row;
    context.fillRect(0, 0, width, height);
    const found = view.found;
    view.found = null;
    const { colour } = view;
    view.colour = "state";
    this.bars(context, sum, 0, 0, height, width);
    [view.found, view.colour] = [found, colour];
    const [from, to] = [(view.from / end) * width, (view.to / end) * width];
    context.fillStyle = colours.back;
    context.globalAlpha = 0.65;
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    context.globalAlpha = 1;
    context.strokeStyle = colours.mark;
    context.lineWidth = 2;
    context.strokeRect(Math.min(from, width - 4) + 1, 1, Math.max(to - from - 2, 2), height - 2);
  }
}
