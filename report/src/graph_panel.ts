// The part of the page with task graphs: one region's graph, the task that is selected in it, and its way to and from the time line.

import type { Data } from "./data";
import { element, list, threadName } from "./details";
import type { Painter } from "./draw";
import { count, percent, time } from "./format";
import type { Graph } from "./graph";
import { around, type Cell, cells, functionOf, isSmall, small } from "./graph_draw";
import type { SpanId, TaskRef, Window } from "./window";

/** Tasks of a list. */
const LISTED = 200;

/** What the panel asks the time line for. */
export interface Line {
  painter: Painter;
  /** Shows a task there: its span, and the time around it. */
  show(task: TaskRef, scroll: boolean): void;
}

/** The task that a span is a part of. */
export function taskOf(data: Data, { track, span }: SpanId): TaskRef | null {
  const spans = data.tracks[track];
  if (!spans || !data.timeline.codes[spans.code[span] ?? 0]?.task) return null;
  const middle = ((spans.begin[span] ?? 0) + (spans.end[span] ?? 0)) / 2;
  for (const graph of data.graphs) {
    const row = graph.at(track, middle);
    if (row !== null) return { graph: graph.number, row };
  }
  return null;
}

/** Names and values of a task. */
export function taskEntries(data: Data, graph: Graph, row: number): [string, string][] {
  const of = (column: "created" | "ready" | "begin" | "end" | "complete" | "slack" | "level" | "track") => graph.known(column, row);
  const entries: [string, string][] = [
    ["task", graph.name(row)],
    ["function", data.timeline.codes[graph.code(row)]?.label || functionOf(data, graph, row)],
  ];
  const track = of("track");
  if (track !== null) entries.push(["thread", threadName(data, track)]);
  const [created, ready, begin, level, slack] = [of("created"), of("ready"), of("begin"), of("level"), of("slack")];
  if (level !== null) entries.push(["level", count(level)]);
  entries.push(["work", time(graph.tasks?.work[row] ?? 0)]);
  if (created !== null && ready !== null) entries.push(["waited for others", time(Math.max(0, ready - created))]);
  if (ready !== null && begin !== null) entries.push(["waited when ready", time(Math.max(0, begin - ready))]);
  if (slack !== null) entries.push(["slack", time(slack)]);
  if (graph.critical(row)) entries.push(["critical path", "yes"]);
  if (graph.undeferred(row)) entries.push(["undeferred", "yes"]);
  if (graph.cancelled(row)) entries.push(["never began", "its region had ended"]);
  return entries;
}

/** The panel. */
export class GraphPanel {
  private readonly select = document.createElement("select");
  private readonly facts = element("div", "", "graph-facts");
  private readonly path = element("ul", "", "legend graph-path");
  private readonly scroll = element("div", "", "graph-scroll");
  private readonly near = element("div", "", "graph-near");
  private readonly chosen = element("div", "", "graph-chosen");
  private graph: Graph;
  private drawn = -1;
  private shownBand: { code: number; band: number } | null = null;
  private all: Cell[] = [];
  private marked: TaskRef | null = null;
  private span: SpanId | null = null;

  constructor(
    readonly data: Data,
    readonly view: Window,
    readonly line: Line,
    readonly place: HTMLElement,
  ) {
    this.graph = data.graphs[0] as Graph;
    const label = element("label", "region ");
    for (const graph of data.graphs) {
      const { region } = graph.of;
      const program = data.timeline.processes.length > 1 ? `${data.timeline.processes[graph.of.process]?.program ?? ""}: ` : "";
      const option = element("option", `${program}${region.label}, ${count(region.tasks)} tasks, ${time(region.elapsed_ns)}`) as HTMLOptionElement;
      option.value = String(graph.number);
      this.select.append(option);
    }
    label.append(this.select);
    let only = view.only;
    view.listen(() => {
      if (view.only === only) return;
      only = view.only;
      this.filter();
    });
    this.select.addEventListener("change", () => this.region(Number(this.select.value)));
    const bar = element("div", "", "bar");
    const steps = element("span", "", "zoom");
    steps.append(
      element("span", "critical path "),
      this.button("‹", "Task before on the critical path (p)", () => this.step(-1)),
      this.button("›", "Next task of the critical path (P)", () => this.step(1)),
    );
    bar.append(label, steps, this.button("region on the time line", "Shows the time of the region", () => this.showRegion()));
    this.chosen.setAttribute("aria-live", "polite");
    this.scroll.tabIndex = 0;
    this.scroll.setAttribute("role", "application");
    this.scroll.setAttribute("aria-label", "Task graph: arrows move from task to task, Enter shows a task on the time line, p and P follow the critical path");
    this.scroll.addEventListener("keydown", (event) => this.key(event));
    place.append(bar, this.facts, this.path, this.scroll, this.near, this.chosen);
    place.hidden = false;
    view.listen(() => this.follow());
    this.region(0);
  }

