// Reads what the page carries: JSON, and columns of numbers in one compressed block.

import { Graph } from "./graph";
import type { Level, Stored, Tables, Timeline } from "./schema";

/** The columns of a table. */
export type Columns<T extends keyof Tables> = Tables[T];

/** The spans of one track. Times are ns since the session's begin. */
export interface TrackSpans {
  begin: Float64Array;
  end: Float64Array;
  state: Uint8Array;
  wait: Uint8Array;
  code: Uint16Array;
}

/** Rows of the time line with bins and spans: threads, or processors. */
export interface Source {
  levels: Level[];
  columns: Columns<"bins">[];
  tracks: TrackSpans[];
  /** Spans of at least this length are all there; 0: all are. */
  exact_from_ns: number;
  end_ns: number;
}

/** Every value of a lane. */
export interface Points {
  time: Float64Array;
  value: Float64Array;
}

/** Everything that the time line shows. */
export interface Data {
  timeline: Timeline;
  /** Threads are those that the kernel saw: the programs recorded nothing themselves. */
  ofKernel: boolean;
  threads: Source;
  processors: Source | null;
  tracks: TrackSpans[];
  lanes: Columns<"lane">[];
  points: (Points | null)[];
  graphs: Graph[];
}

function text(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** The bytes of text in base 64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const modern = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (modern.fromBase64) {
    return modern.fromBase64(base64);
  }
  const raw = atob(base64);
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) {
    bytes[at] = raw.charCodeAt(at);
  }
  return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function varints(block: ArrayBuffer, at: number, rows: number): Float64Array {
  const bytes = new Uint8Array(block, at);
  const values = new Float64Array(rows);
  let next = 0;
  for (let row = 0; row < rows; row++) {
    let value = 0;
    let factor = 1;
    let byte = bytes[next++] ?? 0;
    while (byte >= 0x80) {
      value += (byte & 0x7f) * factor;
      factor *= 128;
      byte = bytes[next++] ?? 0;
    }
    values[row] = value + byte * factor;
  }
  return values;
}

function columns<T extends keyof Tables>(block: ArrayBuffer, stored: Stored): Columns<T> {
  const found: Record<string, unknown> = {};
  for (const { name, kind, at } of stored.columns) {
    switch (kind) {
      case "u8":
        found[name] = new Uint8Array(block, at, stored.rows);
        break;
      case "u16":
        found[name] = new Uint16Array(block, at, stored.rows);
        break;
      case "u32":
        found[name] = new Uint32Array(block, at, stored.rows);
        break;
      case "f64":
        found[name] = new Float64Array(block, at, stored.rows);
        break;
      case "varint":
        found[name] = varints(block, at, stored.rows);
        break;
    }
  }
  return found as Columns<T>;
}

function perTrack(counts: number[], spans: Columns<"spans">): TrackSpans[] {
  let first = 0;
  return counts.map((count) => {
    const begin = new Float64Array(count);
    const end = new Float64Array(count);
    let now = 0;
    for (let at = 0; at < count; at++) {
      now += spans.gap[first + at] ?? 0;
      begin[at] = now;
      now += spans.length[first + at] ?? 0;
      end[at] = now;
    }
    const last = first + count;
    const track = {
      begin,
      end,
      state: spans.state.subarray(first, last),
      wait: spans.wait.subarray(first, last),
      code: spans.code.subarray(first, last),
    };
    first = last;
    return track;
  });
}

function points({ gap, value }: Columns<"points">): Points {
  const time = new Float64Array(gap.length);
  let now = 0;
  for (let at = 0; at < gap.length; at++) {
    now += gap[at] ?? 0;
    time[at] = now;
  }
  return { time, value };
}

/** Reads all data of the page. */
export async function read(): Promise<Data> {
  const timeline = JSON.parse(text("timeline-data")) as Timeline;
  const block = await inflate(bytesOf(text("columns")));
  const source = (levels: Level[], spans: { exact_from_ns: number; table: Stored }, counts: number[]): Source => ({
    levels,
    columns: levels.map((level) => columns<"bins">(block, level.table)),
    tracks: perTrack(counts, columns<"spans">(block, spans.table)),
    exact_from_ns: spans.exact_from_ns,
    end_ns: timeline.end_ns,
  });
  const { processors } = timeline;
  const threads = source(
    timeline.levels,
    timeline.spans,
    timeline.tracks.map((track) => track.spans),
  );
  return {
    timeline,
    ofKernel: timeline.states[0] === "running",
    threads,
    processors: processors && source(processors.levels, processors.spans, processors.counts),
    tracks: threads.tracks,
    lanes: timeline.lanes.map((lane) => columns<"lane">(block, lane.table)),
    points: timeline.lanes.map((lane) => lane.points && points(columns<"points">(block, lane.points))),
    graphs: timeline.graphs.map((of, number) => {
      const tasks = of.tasks && columns<"tasks">(block, of.tasks);
      const edges = of.edges && columns<"edges">(block, of.edges);
      return new Graph(number, of, columns<"cells">(block, of.cells), tasks, edges);
    }),
  };
}
