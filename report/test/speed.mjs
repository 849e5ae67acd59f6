// How long a report takes to load, and a picture of its time line to draw: `speed.mjs PAGE`. Headless, without a graphics processor.

import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.goto(pathToFileURL(process.argv[2]).href);
await page.waitForSelector("html[data-ready]");
const ready = await page.evaluate(() => performance.getEntriesByName("instr-ready")[0].startTime);
const exactness = await page.textContent("#exactness");
await page.locator(".canvases").focus();
const times = [];
for (const key of [..."wwwwwwwwddddaaaawwwwwwwwddddaaaassssssssssssssss"]) {
  await page.keyboard.press(key);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  times.push(Number(await page.getAttribute(".canvases", "data-draw-ms")));
}
times.sort((a, b) => a - b);
const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(1);
console.log(`ready after ${ready.toFixed(0)} ms; drawn in ${at(0.5)} ms (median), ${at(0.95)} ms (95 %), ${at(1)} ms (longest)`);
console.log(exactness);
await browser.close();
