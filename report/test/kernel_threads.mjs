// A program that recorded nothing itself: threads by state and rows by processor, against the numbers of `instr processors` in the summary.

import { columns, range, time } from "./common.mjs";

/** What the kernel saw of threads is on the time line, in the findings and in the bar of shares. */
export async function kernelThreads({ page, drawn, processes, ensure }) {
  const timeline = JSON.parse(await page.textContent("#timeline-data"));
  const { tracks, states } = timeline;
  ensure(states.join() === "running,unknown,ready,blocked", `the states are ${states}`);
  const applications = processes.flatMap((one) => one.core_allocation?.applications ?? []);
  const seen = applications.flatMap((one) => one.processes.flatMap((process) => process.threads.map((thread) => ({ pid: process.pid, ...thread }))));
  ensure(seen.length > 0, "the kernel saw no thread");
  const fields = ["on_processor_ns", "unknown_ns", "ready_ns", "blocked_ns"];
  // Sums over the spans of each thread.
  const spans = await columns(page, timeline.spans.table);
  const rows = [];
  let next = 0;
  for (const track of tracks) {
    const sums = [0, 0, 0, 0];
    for (let at = 0; at < track.spans; at++) sums[spans.state[next]] += spans.length[next++];
    rows.push({ pid: timeline.processes[track.process].pid, sums });
  }
  for (const thread of seen) {
    // A number may be used again; a thread of no time has no row.
    const expected = fields.map((field) => thread[field]);
    const own = rows.filter((row, at) => row.pid === thread.pid && tracks[at].name.endsWith(` (${thread.tid})`));
    const sums = own.map((row) => row.sums.join());
    ensure(sums.includes(expected.join()) || expected.every((ns) => ns === 0), `thread ${thread.tid} is ${states} for ${sums.join(" or ")} ns, not ${expected}`);
  }
  const whole = fields.map((field) => seen.reduce((sum, thread) => sum + thread[field], 0));
  const all = whole.reduce((a, b) => a + b, 0);
  for (const kind of ["ready", "blocked"]) {
    const ns = whole[states.indexOf(kind)];
    const finding = page.locator(`.finding[data-kind="${kind}"]`);
    ensure((await finding.count()) === (ns >= 0.01 * all ? 1 : 0), `the finding on ${kind} threads is missing, or should be`);
    if (ns < 0.01 * all) continue;
    const said = await finding.first().textContent();
    ensure(said.includes(`threads' time${time(ns)}`), `the finding says ${said}, not ${time(ns)}`);
    const link = finding.first().locator("button.goto");
    const [from, to] = [Number(await link.getAttribute("data-from")), Number(await link.getAttribute("data-to"))];
    await link.click();
    const shown = await range(page, drawn);
    ensure(shown.from <= from && shown.to >= to, `the link of ${kind} to ${from}…${to} shows ${shown.from}…${shown.to}`);
  }
  const legend = await page.locator(".shares .legend").first().textContent();
  for (const state of ["running", "ready", "blocked"]) {
    if (whole[states.indexOf(state)] >= 0.0005 * all) ensure(legend.includes(state), `the bar has no ${state}`);
  }
  // A drag over everything measures what the whole table says; rows of processors are the other view.
  await page.keyboard.press("Escape");
  await drawn.focus();
  await page.keyboard.press("0");
  const box = await page.locator("canvas.rows").boundingBox();
  const drag = async () => {
    await page.mouse.move(box.x + 20, box.y + 15);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 15);
    await page.mouse.move(box.x + box.width + 300, box.y + 15);
    await page.mouse.up();
  };
  await drag();
  for (const [at, row] of rows.slice(0, 64).entries()) {
    const cells = page.locator(".measured tbody tr").nth(at).locator("td");
    for (const [state, ns] of row.sums.entries()) {
      const found = Number(await cells.nth(state).getAttribute("data-ns"));
      ensure(Math.abs(found - ns) <= 1, `row ${at} is ${states[state]} for ${found} ns, not ${ns}`);
    }
  }
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  ensure((await page.locator("select.rows-of").inputValue()) === "processors", "p does not change the rows");
  await drag();
  const busy = processes.flatMap((one) => one.core_allocation?.processors ?? []);
  for (const [row, number] of timeline.processors.numbers.entries()) {
    const ns = busy.filter((one) => one.processor === number).reduce((sum, one) => sum + one.busy_ns.reduce((a, b) => a + b, 0), 0);
    const cell = page.locator(".measured-processors tbody tr").nth(row).locator("td").first();
    const found = Number(await cell.getAttribute("data-ns"));
    ensure(found === ns, `processor ${number} ran the program for ${found} ns, not ${ns}`);
  }
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
}
