// The page's script: the time line, keys, the theme, tables that can be sorted. Findings and tables are complete without it.

import { ofCode } from "./colours";
import { type Data, read } from "./data";
import { details, element } from "./details";
import { programs } from "./filter";
import { count, time } from "./format";
import { GraphPanel } from "./graph_panel";
import { help, type Key, listen } from "./keys";
import { countFound, find, type Found, next } from "./search";
import { sortable } from "./tables";
import { spanAt, TimelineView } from "./timeline";
import { type Colouring, type SpanId, type TaskRef, Window } from "./window";

/** How the time line is shown and searched. */
class Controls {
  readonly bar = element("div", "", "bar");
  private readonly input = document.createElement("input");
  private readonly result = element("span", "", "result");
  private found: Found | null = null;
  /** The programs whose spans were counted. */
  private only: Set<number> | null = null;
  private select: HTMLSelectElement | null = null;

  constructor(
    readonly data: Data,
    readonly view: Window,
    readonly drawn: TimelineView,
  ) {
    const { input } = this;
    view.listen(() => this.view.only !== this.only && this.search());
    input.type = "search";
    input.placeholder = "search ( / )";
    input.setAttribute("aria-label", "Search for regions, tasks and waits");
    input.addEventListener("input", () => this.search());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    });
    this.result.setAttribute("role", "status");
    const search = element("span", "", "search");
    search.append(input, this.button("‹", "Previous (N)", () => this.step(-1)), this.button("›", "Next (n)", () => this.step(1)), this.result);
    const zoom = element("span", "", "zoom");
    zoom.append(
      this.button("−", "Zoom out (s)", () => view.zoom(1.5, this.middle)),
      this.button("+", "Zoom in (w)", () => view.zoom(1 / 1.5, this.middle)),
      this.button("all", "The whole time (0)", () => view.show(0, view.end)),
    );
    this.bar.append(...this.rows(), ...programs(data, view, drawn), this.colouring(), search, zoom);
  }

  private button(text: string, title: string, run: () => void): HTMLElement {
    const made = element("button", text);
    made.setAttribute("type", "button");
    made.title = title;
    made.setAttribute("aria-label", title);
    made.addEventListener("click", run);
    return made;
  }

  /** Where keys zoom: at the pointer, else in the middle. */
  get middle(): number {
    return this.view.pointer?.time ?? (this.view.from + this.view.to) / 2;
  }

  private colouring(): HTMLElement {
    const label = element("label", "colours ");
    const select = document.createElement("select");
    select.className = "colouring";
    for (const [value, text] of [
      ["state", "by state"],
      ["code", "by region and task"],
      ["thread", "by thread"],
      ["application", "by program"],
    ] as const) {
      const option = element("option", text) as HTMLOptionElement;
      option.value = value;
      select.append(option);
    }
    select.addEventListener("change", () => {
      this.view.colour = select.value as Colouring;
      this.view.changed();
    });
    label.append(select);
    return label;
  }

  /** Rows are threads or processors, where it is known who ran where. */
  private rows(): HTMLElement[] {
    if (!this.data.processors) return [];
    const label = element("label", "rows ");
    const select = document.createElement("select");
    select.className = "rows-of";
    for (const text of ["threads", "processors"]) {
      const option = element("option", text) as HTMLOptionElement;
      option.value = text;
      select.append(option);
    }
    select.addEventListener("change", () => this.drawn.arrange(select.value === "processors"));
    label.append(select);
    this.select = select;
    return [label];
  }

  /** The other kind of rows. */
  arrange(): void {
    if (!this.select) return;
    this.select.value = this.select.value === "threads" ? "processors" : "threads";
    this.drawn.arrange(this.select.value === "processors");
  }

  focus(): void {
    this.drawn.element.scrollIntoView({ block: "nearest" });
    this.input.focus();
    this.input.select();
  }

  private search(): void {
    this.found = find(this.data, this.input.value);
    this.view.found = this.found?.codes ?? null;
    this.view.foundWaits = this.found?.waits ?? new Set();
    if (!this.found) this.result.textContent = "";
    else {
      const names = this.found.codes.size + this.found.waits.size;
      this.result.textContent = names === 0 ? "nothing found" : `${count(countFound(this.data, this.view, this.found))} spans`;
    }
    this.only = this.view.only;
    this.view.changed();
  }

  /** Shows the next span that was found. */
  step(by: 1 | -1): void {
    const span = this.found && next(this.data, this.view, this.found, by);
    if (span) select(this.data, this.view, this.drawn, span);
  }
}

/** Selects a span and shows it: where it is in view and wide enough, nothing moves. */
function select(data: Data, view: Window, drawn: TimelineView, id: SpanId): void {
  const spans = data.tracks[id.track];
  const begin = spans?.begin[id.span] ?? 0;
  const end = spans?.end[id.span] ?? 0;
  view.selected = id;
  view.range = null;
  drawn.reveal(id.track);
  const length = view.to - view.from;
  const small = end - begin < length / 200;
  if (small) view.show((begin + end) / 2 - (end - begin) * 20, (begin + end) / 2 + (end - begin) * 20);
  else if (begin < view.from || end > view.to) view.showAround(begin, end);
  else view.changed();
}

