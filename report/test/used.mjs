// Heap by function and energy by region: the bars have the numbers of the summary.

/** Each row of each panel against the summary, and its length against that of the longest. */
export async function used({ page, processes, ensure }) {
  const kinds = {
    heap: (one) => (one.memory?.sites ?? []).map((site) => site.live_high_water_bytes),
    energy: (one) => one.energy_regions.map((region) => region.joules),
  };
  for (const [kind, of] of Object.entries(kinds)) {
    const expected = processes.map(of).filter((values) => values.length > 0);
    const panels = page.locator(`table.used[data-kind="${kind}"]`);
    ensure((await panels.count()) === expected.length, `${await panels.count()} panels of ${kind}, not ${expected.length}`);
    for (const [at, values] of expected.entries()) {
      const rows = await panels.nth(at).locator("tbody tr").all();
      const shown = await Promise.all(rows.map((row) => row.getAttribute("data-value").then(Number)));
      const sorted = values.slice().sort((a, b) => b - a).slice(0, 40);
      ensure(JSON.stringify(shown) === JSON.stringify(sorted), `the bars of ${kind} have ${shown}, not ${sorted}`);
      const bars = await Promise.all(rows.map((row) => row.locator("rect.useful").getAttribute("width").then(Number)));
      for (const [row, width] of bars.entries()) {
        const share = sorted[row] / sorted[0];
        ensure(sorted[0] === 0 || Math.abs(width / bars[0] - share) < 1e-3, `bar ${row} of ${kind} is ${width / bars[0]} of the longest, not ${share}`);
      }
    }
  }
}
