// What checks of a report need: its tables, its units, the time in view.

import { inflateSync } from "node:zlib";

/** The units of the tools, written once more: the page's own are not asked. */
export function time(ns) {
  if (ns === 0) return "0";
  if (ns < 1000) return `${ns} ns`;
  if (ns < 999_995) return `${(ns / 1e3).toFixed(2)} us`;
  if (ns < 999_995_000) return `${(ns / 1e6).toFixed(2)} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}
export const close = (a, b) => {
  // Rust rounds halves to even where JavaScript rounds them up: the last digit may differ.
  const [x, y] = [a, b].map((text) => /^([\d.]+) (.*)$/.exec(text));
  return a === b || (x && y && x[2] === y[2] && Math.abs(x[1] - y[1]) < 0.0101);
};

/** The time that is in view. */
export async function range(page, drawn) {
  // The page draws before its next picture.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const of = (name) => drawn.getAttribute(name).then(Number);
  return { from: await of("data-from"), to: await of("data-to") };
}

/** The tables of the page, read without its script: the columns that `stored` says. */
export async function columns(page, stored) {
  const base64 = await page.textContent("#columns");
  const block = inflateSync(Buffer.from(base64, "base64"));
  const sizes = { u8: 1, u16: 2, u32: 4, f64: 8 };
  const readers = { u8: "readUInt8", u16: "readUInt16LE", u32: "readUInt32LE", f64: "readDoubleLE" };
  const table = {};
  for (const { name, kind, at } of stored.columns) {
    let next = at;
    const one = () => {
      if (kind !== "varint") {
        next += sizes[kind];
        return block[readers[kind]](next - sizes[kind]);
      }
      let [value, factor] = [0, 1];
      for (;;) {
        const byte = block[next++];
        value += (byte & 0x7f) * factor;
        factor *= 128;
        if (byte < 0x80) return value;
      }
    };
    table[name] = Array.from({ length: stored.rows }, one);
  }
  return table;
}
