// Takes the two pictures of a report that README.md shows: `readme.mjs PAGE FOLDER`.

import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const [page_file, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme: "light" });
await page.goto(pathToFileURL(page_file).href);
await page.waitForSelector("html[data-ready='1']");
const picture = async (name) => {
  await page.waitForTimeout(200);
  await page.screenshot({ path: `${folder}/${name}.png` });
};
await picture("report-findings");
// A task of the critical path, in the colours of regions and tasks, with what it depends on.
await page.selectOption(".bar select.colouring", "code");
const links = page.locator("button.goto-graph");
if (await links.count()) {
  await links.first().click();
  await page.locator("#task-graph .graph-scroll").focus();
  for (let step = 0; step < 3; step++) await page.keyboard.press("p");
  await page.keyboard.press("Enter");
}
await page.evaluate(() => document.getElementById("time-line")?.scrollIntoView());
await picture("report-time-line");
await browser.close();
