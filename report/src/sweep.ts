// The page of a sweep: maps of threads by input and curves over threads, of the program or of one of its regions.

import { scaleLinear, scaleLog } from "d3-scale";
import { count, percent, tick, time } from "./format";

interface Estimate {
  value: number;
  low: number;
  high: number;
}

interface Point {
  threads: number;
  runs: number;
  seconds: Estimate;
  speedup: number | null;
  efficiency: number | null;
  speedup_loss: number | null;
  serial_fraction: number | null;
  energy: { joules: Estimate; watts: number; energy_delay: number } | null;
  /** What was counted, by the event's name. */
  counters?: Record<string, Estimate>;
}

interface Series {
  name: string;
  points: Point[];
}

interface Subject {
  path: string[];
  series: Series[];
}

/** A number of each point, and how it is shown. */
interface Quantity {
  title: string;
  about: string;
  of: (point: Point, series: Series, at: number) => number | null;
  text: (value: number) => string;
  /** At an axis whose ticks are `step` apart. */
  axis?: (value: number, step: number) => string;
  /** The ends of the colours; without them, those of the values. */
  range?: [number, number];
  /** Smaller is better: colours are turned round. */
  small?: boolean;
  interval?: (point: Point) => Estimate | null;
  /** What it would be at best. */
  ideal?: (threads: number, first: number) => number;
}

const short = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** Efficiency by that of the point before. */
function kept(from: (series: Series, at: number) => Point | undefined): Quantity["of"] {
  return (point, series, at) => {
    const before = from(series, at)?.efficiency;
    return before && point.efficiency !== null ? point.efficiency / before : null;
  };
}

const QUANTITIES: Quantity[] = [
  {
    title: "Efficiency",
    about: "speedup per thread",
    of: (point) => point.efficiency,
    text: percent,
    range: [0, 1],
    ideal: () => 1,
  },
  {
    title: "Performance",
    about: "time of a run",
    of: (point) => point.seconds.value,
    text: (seconds) => time(seconds * 1e9),
    axis: (seconds, step) => tick(seconds * 1e9, step * 1e9),
    small: true,
    interval: (point) => point.seconds,
  },
  {
    title: "Speedup",
    about: "against the fewest threads",
    of: (point) => point.speedup,
    text: short,
    ideal: (threads) => threads,
  },
  {
    title: "Speedup loss",
    about: "what is missing to the ideal speedup",
    of: (point) => point.speedup_loss,
    text: short,
    small: true,
    ideal: () => 0,
  },
  {
    title: "Strong scalability",
    about: "efficiency by that of the next fewer threads, for the same input",
    of: kept((series, at) => series.points[at - 1]),
    text: percent,
    range: [0, 1],
    ideal: () => 1,
  },
  {
    title: "Scalability",
    about: "serial fraction of Karp and Flatt: where it grows with the threads, overhead does",
    of: (point) => point.serial_fraction,
    text: percent,
    range: [0, 1],
    small: true,
    ideal: () => 0,
  },
  {
    title: "Energy",
    about: "what the machine took meanwhile",
    of: (point) => point.energy?.joules.value ?? null,
    text: (joules) => `${short(joules)} J`,
    small: true,
    interval: (point) => point.energy?.joules ?? null,
  },
  {
    title: "Power",
    about: "average",
    of: (point) => point.energy?.watts ?? null,
    text: (watts) => `${short(watts)} W`,
    small: true,
  },
  {
    title: "Energy × time",
    about: "the energy-delay product",
    of: (point) => point.energy?.energy_delay ?? null,
    text: (product) => `${short(product)} J s`,
    small: true,
  },
];

/** Weak scalability goes along the diagonal: the next input on the next number of threads. */
function weak(subject: Subject): Quantity {
  const all = counts(subject);
  return {
    title: "Weak scalability",
    about: "efficiency by that of the input before on the next fewer threads",
    of: (point, series, at) => {
      const before = subject.series[subject.series.indexOf(series) - 1];
      const fewer = all[all.indexOf(point.threads) - 1];
      return kept(() => before?.points.find((other) => other.threads === fewer))(point, series, at);
    },
    text: percent,
    range: [0, 1],
    ideal: () => 1,
  };
}