/** The span before or behind the selected one on its thread. */
function neighbour(data: Data, view: Window, drawn: TimelineView, by: number): void {
  const id = view.selected;
  const spans = id && data.tracks[id.track];
  if (!id || !spans) return view.pan(by * 0.1);
  const span = Math.min(Math.max(id.span + by, 0), spans.begin.length - 1);
  select(data, view, drawn, { track: id.track, span });
}

/** Shows a task of a graph: its first span, and enough time around it. */
function showTask(data: Data, view: Window, drawn: TimelineView, { graph, row }: TaskRef, scroll: boolean): void {
  const of = data.graphs[graph];
  const [track, begin, end] = (["track", "begin", "end"] as const).map((column) => of?.known(column, row) ?? null);
  view.range = null;
  if (track === null || track === undefined || begin === null || begin === undefined) {
    view.selected = null;
    return view.changed();
  }
  view.selected = spanAt(data.tracks, track, begin);
  drawn.reveal(track);
  const last = Math.max(end ?? begin, begin + 1);
  const small = last - begin < (view.to - view.from) / 200;
  if (small) view.show(begin - (last - begin) * 20, last + (last - begin) * 20);
  else if (begin < view.from || last > view.to) view.show(begin - (last - begin), last + (last - begin));
  else view.changed();
  if (!scroll) return;
  document.getElementById("time-line")?.scrollIntoView({ block: "start" });
  drawn.element.focus({ preventScroll: true });
}

/** The panel of task graphs, and the buttons that lead to it. */
function graphs(data: Data, view: Window, drawn: TimelineView): GraphPanel | null {
  const place = document.getElementById("task-graph");
  if (!place || data.graphs.length === 0) return null;
  const line = { painter: drawn.painter, show: (task: TaskRef, scroll: boolean) => showTask(data, view, drawn, task, scroll) };
  place.hidden = false;
  const panel = new GraphPanel(data, view, line, place);
  for (const button of document.querySelectorAll<HTMLElement>("button.goto-graph")) {
    button.addEventListener("click", () => panel.critical(Number(button.dataset["graph"])));
  }
  return panel;
}

/** What is selected or measured. */
function chosen(data: Data, view: Window): { from: number; to: number } | null {
  const id = view.selected;
  const spans = id && data.tracks[id.track];
  if (id && spans) return { from: spans.begin[id.span] ?? 0, to: spans.end[id.span] ?? 0 };
  return view.range;
}

function keysOf(data: Data, view: Window, drawn: TimelineView, controls: Controls, dialog: () => HTMLDialogElement): Key[] {
  const zoom = (factor: number) => () => view.zoom(factor, controls.middle);
  const key = (keys: string[], what: string, run: () => void): Key => ({ keys, what, run });
  return [
    key(["N"], "previous span that was found", () => controls.step(-1)),
    key(["w"], "zoom in", zoom(1 / 1.5)),
    key(["s"], "zoom out", zoom(1.5)),
    key(["a"], "move left", () => view.pan(-0.2)),
    key(["d"], "move right", () => view.pan(0.2)),
    key(["f"], "zoom to what is selected or measured", () => {
      const time = chosen(data, view);
      if (time) view.showAround(time.from, time.to);
    }),
    key(["m"], "measure the selected span's time on all threads", () => {
      const time = chosen(data, view);
      if (!time) return;
      view.range = { ...time, track: null };
      view.changed();
    }),
    key(["0"], "show the whole time", () => view.show(0, view.end)),
    key(["ArrowLeft"], "span before the selected one", () => neighbour(data, view, drawn, -1)),
    key(["ArrowRight"], "span behind the selected one", () => neighbour(data, view, drawn, 1)),
    key(["p"], "rows of processors or of threads", () => controls.arrange()),
    key(["/"], "search", () => controls.focus()),
    key(["n"], "next span that was found", () => controls.step(1)),
    key(["Escape"], "select nothing", () => {
      view.selected = null;
      view.task = null;
      view.slice = null;
      view.range = null;
      view.changed();
    }),
    key(["?"], "this list", () => dialog().showModal()),
  ];
}

/** Bodies that the list of colours names. */
const NAMED = 10;

/** Who has which colour, from the first one on. */
function names(data: Data, view: Window): string[] {
  const { timeline } = data;
  switch (view.colour) {
    case "state":
      return [];
    case "code":
      return timeline.codes.slice(1).map(({ label }) => label);
    case "thread":
      return view.byProcessor ? (timeline.processors?.runners ?? []).map(({ name, tid }) => `${name} (${tid})`) : timeline.tracks.map(({ name }) => name);
    case "application":
      return view.byProcessor ? (timeline.processors?.groups ?? []) : timeline.processes.map(({ program }) => program);
  }
}

