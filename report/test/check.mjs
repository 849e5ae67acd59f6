// Opens a report in Chromium and uses it as people do: `check.mjs PAGE SUMMARY [GRAPH [KERNEL]]`, where SUMMARY is what `instr summary --json` wrote and GRAPH what
// `instr graph --format json` did. KERNEL is JSON with what `instr processors` writes: `slices` and `series`, and `before`, the ns from their begin to that of the time line.
// What is wrong goes to standard error, one line each, and the status is 1.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { inflateSync } from "node:zlib";

import { chromium } from "playwright-core";

const [page_file, summary_file, graph_file, kernel_file] = process.argv.slice(2);
const graph = graph_file ? JSON.parse(readFileSync(graph_file, "utf8")) : null;
const summary = JSON.parse(readFileSync(summary_file, "utf8"));
const processes = [];
const walk = (one) => {
  processes.push(one);
  one.children.forEach(walk);
};
(Array.isArray(summary) ? summary : [summary]).forEach(walk);
const threads = processes.flatMap((one) => one.threads);
const url = pathToFileURL(page_file).href;
const wrong = [];
const ensure = (holds, what) => holds || wrong.push(what);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

/** A page that notes what goes wrong in it, and what it asks for. */
async function open(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error}`));
  page.on("request", (request) => request.url() === url || wrong.push(`asks for ${request.url().slice(0, 100)}`));
  await page.goto(url);
  return page;
}

const page = await open({});
await page.waitForSelector("html[data-ready]", { timeout: 20_000 });
ensure((await page.getAttribute("html", "data-ready")) === "1", "the script has failed");

const carried = JSON.parse(await page.textContent("#summary"));
const comparable = (json) => JSON.parse(JSON.stringify(json));
ensure(isDeepStrictEqual(carried, comparable(summary)), "the page does not carry the summary");
ensure((await page.locator("img, iframe, object, embed, link").count()) === 0, "there are elements that no report has");
ensure((await page.evaluate(() => globalThis.hacked)) === undefined, "a name was run as a script");

const first = processes[0];
ensure((await page.textContent("h1")).trim() === first.program, "the title is not the program");
if (first.verdict) {
  const said = (await page.textContent(".finding.first .text")).trim().toLowerCase();
  ensure(said === `${first.verdict.text}.`.toLowerCase(), `the first finding is not the verdict: ${said}`);
  if (first.verdict.advice) {
    const advice = await page.textContent(".finding.first .advice");
    ensure(advice.includes(first.verdict.advice), "the first finding has not the advice");
  }
}

/** The units of the tools, written once more: the page's own are not asked. */
function time(ns) {
  if (ns === 0) return "0";
  if (ns < 1000) return `${ns} ns`;
  if (ns < 999_995) return `${(ns / 1e3).toFixed(2)} us`;
  if (ns < 999_995_000) return `${(ns / 1e6).toFixed(2)} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}
const close = (a, b) => {
  // Rust rounds halves to even where JavaScript rounds them up: the last digit may differ.
  const [x, y] = [a, b].map((text) => /^([\d.]+) (.*)$/.exec(text));
  return a === b || (x && y && x[2] === y[2] && Math.abs(x[1] - y[1]) < 0.0101);
};

if (first.parallel_regions.length > 0) {
  const rows = page.locator('details[data-section="regions"]').first().locator("table").first().locator("tbody tr");
  ensure((await rows.count()) >= Math.min(first.parallel_regions.length, 200), "regions are missing");
  const heads = await page.locator('details[data-section="regions"]').first().locator("table").first().locator("thead th").allTextContents();
  for (const [at, region] of first.parallel_regions.slice(0, 5).entries()) {
    const cells = await rows.nth(at).locator("th, td").allTextContents();
    const shown = cells[heads.indexOf("total")];
    ensure(close(shown, time(region.total_ns)), `region ${at} takes ${shown}, not ${time(region.total_ns)}`);
  }
}
for (const [at, task] of first.task_functions.slice(0, 5).entries()) {
  const table = page.locator('details[data-section="tasks"]').first().locator("table").first();
  const heads = await table.locator("thead th").allTextContents();
  const cells = await table.locator("tbody tr").nth(at).locator("th, td").allTextContents();
  const executed = cells[heads.indexOf("executed")].replace(/\s/g, "");
  ensure(executed === String(task.executed), `task ${at} was executed ${executed} times, not ${task.executed}`);
}