/** A panel for each event that was counted. */
function counted(subject: Subject): Quantity[] {
  const points = subject.series.flatMap((series) => series.points);
  const names = [...new Set(points.flatMap((point) => Object.keys(point.counters ?? {})))].sort();
  return names.map((name) => {
    const event = name.split(":")[0]!;
    const isTime = event.endsWith("-clock") || event === "schedstat-run" || event === "schedstat-wait";
    return {
      title: name,
      about: isTime ? "of all threads together" : "events of all threads together",
      of: (point) => point.counters?.[name]?.value ?? null,
      text: isTime ? time : short,
      ...(isTime ? { axis: tick } : {}),
      small: true,
      interval: (point) => point.counters?.[name] ?? null,
    };
  });
}

// From dark blue over grey to yellow: told apart by everybody, and by their lightness alone (after Nuñez et al. 2018).
const STOPS: [number, number, number][] = [
  [0, 34, 78],
  [59, 73, 108],
  [112, 113, 115],
  [165, 156, 116],
  [254, 232, 56],
];

function colour(share: number): string {
  const place = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const at = Math.min(Math.floor(place), STOPS.length - 2);
  const [low, high] = [STOPS[at], STOPS[at + 1]] as [number[], number[]];
  const mixed = low.map((value, i) => Math.round(value + (high[i]! - value) * (place - at)));
  return `rgb(${mixed.join(",")})`;
}

const SVG = "http://www.w3.org/2000/svg";

function svg(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

function html<K extends keyof HTMLElementTagNameMap>(name: K, text?: string): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  return element;
}

const WIDTH = 360;
const HEIGHT = 240;
const LEFT = 52;
const BOTTOM = 34;
const TOP = 8;
const RIGHT = 10;
/** Steps between two points of a smoothed map. */
const STEPS = 12;

