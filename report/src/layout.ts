// Where rows of the time line are: threads or processors, then lanes.

import type { Timeline } from "./schema";

/** A row: a thread, a processor or a lane, or the name of a process. */
export interface Row {
  kind: "process" | "track" | "processor" | "lane";
  /** Its number among those of its kind. */
  number: number;
  /** First pixel, and pixels, of the whole list. */
  top: number;
  height: number;
  label: string;
}

/** All rows, and how high they are together. */
export interface Layout {
  rows: Row[];
  height: number;
}

/** Pixels of a row of a thread: fewer where there are many. */
function rowHeight(threads: number): number {
  if (threads <= 12) return 30;
  if (threads <= 32) return 22;
  return threads <= 128 ? 16 : 10;
}

/** The rows of a session. */
export function layout(timeline: Timeline, byProcessor: boolean, only: Set<number> | null): Layout {
  const rows: Row[] = [];
  let top = 0;
  const add = (kind: Row["kind"], number: number, height: number, label: string) => {
    rows.push({ kind, number, top, height, label });
    top += height;
  };
  const ofKernel = timeline.states[0] === "running";
  const several = timeline.processes.length > 1;
  const numbers = byProcessor ? (timeline.processors?.numbers ?? []) : [];
  for (const [row, number] of numbers.entries()) add("processor", row, rowHeight(numbers.length), `processor ${number}`);
  const high = rowHeight(timeline.tracks.filter((track) => only === null || only.has(track.process)).length);
  for (const [process, { program, pid }] of timeline.processes.entries()) {
    if (only !== null && !only.has(process)) continue;
    const own = byProcessor ? 0 : timeline.tracks.filter((track) => track.process === process).length;
    const used = own > 0 || timeline.lanes.some((lane) => lane.process === process);
    // The name of a thread that the kernel saw is its program's.
    if (several && used && !(ofKernel && own === 1)) add("process", process, 22, pid ? `${program} (${pid})` : program);
    for (const [number, track] of timeline.tracks.entries()) {
      if (!byProcessor && track.process === process) add("track", number, high, track.name);
    }
    for (const [number, lane] of timeline.lanes.entries()) {
      if (lane.process === process) add("lane", number, 44, lane.name);
    }
  }
  return { rows, height: top };
}

/** The row at a pixel. */
export function rowAt(layout: Layout, y: number): Row | null {
  return layout.rows.find((row) => y >= row.top && y < row.top + row.height) ?? null;
}
