// The time line: its canvases, and what the pointer does on them.

import { bisectRight } from "d3-array";

import { fit, LABELS } from "./canvas";
import type { Data, TrackSpans } from "./data";
import { Painter } from "./draw";
import { type Layout, layout, rowAt } from "./layout";
import type { SpanId, Window } from "./window";

/** Pixels of the axis and of the map. */
const RULER = 26;
const MAP = 40;
/** Pixels of the page's text where one of our pixels is one of the page's. */
const TEXT = 14;
/** A press that moves less is a click. */
const CLICK = 4;

function canvas(className: string, label: string): HTMLCanvasElement {
  const made = document.createElement("canvas");
  made.className = className;
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", label);
  return made;
}

/** The span of a track at a time, if one is kept. */
export function spanAt(tracks: TrackSpans[], track: number, time: number): SpanId | null {
  const spans = tracks[track];
  if (!spans) return null;
  const span = bisectRight(spans.begin, time) - 1;
  return span >= 0 && (spans.end[span] ?? 0) > time ? { track, span } : null;
}

/** The part of the page that is drawn. */
export class TimelineView {
  readonly element = document.createElement("div");
  readonly painter: Painter;
  private layout: Layout;
  private readonly map = canvas("map", "All threads together over the whole time");
  private readonly ruler = canvas("ruler", "Time axis");
  private readonly rows = canvas("rows", "Threads over time; the tables below have the sums");
  private readonly scroller = document.createElement("div");
  private readonly spacer: HTMLElement;
  private asked = false;
  /** Pixels of the page for one of ours: more where the page's text is larger. */
  private scale = 1;

