// Uses the time line of a report as people do.

import { isDeepStrictEqual } from "node:util";

import { range } from "./common.mjs";

/** The time line: keys, measuring, links, search, colours. */
export async function use({ page, drawn, threads, ensure }) {
  const whole = await range(page, drawn);
  ensure(whole.from === 0, `the time line begins at ${whole.from}`);
  await drawn.focus();
  await page.keyboard.press("w");
  const closer = await range(page, drawn);
  const factor = (whole.to - whole.from) / (closer.to - closer.from);
  ensure(Math.abs(factor - 1.5) < 0.01 || closer.to - closer.from <= 21, `w zooms by ${factor}`);
  await page.keyboard.press("d");
  const right = await range(page, drawn);
  ensure(right.from > closer.from || right.to === whole.to, "d does not move to the right");
  await page.keyboard.press("a");
  await page.keyboard.press("s");
  await page.keyboard.press("0");
  const again = await range(page, drawn);
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
    const shown = await range(page, drawn);
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
