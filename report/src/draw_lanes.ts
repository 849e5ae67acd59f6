// Draws lanes: values over time below the rows of threads.

import { bisectLeft } from "d3-array";

import { GAP, LABELS } from "./canvas";
import type { Colours } from "./colours";
import type { Data, Points } from "./data";
import type { Row } from "./layout";
import type { Lane } from "./schema";
import type { Window } from "./window";

/** What is drawn, how, and in which colours. */
interface Drawn {
  data: Data;
  view: Window;
  colours: Colours;
}

/** Draws the values of a lane. */
export function drawLane(context: CanvasRenderingContext2D, { data, view, colours }: Drawn, row: Row, top: number, room: number): void {
  const lane = data.timeline.lanes[row.number];
  const columns = data.lanes[row.number];
  if (!lane || !columns) return;
  const high = row.height - GAP - 4;
  const least = Math.min(0, lane.least);
  const range = lane.most - least || 1;
  const y = (value: number) => top + 2 + high - ((value - least) / range) * high;
  const perPixel = (view.to - view.from) / room;
  const intervals = columns.least.length;
  context.fillStyle = colours.row;
  context.fillRect(LABELS, top, room, high + 4);
  const [low, highest] = [new Float64Array(room).fill(NaN), new Float64Array(room).fill(NaN)];
  const points = data.points[row.number];
  if (points && perPixel < lane.width_ns) {
    exact(view, points, lane, low, highest, perPixel);
    return values(context, colours, lane.step, [low, highest], y, top + 2 + high);
  }
  const first = Math.max(0, Math.floor(view.from / lane.width_ns));
  const last = Math.min(intervals - 1, Math.ceil(view.to / lane.width_ns));
  for (let at = first; at <= last; at++) {
    const [least, most] = [columns.least[at] ?? NaN, columns.most[at] ?? NaN];
    if (Number.isNaN(least)) continue;
    const from = (at * lane.width_ns - view.from) / perPixel;
    const to = from + lane.width_ns / perPixel;
    // A reading is at one moment of its interval, a step holds for all of it.
    const begin = lane.step ? Math.floor(from) : Math.floor((from + to) / 2);
    const end = lane.step ? Math.max(Math.ceil(to), begin + 1) : begin + 1;
    for (let x = Math.max(0, begin); x < Math.min(room, end); x++) {
      low[x] = Number.isNaN(low[x]) ? least : Math.min(low[x] ?? NaN, least);
      highest[x] = Number.isNaN(highest[x]) ? most : Math.max(highest[x] ?? NaN, most);
    }
  }
  values(context, colours, lane.step, [low, highest], y, top + 2 + high);
}

/** The least and the greatest value in each column of pixels, from the values themselves. */
function exact(view: Window, { time, value }: Points, lane: Lane, low: Float64Array, most: Float64Array, perPixel: number): void {
  const room = low.length;
  const set = (from: number, to: number, number: number) => {
    for (let x = Math.max(0, from); x < Math.min(room, to); x++) {
      low[x] = Math.min(Number.isNaN(low[x]) ? number : (low[x] ?? number), number);
      most[x] = Math.max(Number.isNaN(most[x]) ? number : (most[x] ?? number), number);
    }
  };
  for (let at = Math.max(0, bisectLeft(time, view.from) - 1); at < time.length; at++) {
    const begin = ((time[at] ?? 0) - view.from) / perPixel;
    if (begin > room) break;
    const until = at + 1 < time.length ? (time[at + 1] ?? 0) : lane.end_ns;
    const end = (until - view.from) / perPixel;
    const first = Math.floor(begin);
    set(first, lane.step ? Math.max(Math.ceil(end), first + 1) : first + 1, value[at] ?? NaN);
  }
}

/** Values by column of pixels: a line from each to the next, what is below it shaded where values hold. */
function values(
  context: CanvasRenderingContext2D,
  colours: Colours,
  step: boolean,
  [low, most]: [Float64Array, Float64Array],
  y: (value: number) => number,
  bottom: number,
): void {
  const ratio = context.getTransform().a;
  const snap = (x: number) => Math.round(x * ratio) / ratio;
  context.fillStyle = colours.lane;
  context.strokeStyle = colours.lane;
  context.lineWidth = 1.2;
  let before: [number, number] | null = null;
  for (let x = 0; x < low.length; x++) {
    const [least, largest] = [low[x] ?? NaN, most[x] ?? NaN];
    if (Number.isNaN(least)) continue;
    const [from, to] = [snap(LABELS + x), snap(LABELS + x + 1)];
    if (step) {
      context.globalAlpha = 0.35;
      context.fillRect(from, y(largest), to - from, bottom - y(largest));
      context.globalAlpha = 1;
      context.fillRect(from, y(largest), to - from, Math.max(1, y(least) - y(largest)));
      continue;
    }
    const middle: [number, number] = [from, y((least + largest) / 2)];
    context.beginPath();
    context.moveTo(...(before ?? middle));
    context.lineTo(...middle);
    context.stroke();
    context.fillRect(from - 1, y(largest) - 1, 2, Math.max(2, y(least) - y(largest)));
    before = middle;
  }
}
