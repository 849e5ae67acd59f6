// Rows by processor and lanes of series, against what `instr processors` writes.

import { isDeepStrictEqual } from "node:util";

import { columns } from "./common.mjs";

/** Lines of comma-separated values by the names of their heading; no value of ours has a comma. */
export function table(text) {
  const [heads, ...lines] = text.trimEnd().split("\n").map((line) => line.split(","));
  return lines.map((line) => Object.fromEntries(heads.map((head, at) => [head, line[at]])));
}

/** Rows by processor and lanes of series are what `instr processors` says. */
export async function kernel({ page, drawn, threads, ensure }, { before, slices, series }) {
  const timeline = JSON.parse(await page.textContent("#timeline-data"));
  const { processors, end_ns: end } = timeline;
  const place = (ns) => Math.min(Math.max(Number(ns) - before, 0), end);
  const all = table(slices).map((slice) => ({ ...slice, begin: place(slice.begin_ns), end: place(slice.end_ns) }));
  const shown = all.filter((slice) => slice.begin < slice.end);
  ensure(shown.length > 0, "no slice is on the time line");
  const spans = await columns(page, processors.spans.table);
  ensure(processors.spans.exact_from_ns === 0 && processors.spans.table.rows === shown.length, `${processors.spans.table.rows} slices are in the page, not ${shown.length}`);
  let next = 0;
  for (const [row, number] of processors.numbers.entries()) {
    const own = shown.filter((slice) => Number(slice.processor) === number);
    ensure(processors.counts[row] === own.length, `processor ${number} has ${processors.counts[row]} slices, not ${own.length}`);
    let now = 0;
    for (const slice of own) {
      now += spans.gap[next];
      const runner = processors.runners[spans.code[next] - 1];
      const found = [now, now + spans.length[next], runner.tid, runner.name, processors.then[spans.wait[next]]];
      const expected = [slice.begin, slice.end, Number(slice.tid), slice.name, slice.then];
      ensure(isDeepStrictEqual(found, expected), `processor ${number} ran ${found}, not ${expected}`);
      const thread = threads.findIndex((thread) => thread.os_tid === runner.tid);
      ensure(thread < 0 ? runner.track === null : runner.track === thread, `thread ${runner.tid} is on row ${runner.track}, not ${thread}`);
      now += spans.length[next++];
    }
  }
  ensure(shown.some((slice) => threads.some((thread) => String(thread.os_tid) === slice.tid)), "no thread of the trace was seen on a processor");
  const levels = processors.levels[0];
  const bins = await columns(page, levels.table);
  for (const [row, number] of processors.numbers.entries()) {
    const own = shown.filter((slice) => Number(slice.processor) === number);
    const busy = own.reduce((sum, slice) => sum + slice.end - slice.begin, 0);
    const both = [bins.useful, bins.sync].map((column) => column.slice(row * levels.bins, (row + 1) * levels.bins));
    const sum = both.flat().reduce((a, b) => a + b, 0) * levels.unit_ns;
    ensure(sum === busy, `bins of processor ${number} have ${sum} ns, not ${busy}`);
  }
  // As people see it: the rows, and what is measured over the whole time.
  await page.keyboard.press("Escape");
  await drawn.focus();
  await page.keyboard.press("0");
  await page.keyboard.press("p");
  ensure((await page.locator("select.rows-of").inputValue()) === "processors", "p does not change the rows");
  const rows = page.locator("canvas.rows");
  await rows.scrollIntoViewIfNeeded();
  const box = await rows.boundingBox();
  await page.mouse.move(box.x + 20, box.y + 15);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + 15);
  await page.mouse.move(box.x + box.width + 300, box.y + 15);
  await page.mouse.up();
  for (const [row, number] of processors.numbers.entries()) {
    const own = shown.filter((slice) => Number(slice.processor) === number && slice.application !== "");
    const busy = own.reduce((sum, slice) => sum + slice.end - slice.begin, 0);
    const cell = page.locator(".measured-processors tbody tr").nth(row).locator("td").first();
    const ns = Number(await cell.getAttribute("data-ns"));
    ensure(ns === busy, `processor ${number} ran the program for ${ns} ns, not ${busy}`);
  }
  for (const colour of ["code", "thread", "application", "state"]) await page.selectOption(".bar select.colouring", colour);
  await drawn.focus();
  await page.keyboard.press("Escape");
  const longest = shown.slice().sort((a, b) => b.end - b.begin - (a.end - a.begin))[0];
  const left = box.x + 150;
  const x = left + ((longest.begin + longest.end) / 2 / end) * (box.width - 150);
  const y = (await rows.boundingBox()).y + (processors.numbers.indexOf(Number(longest.processor)) + 0.5) * 30;
  await page.mouse.click(x, y);
  const said = await page.textContent(".details .chosen");
  ensure(said.includes(`thread ${longest.tid}`), `a click on thread ${longest.tid} selects ${said}`);
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  // Levels as they were read.
  const read = table(series).filter((value) => value.series === "resident memory");
  const lanes = timeline.lanes.filter((lane) => lane.name.startsWith("resident memory"));
  ensure(lanes.length > 0, "no lane has the resident memory");
  const expected = new Set(read.map((value) => `${place(value.time_ns)} ${value.value}`));
  for (const lane of lanes) {
    const { gap, value } = await columns(page, lane.points);
    let now = 0;
    for (const [at, own] of value.entries()) {
      now += gap[at];
      ensure(expected.has(`${now} ${own}`), `the resident memory was not ${own} at ${now}`);
    }
  }
  const held = table(series).filter((value) => value.series === "minor faults");
  const faults = timeline.lanes.find((lane) => lane.name.startsWith("minor faults"));
  if (faults?.points) {
    // A rate over its time is what the total grew by.
    const { gap, value } = await columns(page, faults.points);
    const pid = held[0].pid;
    const own = held.filter((value) => value.pid === pid);
    let [now, grown] = [0, 0];
    const times = gap.map((by) => (now += by));
    for (const [at, rate] of value.entries()) grown += (rate * ((times[at + 1] ?? faults.end_ns) - times[at])) / 1e9;
    const whole = Number(own.at(-1).value) - Number(own[0].value);
    ensure(Number(own[0].time_ns) < before || Math.abs(grown - whole) <= 0.02 * whole + 1, `there were ${grown} minor faults, not ${whole}`);
  }
}
