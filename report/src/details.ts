// What is below the time line: the span under the pointer or the one that was clicked, and the time that is measured.

import { measure } from "./columns";
import type { Data } from "./data";
import { percent, time } from "./format";
import type { Graph } from "./graph";
import { taskEntries } from "./graph_panel";
import { spanAt } from "./timeline";
import type { SpanId, Window } from "./window";

/** An element with a text: names from the trace are text, never markup. */
export function element(tag: string, text = "", className = ""): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Names and values. */
export function list(entries: [string, string][]): HTMLElement {
  const made = element("dl", "", "evidence");
  for (const [name, value] of entries) {
    const pair = document.createElement("div");
    pair.append(element("dt", name), element("dd", value));
    made.append(pair);
  }
  return made;
}

/** The name of a thread, with its program's where there are several. */
export function threadName(data: Data, track: number): string {
  const { tracks, processes } = data.timeline;
  const of = tracks[track];
  if (!of) return "";
  return processes.length > 1 ? `${processes[of.process]?.program ?? ""}, ${of.name}` : of.name;
}

function spanEntries(data: Data, { track, span }: SpanId): [string, string][] {
  const spans = data.tracks[track];
  const { timeline } = data;
  if (!spans) return [];
  const begin = spans.begin[span] ?? 0;
  const end = spans.end[span] ?? 0;
  const wait = timeline.waits[spans.wait[span] ?? 0] ?? "";
  const code = timeline.codes[spans.code[span] ?? 0];
  const entries: [string, string][] = [
    ["thread", threadName(data, track)],
    ["state", timeline.states[spans.state[span] ?? 0] ?? ""],
  ];
  if (wait) entries.push(["in", wait]);
  if (code?.label) entries.push([code.task ? "task" : "region", code.label]);
  entries.push(["time", time(end - begin)], ["from", time(begin)], ["to", time(end)]);
  return entries;
}

/** Who ran in a slice of a processor. */
function sliceEntries(data: Data, { track, span }: SpanId): [string, string][] {
  const slices = data.processors?.tracks[track];
  const of = data.timeline.processors;
  if (!slices || !of) return [];
  const [begin, end] = [slices.begin[span] ?? 0, slices.end[span] ?? 0];
  const runner = of.runners[(slices.code[span] ?? 0) - 1];
  return [
    ["processor", `processor ${of.numbers[track] ?? ""}`],
    ["ran", runner ? `${runner.name}, thread ${runner.tid}` : "unknown"],
    ["of", runner ? `${runner.process}, process ${runner.pid}` : ""],
    ["for", time(end - begin)],
    ["then", of.then[slices.wait[span] ?? 0] ?? ""],
    ["from", time(begin)],
    ["to", time(end)],
  ];
}

/** How long processors ran threads of what was recorded, and others, in a time. */
function processorTable(data: Data, from: number, to: number): HTMLElement {
  const scroll = element("div", "", "scroll");
  const table = element("table", "", "measured-processors");
  const head = element("tr");
  for (const [at, name] of ["processor", "ran the program", "ran other programs"].entries()) {
    const cell = element("th", name, at > 0 ? "n" : "");
    cell.setAttribute("scope", "col");
    head.append(cell);
  }
  const body = document.createElement("tbody");
  for (const [row, number] of (data.timeline.processors?.numbers ?? []).entries()) {
    if (!data.processors || row >= 256) break;
    const { states, exact } = measure(data.processors, row, from, to);
    const line = document.createElement("tr");
    const name = element("th", `processor ${number}`);
    name.setAttribute("scope", "row");
    line.append(name);
    for (const ns of states.slice(0, 2)) {
      const cell = element("td", ns > 0 ? `${exact ? "" : "≈ "}${time(ns)}  ${percent(ns / (to - from))}` : "", "n");
      cell.dataset["ns"] = String(Math.round(ns));
      line.append(cell);
    }
    body.append(line);
  }
  const top = document.createElement("thead");
  top.append(head);
  table.append(top, body);
  scroll.append(table);
  return scroll;
}