function elided(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** All numbers of threads, ascending. */
function counts(subject: Subject): number[] {
  const all = new Set(subject.series.flatMap((series) => series.points.map((point) => point.threads)));
  return [...all].sort((a, b) => a - b);
}

/** Values by row (threads) and column (series). */
function grid(subject: Subject, quantity: Quantity): (number | null)[][] {
  return counts(subject).map((threads) =>
    subject.series.map((series) => {
      const at = series.points.findIndex((point) => point.threads === threads);
      const point = series.points[at];
      return point ? quantity.of(point, series, at) : null;
    }),
  );
}

function shareOf(quantity: Quantity, values: number[]): (value: number) => number {
  const [low, high] = quantity.range ?? [Math.min(...values), Math.max(...values)];
  return (value) => {
    const share = high > low ? (value - low) / (high - low) : 1;
    return quantity.small ? 1 - share : share;
  };
}

/** Threads up, inputs to the right, the quantity as colour. */
function map(subject: Subject, quantity: Quantity, smooth: boolean): SVGElement | null {
  const cells = grid(subject, quantity);
  const values = cells.flat().filter((value) => value !== null);
  if (values.length < 2) return null;
  const share = shareOf(quantity, values);
  const [rows, columns] = [cells.length, subject.series.length];
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": quantity.title });
  const [wide, high] = [(WIDTH - LEFT - RIGHT) / columns, (HEIGHT - TOP - BOTTOM) / rows];
  const top = (row: number): number => TOP + (rows - 1 - row) * high;
  const rectangle = (x: number, y: number, w: number, h: number, value: number, title: string): void => {
    const cell = svg("rect", { x, y, width: w + 0.5, height: h + 0.5, fill: colour(share(value)) });
    cell.append(svg("title", {}, title));
    picture.append(cell);
  };
  const threads = counts(subject);
  const title = (row: number, column: number, value: number): string =>
    `${threads[row]} threads, ${subject.series[column]!.name || "the program"}: ${quantity.text(value)}`;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const value = cells[row]![column];
      if (value === null || value === undefined) continue;
      if (!smooth) {
        rectangle(LEFT + column * wide, top(row), wide, high, value, title(row, column, value));
        if (wide > 34 && high > 14) {
          const light = share(value) > 0.6 ? "#16191d" : "#ffffff";
          const place = { x: LEFT + (column + 0.5) * wide, y: top(row) + high / 2 + 4 };
          picture.append(svg("text", { ...place, fill: light, class: "cell" }, quantity.text(value)));
        }
        continue;
      }
      // Between the centres of four cells: bilinear. At the edge, and where one is missing, the nearest ones.
      for (let j = 0; j < STEPS; j++) {
        for (let i = 0; i < STEPS; i++) {
          const [dx, dy] = [(i + 0.5) / STEPS - 0.5, (j + 0.5) / STEPS - 0.5];
          const at = (r: number, c: number): number =>
            cells[r]?.[c] ?? cells[r]?.[column] ?? cells[row]?.[c] ?? value;
          const [c, r] = [column + Math.sign(dx), row + Math.sign(dy)];
          const [fx, fy] = [Math.abs(dx), Math.abs(dy)];
          const mixed =
            (1 - fx) * (1 - fy) * value + fx * (1 - fy) * at(row, c) + (1 - fx) * fy * at(r, column) + fx * fy * at(r, c);
          const y = top(row) + high * (1 - (j + 1) / STEPS);
          rectangle(LEFT + (column + i / STEPS) * wide, y, wide / STEPS, high / STEPS, mixed, title(row, column, value));
        }
      }
    }
  }
  threads.forEach((number, row) => {
    if (!smooth || row === 0 || row === rows - 1) {
      picture.append(svg("text", { x: LEFT - 6, y: top(row) + high / 2 + 4, class: "axis end" }, count(number)));
    }
  });
  subject.series.forEach((series, column) => {
    if (!smooth || column === 0 || column === columns - 1) {
      const label = elided(series.name, Math.max(3, Math.floor(wide / 6)));
      picture.append(svg("text", { x: LEFT + (column + 0.5) * wide, y: HEIGHT - BOTTOM + 14, class: "axis middle" }, label));
    }
  });
  picture.append(svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, class: "axis end" }, "input"));
  picture.append(svg("text", { x: 4, y: TOP + 8, class: "axis" }, "threads"));
  return picture;
}