/** What the colours are. */
function legend(data: Data, view: Window, drawn: TimelineView): HTMLElement {
  const list = element("ul", "", "legend");
  const item = (name: string, className: string, colour: string) => {
    const made = element("li");
    const box = element("i", "", className);
    if (colour) box.style.background = colour;
    made.append(box, name);
    list.append(made);
  };
  let shown: string | null = null;
  const update = () => {
    const key = `${view.colour} ${view.byProcessor}`;
    if (shown === key) return;
    shown = key;
    list.replaceChildren();
    const states: Record<string, string> = { synchronization: "sync", scheduling: "sched" };
    const { timeline } = data;
    const named = names(data, view);
    const coloured = view.colour !== "state";
    for (const [at, name] of timeline.states.entries()) {
      if (view.byProcessor && (view.colour === "thread" || view.colour === "application")) break;
      if (!coloured || at > 0) item(name, states[name] ?? name, "");
    }
    for (const [at, name] of named.slice(0, NAMED).entries()) item(name, "", ofCode(drawn.painter.colours, at + 1));
    if (named.length > NAMED) item(`and ${named.length - NAMED} more`, "", "");
    if (view.byProcessor && !data.ofKernel) item(coloured && view.colour !== "code" ? "other programs" : "threads without a trace", "idle", "");
  };
  view.listen(update);
  update();
  return list;
}

/** What the time line is exact about. */
function exactness(data: Data): string {
  const { spans, levels, lanes_left_out: lanes } = data.timeline;
  const finest = levels[0]?.width_ns ?? 0;
  const said =
    spans.exact_from_ns === 0
      ? "The time line has every change of state, to the nanosecond."
      : `The time line has all spans of ${time(spans.exact_from_ns)} and more; shorter ones are in it as shares of ${time(finest)} each, which are exact sums.`;
  const { series_without_values: zero } = data.timeline;
  const missing = (lanes > 0 ? ` ${lanes} lanes are not shown.` : "") + (zero > 0 ? ` ${zero} series that were 0 all the time have no lane.` : "");
  const { processors, processors_trouble: trouble } = data.timeline;
  const threads = data.timeline.tracks_left_out > 0 ? ` ${count(data.timeline.tracks_left_out)} threads that ran least have no row.` : "";
  const rows = trouble ? ` Rows by processor are not here: ${trouble}.` : processors && processors.lost > 0 ? ` Of switches ${count(processors.lost)} events were lost.` : "";
  return said + threads + missing + rows;
}

/** Buttons of findings and regions lead to their time. */
function links(view: Window, drawn: TimelineView): void {
  for (const button of document.querySelectorAll<HTMLElement>("button.goto")) {
    button.addEventListener("click", () => {
      const [from, to, track] = ["from", "to", "track"].map((name) => Number(button.dataset[name])) as [number, number, number];
      view.selected = null;
      view.range = { from, to, track };
      view.showAround(from, to);
      drawn.reveal(track);
      document.getElementById("time-line")?.scrollIntoView({ block: "start" });
      drawn.element.focus({ preventScroll: true });
    });
  }
}

async function timeline(): Promise<void> {
  const place = document.getElementById("timeline");
  if (!place) return;
  const data = await read();
  const view = new Window(data.timeline.end_ns);
  const drawn = new TimelineView(data, view);
  const controls = new Controls(data, view, drawn);
  let dialog: HTMLDialogElement | null = null;
  const keys = keysOf(data, view, drawn, controls, () => {
    dialog ??= document.body.appendChild(help(keys));
    return dialog;
  });
  controls.bar.append(legend(data, view, drawn));
  place.append(controls.bar, drawn.element, details(data, view));
  place.hidden = false;
  document.getElementById("no-timeline")?.remove();
  const said = document.getElementById("exactness");
  if (said) said.textContent = exactness(data);
  place.append(element("p", exactness(data), "line exactness"));
  listen(keys, () => document.activeElement === drawn.element);
  document.getElementById("help")?.addEventListener("click", () => keys.at(-1)?.run());
  links(view, drawn);
  const panel = graphs(data, view, drawn);
  themes(() => {
    drawn.painter.themed();
    panel?.themed();
    view.changed();
  });
  drawn.ask();
  requestAnimationFrame(() => {
    performance.mark("instr-ready");
    document.documentElement.dataset["ready"] = "1";
  });
}

/** The switch of dark and light, which begins as the system has it. */
function themes(changed: () => void): void {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme")?.addEventListener("click", () => {
    const now = root.dataset["theme"] ?? (dark.matches ? "dark" : "light");
    root.dataset["theme"] = now === "dark" ? "light" : "dark";
    changed();
  });
  dark.addEventListener("change", changed);
}

/** Says in the page what went wrong: its tables are still right. */
function failed(error: unknown): void {
  const said = document.getElementById("no-timeline");
  if (said) said.textContent = `The time line cannot be drawn: ${String(error)}`;
  document.documentElement.dataset["ready"] = "failed";
}

function start(): void {
  for (const tools of document.querySelectorAll<HTMLElement>(".tools")) tools.hidden = false;
  for (const table of document.querySelectorAll<HTMLTableElement>("main .scroll > table:not(.tree)")) sortable(table);
  if (document.getElementById("timeline")) timeline().catch(failed);
  else {
    themes(() => undefined);
    document.documentElement.dataset["ready"] = "1";
  }
}

start();