if (processes.length === 1 && first.task_functions.length > 0 && first.task_functions.length <= 40 && (await page.locator("#tasks").count()) > 0) {
  const shown = await page.locator("#tasks tbody tr > td:nth-child(2)").allTextContents();
  const sum = shown.reduce((sum, text) => sum + Number(text.replace(/\s/g, "")), 0);
  ensure(sum === first.tasks.executed, `${sum} tasks stand by level, not ${first.tasks.executed}`);
}
if (first.samples?.paths.length > 0) {
  const boxes = await page.locator(".flame svg > title").allTextContents();
  const outermost = first.samples.paths[0].functions.at(-1);
  ensure(boxes.some((title) => title.startsWith(`${outermost}: `)), `${outermost} is in no box of the flame graph`);
}

const drawn = page.locator(".canvases");
if (threads.length > 0 && (await drawn.count()) > 0) await use();
else ensure(threads.length === 0, "there is no time line");

async function range() {
  // The page draws before its next picture.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const of = (name) => drawn.getAttribute(name).then(Number);
  return { from: await of("data-from"), to: await of("data-to") };
}

async function use() {
  const whole = await range();
  ensure(whole.from === 0, `the time line begins at ${whole.from}`);
  await drawn.focus();
  await page.keyboard.press("w");
  const closer = await range();
  const factor = (whole.to - whole.from) / (closer.to - closer.from);
  ensure(Math.abs(factor - 1.5) < 0.01 || closer.to - closer.from <= 21, `w zooms by ${factor}`);
  await page.keyboard.press("d");
  const right = await range();
  ensure(right.from > closer.from || right.to === whole.to, "d does not move to the right");
  await page.keyboard.press("a");
  await page.keyboard.press("s");
  await page.keyboard.press("0");
  const again = await range();
  ensure(isDeepStrictEqual(again, whole), "0 does not show all");

  // A drag over everything measures all: the states of each thread are those of the summary.
  const rows = page.locator("canvas.rows");
  await rows.scrollIntoViewIfNeeded();
  const box = await rows.boundingBox();
  await page.mouse.move(box.x + 20, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2);
  await page.mouse.move(box.x + box.width + 300, box.y + box.height / 2);
  await page.mouse.up();
  const names = await page.locator(".measured thead th").allTextContents();
  const field = { useful: "useful_ns", synchronization: "sync_ns", scheduling: "sched_ns", idle: "idle_ns", flush: "flush_ns" };
  const bins_unit = 1;
  for (const [at, thread] of threads.slice(0, 64).entries()) {
    const cells = page.locator(".measured tbody tr").nth(at).locator("td");
    for (const [column, name] of names.slice(1).entries()) {
      const ns = Number(await cells.nth(column).getAttribute("data-ns"));
      const error = Math.abs(ns - thread[field[name]]);
      ensure(error <= bins_unit, `thread ${at} is ${name} for ${ns} ns, not ${thread[field[name]]}`);
    }
  }
  await page.keyboard.press("Escape");
  ensure((await page.locator(".measured").count()) === 0, "Escape does not end the measurement");

  // A finding leads to its place.
  const links = page.locator("button.goto");
  for (let at = 0; at < Math.min(await links.count(), 3); at++) {
    const link = links.nth(at);
    const [from, to] = [Number(await link.getAttribute("data-from")), Number(await link.getAttribute("data-to"))];
    await link.click();
    const shown = await range();
    ensure(shown.from <= from && shown.to >= to, `link ${at} to ${from}…${to} shows ${shown.from}…${shown.to}`);
    const room = (shown.to - shown.from) / Math.max(to - from, 20);
    ensure(room < 2.1, `link ${at} shows ${room} times its time`);
    ensure(await page.locator("#time-line").evaluate((element) => element.getBoundingClientRect().top < innerHeight), "the time line is not in view");
  }
  await page.keyboard.press("0");

  // The search finds a body or a wait by a part of its name, and steps through its spans.
  const timeline = JSON.parse(await page.textContent("#timeline-data"));
  const name = timeline.codes.map((code) => code.label).find((label) => label.length > 2) ?? timeline.waits.find((wait) => wait);
  if (name) {
    const part = name.slice(0, 12);
    await page.keyboard.press("/");
    await page.keyboard.type(part);
    const result = await page.textContent(".result");
    ensure(/^[\d\s\u202f]+ spans$/.test(result), `the search for ${part} says ${result}`);
    if (!result.startsWith("0 ")) {
      await page.keyboard.press("Enter");
      const details = await page.textContent(".chosen");
      ensure(details.toLowerCase().includes(part.toLowerCase()), `the search for ${part} selected ${details}`);
      const before = await page.textContent(".chosen");
      await page.keyboard.press("Escape");
      await drawn.focus();
      await page.keyboard.press("f");
      ensure((await page.textContent(".chosen")) === before, "f changes what is selected");
    }
  }
  await drawn.focus();
  await page.keyboard.press("?");
  ensure(await page.locator("dialog.keys").isVisible(), "? does not list the keys");
  await page.keyboard.press("Escape");
  const theme = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await theme();
  await page.click("#theme");
  ensure((await theme()) !== light, "the theme does not change");
  await page.click("#theme");
}

