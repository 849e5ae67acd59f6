// Opens a report in Chromium and uses it as people do: `check.mjs PAGE SUMMARY`, where SUMMARY is what `instr summary --json` wrote.
// What is wrong goes to standard error, one line each, and the status is 1.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

import { chromium } from "playwright-core";

const [page_file, summary_file] = process.argv.slice(2);
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

// Findings and tables are there without scripts.
const plain = await open({ javaScriptEnabled: false });
ensure((await plain.locator("#source table tr").count()) > 5, "without scripts there is no table");
if (first.verdict) ensure(await plain.locator(".finding.first").isVisible(), "without scripts there is no finding");
ensure(await plain.locator("#timeline").count() === 0 || !(await plain.locator("#timeline").isVisible()), "an empty time line is shown");

await browser.close();
wrong.forEach((what) => console.error(what));
process.exitCode = wrong.length > 0 ? 1 : 0;
console.log(`${threads.length} threads checked`);
