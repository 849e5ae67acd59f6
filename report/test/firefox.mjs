// Opens a report in Firefox by WebDriver BiDi: `firefox.mjs PAGE`. What is wrong goes to standard error, one line each, and the status is 1.

import { pathToFileURL } from "node:url";

import { launch } from "puppeteer-core";

const url = pathToFileURL(process.argv[2]).href;
const wrong = [];
const ensure = (holds, what) => holds || wrong.push(what);
const browser = await launch({ browser: "firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", headless: true });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 720 });
page.on("console", (message) => ["error", "warn"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
page.on("pageerror", (error) => wrong.push(`error: ${error}`));
// Marks of lists have a font of Firefox's own, as data.
page.on("request", (request) => request.url() === url || request.url().startsWith("data:") || wrong.push(`asks for ${request.url().slice(0, 100)}`));
await page.goto(url);
await page.waitForSelector("html[data-ready]", { timeout: 30_000 });
const text = (selector) => page.$eval(selector, (element) => element.textContent);
const attribute = (selector, name) => page.$eval(selector, (element, name) => element.getAttribute(name), name);
ensure((await attribute("html", "data-ready")) === "1", "the script has failed");
ensure((await page.evaluate(() => globalThis.hacked)) === undefined, "a name was run as a script");
ensure((await page.$$("img, iframe, object, embed, link")).length === 0, "there are elements that no report has");

const summary = JSON.parse(await text("#summary"));
const threads = (Array.isArray(summary) ? summary : [summary]).flatMap(function all(one) {
  return [...one.threads, ...one.children.flatMap(all)];
});
const drawn = await page.$(".canvases");
ensure((drawn !== null) === threads.length > 0, "there is no time line, or there should be none");
if (drawn) {
  const pictures = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const range = async () => {
    await pictures();
    return [Number(await attribute(".canvases", "data-from")), Number(await attribute(".canvases", "data-to"))];
  };
  await drawn.focus();
  const whole = await range();
  await page.keyboard.press("w");
  const closer = await range();
  const factor = (whole[1] - whole[0]) / (closer[1] - closer[0]);
  ensure(Math.abs(factor - 1.5) < 0.01 || closer[1] - closer[0] <= 21, `w zooms by ${factor}`);
  await page.keyboard.press("0");
  ensure(String(await range()) === String(whole), "0 does not show all");
  // Something is drawn: a row has more than one colour.
  const colours = await page.$eval("canvas.rows", (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    return seen.size;
  });
  ensure(colours > 2, `the rows have ${colours} colours`);
  // A drag over everything measures all.
  const rows = await page.$("canvas.rows");
  await rows.scrollIntoView();
  const box = await rows.boundingBox();
  const y = box.y + Math.min(15, box.height / 2);
  await page.mouse.move(box.x + 20, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.move(box.x + box.width - 1, y);
  await page.mouse.up();
  const useful = await page.$$eval(".measured tbody tr", (rows) => rows.map((row) => Number(row.cells[1].dataset.ns)));
  ensure(useful.length === Math.min(threads.length, 64), `${useful.length} threads are measured`);
  const most = (whole[1] - whole[0]) * 0.003 + 1;
  for (const [at, ns] of useful.entries()) ensure(Math.abs(ns - threads[at].useful_ns) <= most, `thread ${at} is useful for ${ns} ns, not ${threads[at].useful_ns}`);
  await page.keyboard.press("Escape");
  if (await page.$(".graph-scroll")) {
    await page.focus(".graph-scroll");
    await page.keyboard.press("P");
    const graph = JSON.parse(await text("#timeline-data")).graphs[0];
    const said = await text(".graph-chosen");
    const critical = graph.tasks && graph.path?.some((part) => part.tasks > 0);
    ensure(!critical || said.includes("critical pathyes"), `P selects no task of the critical path: ${said}`);
  }
  await page.keyboard.press("?");
  ensure((await page.$("dialog.keys[open]")) !== null, "? does not list the keys");
}
const version = await browser.version();
await browser.close();
wrong.forEach((what) => console.error(what));
process.exitCode = wrong.length > 0 ? 1 : 0;
console.log(`${version}: ${threads.length} threads checked`);