if (graph) await graphs(graph);
if (kernel_file) await kernel(JSON.parse(readFileSync(kernel_file, "utf8")));

/** Lines of comma-separated values by the names of their heading; no value of ours has a comma. */
function table(text) {
  const [heads, ...lines] = text.trimEnd().split("\n").map((line) => line.split(","));
  return lines.map((line) => Object.fromEntries(heads.map((head, at) => [head, line[at]])));
}

/** Rows by processor and lanes of series are what `instr processors` says. */
async function kernel({ before, slices, series }) {
  const timeline = JSON.parse(await page.textContent("#timeline-data"));
  const { processors, end_ns: end } = timeline;
  const place = (ns) => Math.min(Math.max(Number(ns) - before, 0), end);
  const all = table(slices).map((slice) => ({ ...slice, begin: place(slice.begin_ns), end: place(slice.end_ns) }));
  const shown = all.filter((slice) => slice.begin < slice.end);
  ensure(shown.length > 0, "no slice is on the time line");
  const spans = await columns(processors.spans.table);
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
  const bins = await columns(levels.table);
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
    const { gap, value } = await columns(lane.points);
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
    const { gap, value } = await columns(faults.points);
    const pid = held[0].pid;
    const own = held.filter((value) => value.pid === pid);
    let [now, grown] = [0, 0];
    const times = gap.map((by) => (now += by));
    for (const [at, rate] of value.entries()) grown += (rate * ((times[at + 1] ?? faults.end_ns) - times[at])) / 1e9;
    const whole = Number(own.at(-1).value) - Number(own[0].value);
    ensure(Number(own[0].time_ns) < before || Math.abs(grown - whole) <= 0.02 * whole + 1, `there were ${grown} minor faults, not ${whole}`);
  }
}