  constructor(
    readonly data: Data,
    readonly view: Window,
  ) {
    this.painter = new Painter(data, view);
    this.layout = layout(data.timeline, view.byProcessor, view.only);
    this.element.className = "canvases";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "application");
    this.element.setAttribute("aria-label", "Time line: w and s zoom, a and d move, ? lists all keys");
    this.scroller.className = "scroller";
    const spacer = document.createElement("div");
    spacer.className = "spacer";
    spacer.append(this.rows);
    this.spacer = spacer;
    this.scroller.append(spacer);
    this.element.append(this.map, this.ruler, this.scroller);
    this.scroller.addEventListener("scroll", () => this.ask());
    new ResizeObserver(() => this.ask()).observe(this.element);
    view.listen(() => this.ask());
    this.pointer();
    this.mapPointer();
  }

  /** Draws before the next picture of the page. */
  ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  /** The pixels of time. */
  private get room(): number {
    return Math.max(1, Math.floor(this.scroller.clientWidth / this.scale) - LABELS);
  }

  private draw(): void {
    const begin = performance.now();
    this.scale = parseFloat(getComputedStyle(this.element).fontSize) / TEXT;
    this.spacer.style.height = `${this.layout.height * this.scale}px`;
    const width = this.room + LABELS;
    const height = Math.min(this.scroller.clientHeight / this.scale, this.layout.height);
    const ruler = fit(this.ruler, width, RULER, this.scale);
    if (ruler) this.painter.ruler(ruler, width, RULER);
    const rows = fit(this.rows, width, height, this.scale);
    if (!rows) return;
    const top = this.scroller.scrollTop / this.scale;
    for (const row of this.layout.rows) {
      if (row.top + row.height < top || row.top > top + height) continue;
      this.painter.row(rows, row, row.top - top, width);
    }
    this.painter.arrows(rows, width, height, (track) => {
      const row = this.layout.rows.find((row) => row.kind === "track" && row.number === track);
      return row ? row.top - top + row.height / 2 : null;
    });
    this.painter.overlay(rows, width, height);
    const map = fit(this.map, width, MAP, this.scale);
    if (map) this.painter.map(map, width, MAP);
    this.element.dataset["from"] = String(this.view.from);
    this.element.dataset["to"] = String(this.view.to);
    const { task } = this.view;
    this.element.dataset["task"] = task ? `${task.graph} ${task.row}` : "";
    this.element.dataset["drawMs"] = (performance.now() - begin).toFixed(2);
  }

  /** Rows are those of processors from now on, or those of threads. */
  arrange(byProcessor: boolean): void {
    this.view.byProcessor = byProcessor;
    this.placed();
  }

  /** Rows are those of these processes from now on; null: of all. */
  filter(only: Set<number> | null): void {
    const { view } = this;
    view.only = only;
    const process = (track: number | undefined) => this.data.timeline.tracks[track ?? -1]?.process;
    if (view.selected && !view.shows(process(view.selected.track))) view.selected = null;
    if (view.range?.track != null && !view.shows(process(view.range.track))) view.range = null;
    this.placed();
  }

  private placed(): void {
    this.layout = layout(this.data.timeline, this.view.byProcessor, this.view.only);
    this.view.changed();
  }

  /** Brings a track into view. */
  reveal(track: number): void {
    if (!this.view.shows(this.data.timeline.tracks[track]?.process)) this.filter(null);
    const row = this.layout.rows.find((row) => row.kind === "track" && row.number === track);
    if (!row) return;
    const [top, high] = [this.scroller.scrollTop, this.scroller.clientHeight];
    const [first, last] = [row.top * this.scale, (row.top + row.height) * this.scale];
    if (first < top || last > top + high) this.scroller.scrollTop = first - high / 2;
  }

  private at(event: MouseEvent): { time: number; track: number | null; row: number | null; lane: number | null } {
    const box = this.rows.getBoundingClientRect();
    const { view } = this;
    const share = ((event.clientX - box.left) / this.scale - LABELS) / this.room;
    const time = view.from + Math.min(Math.max(share, 0), 1) * (view.to - view.from);
    const row = rowAt(this.layout, (event.clientY - box.top + this.scroller.scrollTop) / this.scale);
    return {
      time,
      track: row?.kind === "track" ? row.number : null,
      row: row?.kind === "processor" ? row.number : null,
      lane: row?.kind === "lane" ? row.number : null,
    };
  }

  private pointer(): void {
    const { view } = this;
    let pressed: { x: number; y: number; time: number; pan: boolean; from: number; to: number; moved: boolean } | null = null;
    this.rows.addEventListener("pointerdown", (event) => {
      if (event.button > 1) return;
      this.element.focus({ preventScroll: true });
      this.rows.setPointerCapture(event.pointerId);
      const pan = event.shiftKey || event.button === 1 || event.pointerType === "touch";
      pressed = { x: event.clientX, y: event.clientY, time: this.at(event).time, pan, from: view.from, to: view.to, moved: false };
      event.preventDefault();
    });
    this.rows.addEventListener("pointermove", (event) => {
      const here = this.at(event);
      view.pointer = { time: here.time, track: here.track, row: here.row };
      if (pressed && Math.abs(event.clientX - pressed.x) > CLICK) pressed.moved = true;
      if (pressed?.moved && pressed.pan) {
        const by = ((pressed.x - event.clientX) / this.scale / this.room) * (pressed.to - pressed.from);
        view.show(pressed.from + by, pressed.to + by);
        return;
      }
      if (pressed?.moved) {
        view.range = { from: Math.min(pressed.time, here.time), to: Math.max(pressed.time, here.time), track: null };
        view.selected = null;
      }
      view.changed();
    });
    this.rows.addEventListener("pointerup", (event) => {
      const here = this.at(event);
      if (pressed && !pressed.moved) {
        view.range = null;
        view.selected = here.track === null ? null : spanAt(this.data.tracks, here.track, here.time);
        view.slice = here.row === null ? null : spanAt(this.data.processors?.tracks ?? [], here.row, here.time);
        if (view.slice) view.selected = this.runs(view.slice, here.time);
        view.changed();
      }
      pressed = null;
    });
    this.rows.addEventListener("pointerleave", () => {
      view.pointer = null;
      view.changed();
    });
    this.rows.addEventListener("dblclick", (event) => {
      const here = this.at(event);
      const found = here.track === null ? null : spanAt(this.data.tracks, here.track, here.time);
      const spans = found && this.data.tracks[found.track];
      if (found && spans) view.showAround(spans.begin[found.span] ?? 0, spans.end[found.span] ?? 0);
    });
    this.element.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey || event.metaKey) {
          event.preventDefault();
          view.zoom(Math.exp(event.deltaY * 0.004), this.at(event).time);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          event.preventDefault();
          view.pan((event.deltaX || event.deltaY) / this.room);
        }
      },
      { passive: false },
    );
  }

  /** The span of the thread that a slice ran. */
  private runs(slice: SpanId, time: number): SpanId | null {
    const code = this.data.processors?.tracks[slice.track]?.code[slice.span] ?? 0;
    const track = this.data.timeline.processors?.runners[code - 1]?.track ?? null;
    return track === null ? null : spanAt(this.data.tracks, track, time);
  }

  /** A press on the map moves what is in view to there. */
  private mapPointer(): void {
    const { view } = this;
    const move = (event: PointerEvent) => {
      const box = this.map.getBoundingClientRect();
      const time = ((event.clientX - box.left) / box.width) * view.end;
      const half = (view.to - view.from) / 2;
      view.show(time - half, time + half);
    };
    this.map.addEventListener("pointerdown", (event) => {
      this.map.setPointerCapture(event.pointerId);
      move(event);
    });
    this.map.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) move(event);
    });
  }
}
