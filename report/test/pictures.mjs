// Takes pictures of a report in two sizes, dark and light: `pictures.mjs PAGE FOLDER`.

import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const [page_file, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
for (const [width, height] of [
  [1280, 720],
  [3840, 2160],
]) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    await page.goto(pathToFileURL(page_file).href);
    await page.waitForSelector("html[data-ready]");
    const picture = async (name) => {
      await page.waitForTimeout(150);
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
    };
    await picture("findings");
    await page.evaluate(() => document.getElementById("time-line")?.scrollIntoView());
    await picture("timeline");
    if (await page.locator(".canvases").count()) {
      await page.locator(".canvases").focus();
      for (let times = 0; times < 9; times++) await page.keyboard.press("w");
      await page.selectOption(".bar select.colouring", "code");
      const box = await page.locator("canvas.rows").boundingBox();
      await page.mouse.click(box.x + box.width / 2, box.y + 15);
      await picture("zoomed");
      await page.keyboard.press("m");
      await picture("measured");
    }
    if (await page.locator("select.rows-of").count()) {
      await page.selectOption("select.rows-of", "processors");
      await picture("processors");
    }
    for (const part of ["efficiency", "graph", "durations", "tables", "source"]) {
      await page.evaluate((id) => document.getElementById(id)?.scrollIntoView(), part);
      await picture(part);
    }
    await context.close();
  }
}
await browser.close();
