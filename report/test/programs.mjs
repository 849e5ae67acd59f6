// One program among several: rows, numbers, findings and tables of it alone.

/** Chooses each process in turn: what is measured is what the summary says of its threads, and nothing of others is in view. */
export async function oneOfSeveral({ page, drawn, processes, ensure }) {
  const select = page.locator("select.program-of");
  const { tracks } = JSON.parse(await page.textContent("#timeline-data"));
  const used = new Set(tracks.map((track) => track.process));
  ensure((await select.count()) === (used.size > 1 ? 1 : 0), "the choice of programs is missing, or should be");
  if (used.size < 2) return;
  const options = await select.locator("option").allTextContents();
  const measured = async () => {
    await page.keyboard.press("Escape");
    await drawn.focus();
    await page.keyboard.press("0");
    const rows = page.locator("canvas.rows");
    await rows.scrollIntoViewIfNeeded();
    const box = await rows.boundingBox();
    await page.mouse.move(box.x + 20, box.y + 15);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 15);
    await page.mouse.move(box.x + box.width + 300, box.y + 15);
    await page.mouse.up();
    const lines = await page.locator(".measured tbody tr").all();
    return Promise.all(lines.map(async (line) => Number(await line.locator("td").first().getAttribute("data-ns"))));
  };
  for (const [number, one] of processes.entries()) {
    const at = options.indexOf(`${one.program} (${one.pid})`);
    if (!used.has(number)) continue;
    ensure(at > 0, `${one.program} (${one.pid}) is not in ${options}`);
    await select.selectOption(String(at));
    const found = await measured();
    const expected = one.threads.slice(0, 64).map((thread) => thread.useful_ns);
    const same = found.length === expected.length && found.every((ns, at) => Math.abs(ns - expected[at]) <= 1);
    ensure(same, `of ${one.program} (${one.pid}) ${found} ns are measured, not ${expected}`);
    for (const part of await page.locator(".of-process").all()) {
      const own = Number(await part.getAttribute("data-process")) === number;
      ensure((await part.getAttribute("hidden")) === null ? own : !own, `a part of process ${await part.getAttribute("data-process")} is ${own ? "hidden" : "shown"} with ${number}`);
    }
  }
  await page.keyboard.press("Escape");
  await select.selectOption("0");
  const all = await measured();
  const threads = processes.reduce((sum, one) => sum + one.threads.length, 0);
  ensure(all.length === Math.min(threads, 64), `${all.length} threads of all programs are measured, not ${threads}`);
  ensure((await page.locator(".of-process[hidden]").count()) === 0, "parts are hidden though all programs are shown");
  await page.keyboard.press("Escape");
}
