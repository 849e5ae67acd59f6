// Opens a report in Chromium and uses it as people do: `check.mjs PAGE SUMMARY [GRAPH [KERNEL]]`, where SUMMARY is what `instr summary --json` wrote and GRAPH what
// `instr graph --format json` did. KERNEL is JSON with what `instr processors` writes: `slices` and `series`, and `before`, the ns from their begin to that of the time line.
// What is wrong goes to standard error, one line each, and the status is 1.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

import { chromium } from "playwright-core";

import { close, time } from "./common.mjs";
import { graphs } from "./graphs.mjs";
import { kernel } from "./kernel.mjs";
import { kernelThreads } from "./kernel_threads.mjs";
import { prediction } from "./prediction.mjs";
import { oneOfSeveral } from "./programs.mjs";
import { use } from "./timeline.mjs";
import { used as heapAndEnergy } from "./used.mjs";

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

await prediction(page, ensure);
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
const used = { page, drawn, threads, processes, ensure };
if (threads.length > 0 && (await drawn.count()) > 0) await use(used);
else ensure(threads.length === 0, "there is no time line");
if (threads.length > 0 && (await drawn.count()) > 0) await oneOfSeveral(used);
if (threads.length === 0 && processes.some((one) => one.core_allocation)) await kernelThreads(used);

const { lanes } = JSON.parse(await page.textContent("#timeline-data"));
for (const [number, { threads, program }] of processes.entries()) {
  const lost = threads.reduce((sum, thread) => sum + thread.discarded, 0);
  const lane = lanes.find((lane) => lane.process === number && lane.name === "events lost so far");
  ensure((lane?.most ?? 0) === lost, `the lane of lost events of ${program} ends with ${lane?.most}, not ${lost}`);
}
await heapAndEnergy(used);
if (graph) await graphs(used, graph);
if (kernel_file) await kernel(used, JSON.parse(readFileSync(kernel_file, "utf8")));

// Findings and tables are there without scripts.
const plain = await open({ javaScriptEnabled: false });
ensure((await plain.locator("#source table tr").count()) > 5, "without scripts there is no table");
if (first.verdict) ensure(await plain.locator(".finding.first").first().isVisible(), "without scripts there is no finding");
ensure(await plain.locator("#timeline").count() === 0 || !(await plain.locator("#timeline").isVisible()), "an empty time line is shown");

await browser.close();
wrong.forEach((what) => console.error(what));
process.exitCode = wrong.length > 0 ? 1 : 0;
console.log(`${threads.length} threads checked`);