  /** Graphs of the programs that are shown; the panel is hidden where there is none. */
  private filter(): void {
    const shown = this.data.graphs.filter((graph) => this.view.shows(graph.of.process));
    for (const [at, graph] of this.data.graphs.entries()) {
      const option = this.select.options[at];
      if (option) option.hidden = !this.view.shows(graph.of.process);
    }
    this.place.hidden = shown.length === 0;
    const first = shown[0];
    if (first && !shown.some((graph) => String(graph.number) === this.select.value)) this.region(first.number);
  }

  private button(text: string, title: string, run: () => void): HTMLElement {
    const made = element("button", text);
    made.setAttribute("type", "button");
    made.title = title;
    made.setAttribute("aria-label", title);
    made.addEventListener("click", run);
    return made;
  }

  /** Draws again, after the theme has changed. */
  themed(): void {
    this.drawn = -1;
    this.draw();
    this.mark();
  }

  /** Shows a region's graph. */
  region(number: number): void {
    this.graph = this.data.graphs[number] ?? this.graph;
    this.select.value = String(this.graph.number);
    this.shownBand = null;
    if (this.view.task && this.view.task.graph !== number) this.view.task = null;
    this.draw();
    this.mark();
    this.view.changed();
  }

  /** Shows the critical path of a region, from its first task on. */
  critical(number: number): void {
    this.region(number);
    this.view.task = null;
    this.step(1);
    document.getElementById("graph")?.scrollIntoView({ block: "start" });
    this.scroll.focus({ preventScroll: true });
  }

  private showRegion(): void {
    const { begin_ns, end_ns } = this.graph.of;
    this.view.selected = null;
    this.view.range = null;
    this.view.showAround(begin_ns, end_ns);
    document.getElementById("time-line")?.scrollIntoView({ block: "start" });
  }

  private draw(): void {
    if (this.drawn === this.graph.number) return;
    this.drawn = this.graph.number;
    const { of } = this.graph;
    const { region } = of;
    const ratio = region.average_parallelism;
    this.facts.replaceChildren(
      list([
        ["time T_P", time(region.elapsed_ns)],
        ["work T1", time(region.work_ns)],
        ["span T∞", time(region.span_ns)],
        ["T1/T∞", ratio === null ? "–" : ratio.toFixed(2)],
        ["threads", count(region.threads)],
        ["tasks", count(region.tasks)],
        ["dependences", count(region.edges)],
        ["levels", count(region.span_hops)],
        ["delay", time(region.delay_ns)],
        ["no work", time(region.no_work_ns)],
      ]),
    );
    this.path.replaceChildren();
    const parts = (of.path ?? []).filter((part) => part.ns > 0);
    if (parts.length > 0) this.path.append(element("li", "critical path:"));
    for (const part of parts.slice(0, 8)) {
      const name = part.code === 0 ? "outside of tasks" : (this.data.timeline.codes[part.code]?.label ?? "");
      const tasks = part.tasks > 0 ? `, ${count(part.tasks)} ${part.tasks === 1 ? "task" : "tasks"}` : "";
      this.path.append(element("li", `${name} ${percent(part.ns / Math.max(1, region.span_ns))}${tasks}`));
    }
    if (!of.path) this.path.append(element("li", "The region has too many tasks for its critical path; instr graph has it."));
    this.scroll.replaceChildren();
    this.near.replaceChildren();
    this.all = [];
    const { colours } = this.line.painter;
    if (isSmall(this.graph)) {
      const { svg, boxes } = small(this.data, colours, this.graph);
      for (const [row, box] of boxes) box.addEventListener("click", () => this.choose(row));
      this.scroll.append(svg);
    } else {
      const room = this.place.clientWidth || 1000;
      const { svg, cells: found } = cells(this.data, colours, this.graph, room);
      this.all = found;
      for (const cell of found) cell.box.addEventListener("click", () => this.open(cell));
      this.scroll.append(svg);
      const said = this.graph.tasks ? "A cell has all tasks of a function in one band of levels; a click opens it." : "The page has no room for single tasks of this region: cells say how many there are.";
      this.scroll.append(element("p", said, "line"));
    }
  }