/** The quantity over threads, a line for each series. */
function curves(subject: Subject, quantity: Quantity): SVGElement | null {
  const lines = subject.series.map((series) =>
    series.points.flatMap((point, at) => {
      const value = quantity.of(point, series, at);
      return value === null ? [] : [{ point, value }];
    }),
  );
  const all = lines.flat();
  if (all.length < 2) return null;
  const threads = [...new Set(all.map(({ point }) => point.threads))].sort((a, b) => a - b);
  if (threads.length < 2) return null;
  const [first, last] = [threads[0]!, threads[threads.length - 1]!];
  const ideal = quantity.ideal;
  const tops = all.map(({ point, value }) => quantity.interval?.(point)?.high ?? value);
  const bottoms = all.map(({ point, value }) => quantity.interval?.(point)?.low ?? value);
  if (ideal) tops.push(ideal(last, first));
  const x = scaleLog().base(2).domain([first, last]).range([LEFT + 8, WIDTH - RIGHT - 8]);
  const y = scaleLinear()
    .domain([Math.min(0, ...bottoms), Math.max(...tops)])
    .nice()
    .range([HEIGHT - BOTTOM, TOP + 4]);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": quantity.title });
  const ticks = y.ticks(5);
  const label = quantity.axis ?? quantity.text;
  for (const value of ticks) {
    const step = Math.abs((ticks[1] ?? value) - ticks[0]!);
    picture.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "grid" }));
    picture.append(svg("text", { x: LEFT - 6, y: y(value) + 4, class: "axis end" }, label(value, step)));
  }
  let free = -Infinity;
  for (const number of threads) {
    if (x(number) < free) continue;
    free = x(number) + 22;
    picture.append(svg("text", { x: x(number), y: HEIGHT - BOTTOM + 14, class: "axis middle" }, count(number)));
  }
  picture.append(svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, class: "axis end" }, "threads"));
  const path = (points: [number, number][]): string => points.map(([px, py], at) => `${at ? "L" : "M"}${px.toFixed(1)},${py.toFixed(1)}`).join("");
  if (ideal) {
    const steps = Array.from({ length: 33 }, (_, at) => first * (last / first) ** (at / 32));
    picture.append(svg("path", { d: path(steps.map((p) => [x(p), y(ideal(p, first))])), class: "ideal" }));
  }
  lines.forEach((line, at) => {
    const own = `curve code-${at % 10}`;
    picture.append(svg("path", { d: path(line.map(({ point, value }) => [x(point.threads), y(value)])), class: own }));
    for (const { point, value } of line) {
      const interval = quantity.interval?.(point);
      if (interval && point.runs > 1) {
        const place = { x1: x(point.threads), x2: x(point.threads), y1: y(interval.low), y2: y(interval.high) };
        picture.append(svg("line", { ...place, class: own }));
      }
      const dot = svg("circle", { cx: x(point.threads), cy: y(value), r: 3, class: `dot code-${at % 10}` });
      dot.append(svg("title", {}, `${subject.series[at]!.name || "the program"}, ${point.threads} threads: ${quantity.text(value)}`));
      picture.append(dot);
    }
  });
  return picture;
}

function panel(subject: Subject, quantity: Quantity, mode: string): HTMLElement | null {
  const pictures: (SVGElement | null)[] = [];
  if (mode === "curves") pictures.push(curves(subject, quantity));
  if (mode === "discrete" || mode === "both") pictures.push(map(subject, quantity, false));
  if (mode === "smoothed" || mode === "both") pictures.push(map(subject, quantity, true));
  const drawn = pictures.filter((picture) => picture !== null);
  if (drawn.length === 0) return null;
  const figure = html("figure");
  figure.className = "panel";
  figure.append(html("h3", quantity.title), html("p", quantity.about), ...drawn);
  return figure;
}

function main(): void {
  const data = JSON.parse(document.getElementById("sweep")!.textContent!) as { subjects: Subject[] };
  const which = document.getElementById("subject") as HTMLSelectElement;
  const how = document.getElementById("how") as HTMLSelectElement;
  const panels = document.getElementById("panels")!;
  const legend = document.getElementById("legend")!;
  data.subjects.forEach((subject, at) => {
    const depth = Math.max(0, subject.path.length - 1);
    const name = subject.path.length ? `${"  ".repeat(depth)}${subject.path[depth]}` : "the whole program";
    const option = html("option", name);
    option.value = String(at);
    which.append(option);
  });
  const whole = data.subjects[0];
  if (whole && whole.series.length < 2) {
    // One input has no map.
    how.value = "curves";
    how.disabled = true;
  }
  const draw = (): void => {
    const subject = data.subjects[Number(which.value)];
    panels.replaceChildren();
    legend.replaceChildren();
    if (!subject) return;
    const all = [...QUANTITIES.slice(0, 5), weak(subject), ...QUANTITIES.slice(5), ...counted(subject)];
    panels.append(...all.map((quantity) => panel(subject, quantity, how.value)).filter((figure) => figure !== null));
    if (!panels.childElementCount) panels.append(html("p", "Only one point was measured."));
    if (how.value === "curves" && subject.series.length > 1) {
      subject.series.forEach((series, at) => {
        const entry = html("li");
        const mark = html("i");
        mark.className = `code-${at % 10}`;
        entry.append(mark, series.name);
        legend.append(entry);
      });
    }
  };
  which.addEventListener("change", draw);
  how.addEventListener("change", draw);
  draw();
}

main();