/** The states of all threads, or of one, in a time. */
function rangeTable(data: Data, view: Window, from: number, to: number): HTMLElement {
  const { timeline } = data;
  const scroll = element("div", "", "scroll");
  const table = element("table", "", "measured");
  const head = element("tr");
  const rows = timeline.tracks.map(({ process }, track) => (view.shows(process) ? measure(data.threads, track, from, to) : null));
  const used = timeline.states.map((_, state) => state).filter((state) => state < 4 || total(state) > 0);
  function total(state: number): number {
    return rows.reduce((sum, row) => sum + (row?.states[state] ?? 0), 0);
  }
  for (const name of ["thread", ...used.map((state) => timeline.states[state] ?? "")]) {
    const cell = element("th", name, name === "thread" ? "" : "n");
    cell.setAttribute("scope", "col");
    head.append(cell);
  }
  const body = document.createElement("tbody");
  for (const [track, row] of rows.entries()) {
    if (!row) continue;
    if (body.rows.length >= 64) break;
    const line = document.createElement("tr");
    const name = element("th", threadName(data, track));
    name.setAttribute("scope", "row");
    line.append(name);
    for (const state of used) {
      const ns = row.states[state] ?? 0;
      const about = row.exact ? "" : "≈ ";
      const cell = element("td", ns > 0 ? `${about}${time(ns)}  ${percent(ns / (to - from))}` : "", "n");
      cell.dataset["ns"] = String(Math.round(ns));
      line.append(cell);
    }
    body.append(line);
  }
  const top = document.createElement("thead");
  top.append(head);
  table.append(top, body);
  scroll.append(table);
  return scroll;
}

/** The task that a span is of, with the way to its graph. */
function ofTask(data: Data, graph: Graph, row: number): HTMLElement {
  const line = element("div", "", "of-task");
  const button = element("button", "show in the task graph");
  button.setAttribute("type", "button");
  button.addEventListener("click", () => document.getElementById("graph")?.scrollIntoView({ block: "start" }));
  line.append(list(taskEntries(data, graph, row).filter(([name]) => name !== "function" && name !== "thread")), button);
  return line;
}

/** Keeps the details as they should be. */
export function details(data: Data, view: Window): HTMLElement {
  const box = element("div", "", "details");
  const hover = element("p", "", "hover");
  const chosen = element("div", "", "chosen");
  chosen.setAttribute("aria-live", "polite");
  box.append(hover, chosen);
  let shown = "";
  const update = () => {
    hover.textContent = pointed(data, view);
    const { selected, range, task, slice, byProcessor } = view;
    const key = JSON.stringify([selected, range, task, slice, byProcessor, view.only && [...view.only]]);
    if (key === shown) return;
    shown = key;
    chosen.replaceChildren();
    if (slice && byProcessor) chosen.append(list(sliceEntries(data, slice)));
    if (selected) chosen.append(list(spanEntries(data, selected)));
    const graph = task && data.graphs[task.graph];
    if (task && graph) chosen.append(ofTask(data, graph, task.row));
    if (range) {
      const entries: [string, string][] = [
        ["measured", time(range.to - range.from)],
        ["from", time(range.from)],
        ["to", time(range.to)],
      ];
      chosen.append(list(entries));
      chosen.append(byProcessor ? processorTable(data, range.from, range.to) : rangeTable(data, view, range.from, range.to));
    }
  };
  view.listen(update);
  update();
  return box;
}

/** One line on what is under the pointer. */
function pointed(data: Data, view: Window): string {
  const { pointer } = view;
  if (!pointer) return "Drag to measure, click to select, w a s d to zoom and move, ? for all keys.";
  const at = time(pointer.time);
  if (pointer.row !== null) {
    const slice = spanAt(data.processors?.tracks ?? [], pointer.row, pointer.time);
    const number = `processor ${data.timeline.processors?.numbers[pointer.row] ?? ""}`;
    return slice ? [at, ...sliceEntries(data, slice).map(([, text]) => text)].join(" · ") : `${at} · ${number}`;
  }
  if (pointer.track === null) return at;
  const found = spanAt(data.tracks, pointer.track, pointer.time);
  if (!found) return `${at} · ${threadName(data, pointer.track)}`;
  const entries = spanEntries(data, found).map(([, text]) => text);
  return [at, ...entries.slice(0, -2)].join(" · ");
}