  /** Opens a cell: the list of its tasks. */
  private open(cell: Cell): void {
    this.shownBand = { code: cell.code, band: cell.band };
    this.view.task = null;
    this.marked = null;
    this.mark();
    this.view.changed();
  }

  /** Selects a task, and shows it on the time line. */
  private choose(row: number): void {
    this.view.task = { graph: this.graph.number, row };
    this.line.show(this.view.task, false);
    this.span = this.view.selected;
    this.mark();
    this.view.changed();
  }

  /** The next task of the critical path. */
  private step(by: 1 | -1): void {
    const rows = this.graph.path();
    if (rows.length === 0) return;
    const now = this.view.task ? rows.indexOf(this.view.task.row) : -1;
    const next = now < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(now + by, 0), rows.length - 1);
    this.choose(rows[next] ?? 0);
  }

  private key(event: KeyboardEvent): void {
    const { view, graph } = this;
    const row = view.task?.graph === graph.number ? view.task.row : null;
    const first = (rows: number[]) => {
      const slack = (of: number) => graph.known("slack", of) ?? Infinity;
      return rows.sort((a, b) => slack(a) - slack(b) || a - b)[0];
    };
    const level = (by: number) => {
      if (row === null) return undefined;
      const own = graph.known("level", row);
      const rows = Array.from({ length: graph.rows }, (_, at) => at).filter((at) => graph.known("level", at) === own);
      return rows[rows.indexOf(row) + by];
    };
    let to: number | undefined;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    switch (event.key) {
      case "ArrowLeft":
        to = row === null ? undefined : first(graph.predecessors(row));
        break;
      case "ArrowRight":
        to = row === null ? (graph.rows > 0 ? 0 : undefined) : first(graph.successors(row));
        break;
      case "ArrowUp":
        to = level(-1);
        break;
      case "ArrowDown":
        to = level(1);
        break;
      case "p":
        this.step(-1);
        break;
      case "P":
        this.step(1);
        break;
      case "Enter":
        if (view.task) this.line.show(view.task, true);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (to !== undefined && graph.rows > 0) this.choose(to);
  }

  /** A span was selected on the time line: its task is selected here. */
  private follow(): void {
    const { view } = this;
    if (view.selected !== this.span) {
      this.span = view.selected;
      view.task = view.selected ? taskOf(this.data, view.selected) : null;
    }
    const { task } = view;
    if (task?.graph === this.marked?.graph && task?.row === this.marked?.row) return;
    if (!task) this.shownBand = null;
    if (task && task.graph !== this.graph.number) {
      this.graph = this.data.graphs[task.graph] ?? this.graph;
      this.select.value = String(this.graph.number);
      this.draw();
    }
    this.mark();
  }

  /** Marks what is selected, and says what it is. */
  private mark(): void {
    const { task } = this.view;
    this.marked = task;
    const row = task?.graph === this.graph.number ? task.row : null;
    for (const old of this.place.querySelectorAll(".selected, .beside")) old.classList.remove("selected", "beside");
    this.near.replaceChildren();
    this.chosen.replaceChildren();
    if (row !== null) {
      const level = this.graph.known("level", row);
      if (level !== null) this.shownBand = { code: this.graph.code(row), band: Math.floor(level / this.graph.of.band_levels) };
    }
    for (const cell of this.all) {
      if (cell.code === this.shownBand?.code && cell.band === this.shownBand.band) cell.box.classList.add("selected");
    }
    if (row === null) {
      this.tasks();
      return;
    }
    if (this.all.length > 0) {
      const { svg, boxes } = around(this.data, this.line.painter.colours, this.graph, row);
      for (const [other, box] of boxes) box.addEventListener("click", () => this.choose(other));
      this.near.append(svg);
    }
    const box = this.place.querySelector<SVGElement>(`.task[data-row="${row}"]`);
    box?.classList.add("selected");
    if (this.all.length === 0) box?.scrollIntoView({ block: "nearest", inline: "nearest" });
    for (const edge of this.place.querySelectorAll<SVGElement>(`.edge[data-from="${row}"], .edge[data-to="${row}"]`)) edge.classList.add("beside");
    this.say(row);
  }

  private say(row: number): void {
    const { graph, data } = this;
    this.chosen.append(list(taskEntries(data, graph, row)));
    const links = (name: string, rows: number[]) => {
      if (rows.length === 0) return;
      const line = element("p", `${name} (${count(rows.length)}) `, "task-links");
      for (const other of rows.slice(0, 40)) {
        line.append(this.button(`${graph.name(other)} ${functionOf(data, graph, other)}`, `Task ${graph.name(other)}`, () => this.choose(other)));
      }
      if (rows.length > 40) line.append(` and ${count(rows.length - 40)} more`);
      this.chosen.append(line);
    };
    const parent = graph.known("parent", row);
    links("created by", parent === null ? [] : [parent]);
    links("depends on", graph.predecessors(row));
    links("others depend on it", graph.successors(row));
    this.chosen.append(this.button("show on the time line", "Shows the task on the time line (Enter)", () => this.line.show({ graph: graph.number, row }, true)));
  }

  /** The tasks of the cell that is open, those of the critical path first, then by slack. */
  private tasks(): void {
    const { graph, data, shownBand } = this;
    if (!shownBand || !graph.tasks || this.all.length === 0) return;
    const rows = graph.members(shownBand.code, shownBand.band);
    const slack = (row: number) => graph.known("slack", row) ?? Infinity;
    rows.sort((a, b) => Number(graph.critical(b)) - Number(graph.critical(a)) || slack(a) - slack(b) || a - b);
    const table = element("table", "", "cell-tasks");
    const head = element("tr");
    for (const [at, name] of ["task", "thread", "work", "waited for others", "waited when ready", "slack", "critical path"].entries()) {
      const cell = element("th", name, at > 1 && at < 6 ? "n" : "");
      cell.setAttribute("scope", "col");
      head.append(cell);
    }
    const body = document.createElement("tbody");
    for (const row of rows.slice(0, LISTED)) {
      const facts = new Map(taskEntries(data, graph, row));
      const line = document.createElement("tr");
      const name = element("th");
      name.setAttribute("scope", "row");
      name.append(this.button(graph.name(row), `Task ${graph.name(row)}`, () => this.choose(row)));
      line.append(name, element("td", facts.get("thread") ?? ""));
      for (const column of ["work", "waited for others", "waited when ready", "slack"]) line.append(element("td", facts.get(column) ?? "", "n"));
      line.append(element("td", facts.get("critical path") ?? ""));
      body.append(line);
    }
    const top = document.createElement("thead");
    top.append(head);
    table.append(top, body);
    const more = rows.length > LISTED ? ` Of ${count(rows.length)} tasks the first ${LISTED}.` : "";
    const label = data.timeline.codes[shownBand.code]?.label ?? "";
    this.chosen.append(element("p", `${label}, from level ${shownBand.band * graph.of.band_levels} on: ${count(rows.length)} tasks.${more}`, "line"));
    const scroll = element("div", "", "scroll");
    scroll.append(table);
    this.chosen.append(scroll);
  }
}
