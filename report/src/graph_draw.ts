// Pictures of task graphs: a box for each task of a small one, a cell for all tasks of a function and level of a large one.

import { ofCode, type Colours } from "./colours";
import type { Data } from "./data";
import { short } from "./draw";
import { count, time } from "./format";
import type { Graph } from "./graph";

/** More tasks or dependences are drawn as cells. */
const MOST_TASKS = 400;
const MOST_EDGES = 4000;
/** Box of a task, and from one to the next. */
const BOX = { width: 142, height: 22 };
const STEP = { x: 196, y: 30 };
/** Cells of a large graph. */
const CELL = { height: 24, label: 250, least: 12, most: 56 };

const SVG = "http://www.w3.org/2000/svg";

function make<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>, parent?: Element): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  parent?.append(made);
  return made;
}

function text(parent: Element, content: string, x: number, y: number, className = ""): SVGTextElement {
  const made = make("text", className ? { x, y, class: className } : { x, y }, parent);
  made.textContent = content;
  return made;
}

function titled(element: Element, content: string): void {
  make("title", {}, element).textContent = content;
}

/** A picture of this size; larger where the page's text is. */
function picture(width: number, height: number, className: string, label: string): SVGSVGElement {
  const scale = pageScale();
  const svg = make("svg", { width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}`, role: "img", class: className });
  svg.setAttribute("aria-label", label);
  return svg;
}

/** Pixels of the page for one of the picture. */
function pageScale(): number {
  return parseFloat(getComputedStyle(document.body).fontSize) / 14;
}

/** Whether every task has a box. */
export function isSmall(graph: Graph): boolean {
  return graph.rows > 0 && graph.rows <= MOST_TASKS && graph.edges <= MOST_EDGES;
}

/** The name of a task's function. */
export function functionOf(data: Data, graph: Graph, row: number): string {
  if (graph.tasks?.kind[row] === 2) return "taskwait depend";
  const label = data.timeline.codes[graph.code(row)]?.label;
  return label ? short(label) : "task";
}

/** The name of a task's function in the room of a box: the line tells functions apart that were cut out of one. */
function brief(name: string): string {
  const parts = /^(.*?) .*(:\d+)$/.exec(name);
  const letters = Array.from(parts?.[1] ?? name);
  const head = letters.length > 11 ? `${letters.slice(0, 10).join("")}…` : letters.join("");
  return head + (parts?.[2] ?? "");
}

/** What a picture leads to. */
export interface Picture {
  svg: SVGSVGElement;
  /** Boxes by row. */
  boxes: Map<number, SVGElement>;
}

/** Columns of rows, from left to right, as boxes with the dependences between them. */
function boxes(data: Data, colours: Colours, graph: Graph, columns: number[][], label: string): Picture {
  const places = new Map<number, [number, number]>();
  const high = Math.max(1, ...columns.map((column) => column.length));
  const height = high * STEP.y + 12;
  for (const [x, column] of columns.entries()) {
    const top = ((high - column.length) * STEP.y) / 2 + 8;
    for (const [y, row] of column.entries()) places.set(row, [x * STEP.x + 6, top + y * STEP.y]);
  }
  const width = columns.length * STEP.x - (STEP.x - BOX.width) + 12;
  const svg = picture(width, height, "tasks", label);
  for (const [row, [x, y]] of places) {
    for (const before of graph.predecessors(row)) {
      const from = places.get(before);
      if (!from) continue;
      const [left, right] = [from[0] + BOX.width, x];
      const bend = Math.max(20, (right - left) / 2);
      const [a, b] = [from[1] + BOX.height / 2, y + BOX.height / 2];
      const critical = graph.critical(row) && graph.critical(before);
      const line = `M${left},${a}C${left + bend},${a} ${right - bend},${b} ${right},${b}`;
      make("path", { d: line, class: critical ? "edge critical" : "edge", "data-from": before, "data-to": row }, svg);
    }
  }
  const found = new Map<number, SVGElement>();
  for (const [row, [x, y]] of places) {
    const box = make("svg", { x: x - 2, y: y - 2, width: BOX.width + 4, height: BOX.height + 4, class: "task", "data-row": row }, svg);
    if (graph.critical(row)) box.classList.add("critical");
    if (graph.cancelled(row)) box.classList.add("cancelled");
    const rect = make("rect", { x: 2, y: 2, width: BOX.width, height: BOX.height, rx: 4 }, box);
    rect.style.fill = graph.code(row) > 0 ? ofCode(colours, graph.code(row)) : colours.row;
    const inner = make("svg", { x: 6, y: 2, width: BOX.width - 8, height: BOX.height }, box);
    text(inner, `${graph.name(row)} ${brief(functionOf(data, graph, row))}`, 0, 15);
    const slack = graph.known("slack", row);
    const facts = [`work ${time(graph.tasks?.work[row] ?? 0)}`, slack === null ? "" : `slack ${time(slack)}`, graph.critical(row) ? "on the critical path" : ""];
    titled(box, [`${graph.name(row)} ${data.timeline.codes[graph.code(row)]?.label ?? ""}`, ...facts.filter(Boolean)].join(", "));
    found.set(row, box);
  }
  return { svg, boxes: found };
}

/** All tasks of a small graph: levels from left to right. */
export function small(data: Data, colours: Colours, graph: Graph): Picture {
  const columns: number[][] = [];
  const unknown: number[] = [];
  for (let row = 0; row < graph.rows; row++) {
    const level = graph.known("level", row);
    if (level === null) unknown.push(row);
    else (columns[level] ??= []).push(row);
  }
  const all = Array.from(columns, (column) => column ?? []);
  if (unknown.length > 0) all.push(unknown);
  // A task stands at the mean height of those it depends on: fewer lines cross.
  const height = new Map<number, number>();
  for (const column of all) {
    const wish = new Map<number, number>();
    for (const [at, row] of column.entries()) {
      const before = graph.predecessors(row).flatMap((from) => height.get(from) ?? []);
      const mean = before.length > 0 ? before.reduce((a, b) => a + b, 0) / before.length : at - column.length / 2;
      wish.set(row, mean);
    }
    column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || a - b);
    for (const [at, row] of column.entries()) height.set(row, at - column.length / 2);
  }
  return boxes(data, colours, graph, all, "Tasks by level, from left to right, and their dependences");
}

/** Neighbours of a task that are drawn. */
const NEIGHBOURS = 16;

/** A task between those it depends on and those that depend on it: the ones with the least slack. */
export function around(data: Data, colours: Colours, graph: Graph, row: number): Picture {
  const nearest = (rows: number[]) => {
    const slack = (of: number) => graph.known("slack", of) ?? Infinity;
    return rows.sort((a, b) => slack(a) - slack(b) || a - b).slice(0, NEIGHBOURS);
  };
  const columns = [nearest(graph.predecessors(row)), [row], nearest(graph.successors(row))];
  return boxes(data, colours, graph, columns, "The task, what it depends on and what depends on it");
}

/** A cell of a large graph. */
export interface Cell {
  code: number;
  band: number;
  x: number;
  y: number;
  tasks: number;
  box: SVGElement;
}

/** All tasks by function and level. */
export function cells(data: Data, colours: Colours, graph: Graph, room: number): { svg: SVGSVGElement; cells: Cell[] } {
  const { code, band, tasks } = graph.cells;
  const functions = Array.from(new Set(code));
  const wide = Math.min(CELL.most, Math.max(CELL.least, Math.floor((room / pageScale() - CELL.label - 40) / Math.max(1, graph.of.bands))));
  const width = CELL.label + graph.of.bands * wide + 8;
  const height = functions.length * CELL.height + 26;
  const svg = picture(width, height, "cells", "Tasks by function and level");
  for (const [y, number] of functions.entries()) {
    const label = data.timeline.codes[number]?.label ?? "";
    const inner = make("svg", { x: 0, y: y * CELL.height, width: CELL.label - 10, height: CELL.height }, svg);
    titled(inner, label);
    text(inner, short(label), 0, 16);
  }
  const critical = new Set<string>();
  for (let row = 0; row < graph.rows; row++) {
    const level = graph.known("level", row);
    if (graph.critical(row) && level !== null) critical.add(`${graph.code(row)} ${Math.floor(level / graph.of.band_levels)}`);
  }
  const most = Math.log1p(tasks.reduce((a, b) => Math.max(a, b), 1));
  const found: Cell[] = [];
  for (let at = 0; at < code.length; at++) {
    const [number, column, here] = [code[at] ?? 0, band[at] ?? 0, tasks[at] ?? 0];
    const [x, y] = [CELL.label + column * wide, functions.indexOf(number) * CELL.height];
    const box = make("svg", { x, y, width: wide, height: CELL.height, class: "cell" }, svg);
    const marked = critical.has(`${number} ${column}`);
    if (marked) box.classList.add("critical");
    const rect = make("rect", { x: 1, y: 1, width: wide - 2, height: CELL.height - 2, rx: 2 }, box);
    rect.style.fill = ofCode(colours, number);
    rect.style.fillOpacity = String(0.25 + (0.75 * Math.log1p(here)) / most);
    if (marked) make("rect", { x: 1, y: CELL.height - 5, width: wide - 2, height: 4, class: "path" }, box);
    if (wide >= 34 && String(here).length * 7 < wide - 4) text(box, String(here), wide / 2, 16, "number");
    const from = column * graph.of.band_levels;
    const levels = graph.of.band_levels === 1 ? `level ${from}` : `levels ${from} to ${from + graph.of.band_levels - 1}`;
    titled(box, `${data.timeline.codes[number]?.label ?? ""}: ${count(here)} tasks, ${levels}${marked ? ", on the critical path" : ""}`);
    found.push({ code: number, band: column, x: column, y: functions.indexOf(number), tasks: here, box });
  }
  const last = Math.max(0, graph.of.bands * graph.of.band_levels - 1);
  const axis = functions.length * CELL.height + 17;
  text(svg, "level 0", CELL.label, axis, "axis-label");
  const end = text(svg, `level ${Math.min(last, Math.max(0, graph.of.region.span_hops - 1))}`, width - 8, axis, "axis-label");
  end.setAttribute("text-anchor", "end");
  return { svg, cells: found };
}