/** The tables of the page, read without its script: the columns that `stored` says. */
async function columns(stored) {
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

/** The task graphs of the page are those of `instr graph`: every region, task and dependence; and the panel shows them. */
async function graphs(graph) {
  const timeline = JSON.parse(await page.textContent("#timeline-data"));
  const shown = timeline.graphs;
  const longest = graph.regions.slice().sort((a, b) => b.elapsed_ns - a.elapsed_ns).slice(0, shown.length);
  ensure(shown.length + timeline.graphs_left_out.regions === graph.regions.length, `${shown.length} of ${graph.regions.length} regions are in the page`);
  for (const [at, one] of shown.entries()) {
    const { levels, ...expected } = graph.regions.find((region) => region.id === one.region.id);
    ensure(isDeepStrictEqual({ ...one.region, levels: [] }, { ...expected, levels: [] }), `region ${one.region.id} is ${JSON.stringify(one.region)}, not ${JSON.stringify(expected)}`);
    ensure(one.region.elapsed_ns === longest[at].elapsed_ns, `region ${at} is not the next longest one`);
    const nodes = graph.nodes.filter((node) => node.region === one.region.id);
    const counted = await columns(one.cells);
    const executed = nodes.filter((node) => node.kind !== "taskwait" && node.level !== null).length;
    const sum = counted.tasks.reduce((a, b) => a + b, 0);
    ensure(sum === executed, `${sum} tasks are in cells of region ${one.region.id}, not ${executed}`);
    if (!one.tasks) continue;
    const tasks = await columns(one.tasks);
    const shift = one.begin_ns - one.region.begin_ns;
    const known = (value, by = 0) => (value === 0 ? null : value - 1 - by);
    const kinds = ["task", "taskloop", "taskwait", "target"];
    ensure(nodes.length === one.tasks.rows, `region ${one.region.id} has ${one.tasks.rows} tasks, not ${nodes.length}`);
    for (const [row, node] of nodes.entries()) {
      const parent = known(tasks.parent[row]);
      const own = {
        id: `${tasks.thread[row]}.${tasks.seq[row]}`,
        kind: kinds[tasks.kind[row]],
        label: tasks.kind[row] === 2 ? "taskwait depend" : timeline.codes[tasks.code[row]].label,
        parent: parent === null ? null : `${tasks.thread[parent]}.${tasks.seq[parent]}`,
        created_ns: known(tasks.created[row], shift),
        ready_ns: known(tasks.ready[row], shift),
        begin_ns: known(tasks.begin[row], shift),
        end_ns: known(tasks.end[row], shift),
        complete_ns: known(tasks.complete[row], shift),
        work_ns: tasks.work[row],
        level: known(tasks.level[row]),
        slack_ns: known(tasks.slack[row]),
        critical: (tasks.flags[row] & 1) !== 0,
        undeferred: (tasks.flags[row] & 2) !== 0,
        cancelled: (tasks.flags[row] & 4) !== 0,
      };
      for (const [name, value] of Object.entries(own)) ensure(node[name] === value, `task ${node.id} has the ${name} ${value}, not ${node[name]}`);
    }
    const ids = new Set(nodes.map((node) => node.id));
    const within = graph.edges.filter((edge) => ids.has(edge.from) && ids.has(edge.to)).map((edge) => `${edge.from} ${edge.to}`);
    const { from, to } = await columns(one.edges);
    const name = (row) => `${tasks.thread[row]}.${tasks.seq[row]}`;
    const edges = from.map((_, at) => `${name(from[at])} ${name(to[at])}`);
    ensure(isDeepStrictEqual(within.sort(), edges.sort()), `region ${one.region.id} has ${edges.length} dependences, not ${within.length}, or others`);
    const path = one.path.reduce((sum, part) => sum + part.ns, 0);
    ensure(path === one.region.span_ns, `the parts of the critical path are ${path} ns, not ${one.region.span_ns}`);
    const critical = one.path.reduce((sum, part) => sum + part.tasks, 0);
    const marked = nodes.filter((node) => node.critical && node.kind !== "taskwait").length;
    ensure(critical === marked, `${critical} tasks are on the critical path, not ${marked}`);
  }
  const panel = page.locator("#task-graph");
  ensure((await panel.count()) === (shown.length > 0 ? 1 : 0), "the panel of task graphs is missing, or should be");
  if (shown.length === 0) return;
  const first = shown[0];
  const facts = await page.locator(".graph-facts").textContent();
  for (const ns of [first.region.elapsed_ns, first.region.work_ns, first.region.span_ns, first.region.no_work_ns]) {
    ensure(facts.includes(time(ns)) || facts.includes(time(ns + 1)) || facts.includes(time(Math.max(ns - 1, 0))), `the facts of the region do not say ${time(ns)}: ${facts}`);
  }
  const nodes = graph.nodes.filter((node) => node.region === first.region.id);
  const critical = nodes.filter((node) => node.critical && node.begin_ns !== null).sort((a, b) => a.begin_ns - b.begin_ns);
  if (!first.tasks || critical.length === 0) return;
  const small = nodes.length <= 400 && first.region.edges <= 4000;
  const boxes = await panel.locator(".graph-scroll .task").count();
  ensure(small ? boxes === nodes.length : boxes === 0, `${boxes} of ${nodes.length} tasks have a box`);
  if (small) {
    const marked = await panel.locator(".graph-scroll .task.critical").count();
    ensure(marked === nodes.filter((node) => node.critical).length, `${marked} boxes are of the critical path`);
  }
  // By keys: the first task of the critical path, then one that depends on it.
  await page.keyboard.press("0");
  await panel.locator(".graph-scroll").focus();
  await page.keyboard.press("Shift+P");
  const chosen = () => page.locator(".graph-chosen").textContent();
  const { id } = critical[0];
  ensure((await chosen()).startsWith(`task${id}function`), `P selects ${await chosen()}, not ${id}`);
  ensure((await drawn.getAttribute("data-task").then((text) => text.split(" ")[0])) === "0", "the time line does not know the task");
  const details = await page.textContent(".details .chosen");
  ensure(details.includes(`task${id}level`), `the time line shows ${details}, not the task ${id}`);
  const view = await range();
  const shift = first.begin_ns - first.region.begin_ns;
  ensure(view.from <= critical[0].begin_ns + shift && view.to >= critical[0].end_ns + shift, `the task ${id} is not in view`);
  const after = graph.edges.filter((edge) => edge.from === id).map((edge) => nodes.find((node) => node.id === edge.to));
  if (after.length > 0) {
    await page.keyboard.press("ArrowRight");
    const now = /^task(\d+\.\d+)function/.exec(await chosen())?.[1];
    const least = Math.min(...after.map((node) => node.slack_ns));
    ensure(after.some((node) => node.id === now && node.slack_ns === least), `the right arrow leads from ${id} to ${now}`);
    await page.keyboard.press("ArrowLeft");
    const back = /^task(\d+\.\d+)function/.exec(await chosen())?.[1];
    ensure(graph.edges.some((edge) => edge.from === back && edge.to === now), `the left arrow leads from ${now} to ${back}`);
  }
  // A click on the time line selects the task in its graph.
  await page.keyboard.press("Enter");
  ensure(await page.locator("#time-line").evaluate((element) => element.getBoundingClientRect().top < innerHeight), "Enter does not lead to the time line");
  const one = /^task(\d+\.\d+)function/.exec(await chosen())?.[1];
  await page.keyboard.press("Escape");
  ensure((await chosen()) === "", "Escape does not select nothing");
  const node = nodes.find((node) => node.id === one);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  const seen = await range();
  const box = await page.locator("canvas.rows").boundingBox();
  const scale = await drawn.evaluate((element) => parseFloat(getComputedStyle(element).fontSize) / 14);
  const left = box.x + 150 * scale;
  const track = timeline.tracks.findIndex((_, at) => at === threads.findIndex((thread) => thread.index === node.thread));
  const high = timeline.tracks.length <= 12 ? 30 : 22;
  // Where the task itself runs: a nested one may lie in its middle.
  const inner = nodes.some((other) => other.thread === node.thread && other.begin_ns >= node.begin_ns && other.end_ns <= node.end_ns && other !== node);
  const middle = (node.begin_ns + node.end_ns) / 2 + shift;
  const x = left + ((middle - seen.from) / (seen.to - seen.from)) * (box.width - 150 * scale);
  if (!inner && node.end_ns - node.begin_ns > (seen.to - seen.from) / 200) {
    await page.mouse.click(x, box.y + (track + 0.5) * high * scale);
    ensure((await chosen()).startsWith(`task${one}function`), `a click on task ${one} selects ${(await chosen()) || "nothing"}`);
  }
  // A finding on the critical path, and the table, lead to the graph.
  const links = page.locator("button.goto-graph");
  for (let at = 0; at < Math.min(await links.count(), 3); at++) {
    const number = Number(await links.nth(at).getAttribute("data-graph"));
    await links.nth(at).click();
    ensure((await panel.locator("select").inputValue()) === String(number), `link ${at} does not show graph ${number}`);
    ensure((await chosen()).includes("critical pathyes"), `link ${at} selects no task of the critical path`);
  }
  if (!small) {
    await panel.locator(".graph-scroll .cell").first().click();
    await page.keyboard.press("Escape");
    await panel.locator(".cell.critical").first().click();
    await panel.locator(".cell-tasks button").first().click();
    ensure((await chosen()).includes("critical pathyes"), "the first task of a cell on the critical path is not on it");
  }
  await page.keyboard.press("Escape");
}

// Findings and tables are there without scripts.
const plain = await open({ javaScriptEnabled: false });
ensure((await plain.locator("#source table tr").count()) > 5, "without scripts there is no table");
if (first.verdict) ensure(await plain.locator(".finding.first").first().isVisible(), "without scripts there is no finding");
ensure(await plain.locator("#timeline").count() === 0 || !(await plain.locator("#timeline").isVisible()), "an empty time line is shown");

await browser.close();
wrong.forEach((what) => console.error(what));
process.exitCode = wrong.length > 0 ? 1 : 0;
console.log(`${threads.length} threads checked`);
