// The curve of other numbers of threads: each point stands where its table says, within its band and below the line of programs that use all threads.

/** Checks the panels that the page has. */
export async function prediction(page, ensure) {
  for (const panel of await page.locator("#prediction .of-process").all()) {
    const said = await panel.locator("svg.prediction circle title").allTextContents();
    const rows = await panel.locator("table").first().locator("tbody tr").allTextContents();
    ensure(said.length > 0 && said.length === rows.length, `a curve of ${said.length} points beside ${rows.length} rows`);
    const numbers = said.map((text) => text.match(/^(\d+) threads: ([\d.]+) times as fast as one \(([\d.]+) to ([\d.]+)\)$/)?.slice(1).map(Number));
    ensure(numbers.every((point) => point && point[2] <= point[1] && point[1] <= point[3]), `no point within its error: ${said}`);
    const points = (await panel.locator("svg.prediction .curve").getAttribute("points")).split(" ").map((point) => point.split(",").map(Number));
    const [first, last] = [points[0], points.at(-1)];
    ensure(first[0] === 0 && last[0] === 560, `the curve goes from ${first} to ${last}`);
    const shown = await panel.locator("svg.prediction").isVisible();
    ensure(shown, "the curve is not shown");
  }
}
