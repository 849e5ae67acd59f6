// Task graphs of a report, against what `instr graph` writes.

import { isDeepStrictEqual } from "node:util";

import { columns, range, time } from "./common.mjs";

/** The task graphs of the page are those of `instr graph`: every region, task and dependence; and the panel shows them. */
export async function graphs({ page, drawn, threads, ensure }, graph) {
  const timeline = JSON.parse(await page.textContent("#timeline-data"));
  const shown = timeline.graphs;
  const longest = graph.regions.slice().sort((a, b) => b.elapsed_ns - a.elapsed_ns).slice(0, shown.length);
  ensure(shown.length + timeline.graphs_left_out.regions === graph.regions.length, `${shown.length} of ${graph.regions.length} regions are in the page`);
  for (const [at, one] of shown.entries()) {
    const { levels, ...expected } = graph.regions.find((region) => region.id === one.region.id);
    ensure(isDeepStrictEqual({ ...one.region, levels: [] }, { ...expected, levels: [] }), `region ${one.region.id} is ${JSON.stringify(one.region)}, not ${JSON.stringify(expected)}`);
    ensure(one.region.elapsed_ns === longest[at].elapsed_ns, `region ${at} is not the next longest one`);
    const nodes = graph.nodes.filter((node) => node.region === one.region.id);
    const counted = await columns(page, one.cells);
    const executed = nodes.filter((node) => node.kind !== "taskwait" && node.level !== null).length;
    const sum = counted.tasks.reduce((a, b) => a + b, 0);
    ensure(sum === executed, `${sum} tasks are in cells of region ${one.region.id}, not ${executed}`);
    if (!one.tasks) continue;
    const tasks = await columns(page, one.tasks);
    const shift = one.begin_ns - one.region.begin_ns;
    const known = (value, by = 0) => (value === 0 ? null : value - 1 - by);
    const kinds = ["task", "taskloop", "taskwait", "target"];
    ensure(nodes.length === one.tasks.rows, `region ${one.region.id} has ${one.tasks.rows} tasks, not ${nodes.length}`);
    for (const [row, node] of nodes.entries()) {
      const parent = known(tasks.parent[row]);
      const own = {
        id: `${tasks.thread[row]}.${tasks.seq[row]}`,
        kind: kinds[tasks.kind[row]],
        label: tasks.kind[row] === 2 ? "taskwait depend" : timeline.codes[tasks.code[row]].label,
        parent: parent === null ? null : `${tasks.thread[parent]}.${tasks.seq[parent]}`,
        created_ns: known(tasks.created[row], shift),
        ready_ns: known(tasks.ready[row], shift),
        begin_ns: known(tasks.begin[row], shift),
        end_ns: known(tasks.end[row], shift),
        complete_ns: known(tasks.complete[row], shift),
        work_ns: tasks.work[row],
        level: known(tasks.level[row]),
        slack_ns: known(tasks.slack[row]),
        critical: (tasks.flags[row] & 1) !== 0,
        undeferred: (tasks.flags[row] & 2) !== 0,
        cancelled: (tasks.flags[row] & 4) !== 0,
      };
      for (const [name, value] of Object.entries(own)) ensure(node[name] === value, `task ${node.id} has the ${name} ${value}, not ${node[name]}`);
    }
    const ids = new Set(nodes.map((node) => node.id));
    const within = graph.edges.filter((edge) => ids.has(edge.from) && ids.has(edge.to)).map((edge) => `${edge.from} ${edge.to}`);
    const { from, to } = await columns(page, one.edges);
    const name = (row) => `${tasks.thread[row]}.${tasks.seq[row]}`;
    const edges = from.map((_, at) => `${name(from[at])} ${name(to[at])}`);
    ensure(isDeepStrictEqual(within.sort(), edges.sort()), `region ${one.region.id} has ${edges.length} dependences, not ${within.length}, or others`);
    const path = one.path.reduce((sum, part) => sum + part.ns, 0);
    ensure(path === one.region.span_ns, `the parts of the critical path are ${path} ns, not ${one.region.span_ns}`);
    const critical = one.path.reduce((sum, part) => sum + part.tasks, 0);
    const marked = nodes.filter((node) => node.critical && node.kind !== "taskwait").length;
    ensure(critical === marked, `${critical} tasks are on the critical path, not ${marked}`);
  }
  // The lane of tasks that are ready: at each of its points so many tasks are ready and have not begun.
  const lane = timeline.lanes.find((lane) => lane.name === "tasks ready");
  const counted = graph.nodes.filter((node) => node.kind === "task" && node.ready_ns !== null && node.begin_ns !== null);
  ensure(lane || counted.every((node) => node.ready_ns === node.begin_ns), "there is no lane of tasks that are ready");
  if (lane?.points && shown.length > 0) {
    const shift = shown[0].begin_ns - shown[0].region.begin_ns;
    const { gap, value } = await columns(page, lane.points);
    let now = 0;
    for (const [at, found] of value.entries()) {
      now += gap[at];
      const expected = counted.filter((node) => node.ready_ns + shift <= now && now < node.begin_ns + shift).length;
      ensure(found === expected, `${found} tasks are ready at ${now}, not ${expected}`);
    }
    ensure(lane.most >= 1 && value.at(-1) === 0, `${lane.most} tasks are ready at most, ${value.at(-1)} at the end`);
  }
  const panel = page.locator("#task-graph");
  ensure((await panel.count()) === (shown.length > 0 ? 1 : 0), "the panel of task graphs is missing, or should be");
  if (shown.length === 0) return;
  const first = shown[0];
  const facts = await page.locator(".graph-facts").textContent();
  for (const ns of [first.region.elapsed_ns, first.region.work_ns, first.region.span_ns, first.region.no_work_ns]) {
    ensure(facts.includes(time(ns)) || facts.includes(time(ns + 1)) || facts.includes(time(Math.max(ns - 1, 0))), `the facts of the region do not say ${time(ns)}: ${facts}`);
  }
  const nodes = graph.nodes.filter((node) => node.region === first.region.id);
  const critical = nodes.filter((node) => node.critical && node.begin_ns !== null).sort((a, b) => a.begin_ns - b.begin_ns);
  if (!first.tasks || critical.length === 0) return;
  const small = nodes.length <= 400 && first.region.edges <= 4000;
  const boxes = await panel.locator(".graph-scroll .task").count();
  ensure(small ? boxes === nodes.length : boxes === 0, `${boxes} of ${nodes.length} tasks have a box`);
  if (small) {
    const marked = await panel.locator(".graph-scroll .task.critical").count();
    ensure(marked === nodes.filter((node) => node.critical).length, `${marked} boxes are of the critical path`);
  }
  // By keys: the first task of the critical path, then one that depends on it.
  await page.keyboard.press("0");
  await panel.locator(".graph-scroll").focus();
  await page.keyboard.press("Shift+P");
  const chosen = () => page.locator(".graph-chosen").textContent();
  const { id } = critical[0];
  ensure((await chosen()).startsWith(`task${id}function`), `P selects ${await chosen()}, not ${id}`);
  ensure((await drawn.getAttribute("data-task").then((text) => text.split(" ")[0])) === "0", "the time line does not know the task");
  const details = await page.textContent(".details .chosen");
  ensure(details.includes(`task${id}level`), `the time line shows ${details}, not the task ${id}`);
  const view = await range(page, drawn);
  const shift = first.begin_ns - first.region.begin_ns;
  ensure(view.from <= critical[0].begin_ns + shift && view.to >= critical[0].end_ns + shift, `the task ${id} is not in view`);
  const after = graph.edges.filter((edge) => edge.from === id).map((edge) => nodes.find((node) => node.id === edge.to));
  if (after.length > 0) {
    await page.keyboard.press("ArrowRight");
    const now = /^task(\d+\.\d+)function/.exec(await chosen())?.[1];
    const least = Math.min(...after.map((node) => node.slack_ns));
    ensure(after.some((node) => node.id === now && node.slack_ns === least), `the right arrow leads from ${id} to ${now}`);
    await page.keyboard.press("ArrowLeft");
    const back = /^task(\d+\.\d+)function/.exec(await chosen())?.[1];
    ensure(graph.edges.some((edge) => edge.from === back && edge.to === now), `the left arrow leads from ${now} to ${back}`);
  }
  // A click on the time line selects the task in its graph.
  await page.keyboard.press("Enter");
  ensure(await page.locator("#time-line").evaluate((element) => element.getBoundingClientRect().top < innerHeight), "Enter does not lead to the time line");
  const one = /^task(\d+\.\d+)function/.exec(await chosen())?.[1];
  await page.keyboard.press("Escape");
  ensure((await chosen()) === "", "Escape does not select nothing");
  const node = nodes.find((node) => node.id === one);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  const seen = await range(page, drawn);
  const box = await page.locator("canvas.rows").boundingBox();
  const scale = await drawn.evaluate((element) => parseFloat(getComputedStyle(element).fontSize) / 14);
  const left = box.x + 150 * scale;
  const track = timeline.tracks.findIndex((_, at) => at === threads.findIndex((thread) => thread.index === node.thread));
  const high = timeline.tracks.length <= 12 ? 30 : 22;
  // Where the task itself runs: a nested one may lie in its middle.
  const inner = nodes.some((other) => other.thread === node.thread && other.begin_ns >= node.begin_ns && other.end_ns <= node.end_ns && other !== node);
  const middle = (node.begin_ns + node.end_ns) / 2 + shift;
  const x = left + ((middle - seen.from) / (seen.to - seen.from)) * (box.width - 150 * scale);
  if (!inner && node.end_ns - node.begin_ns > (seen.to - seen.from) / 200) {
    await page.mouse.click(x, box.y + (track + 0.5) * high * scale);
    ensure((await chosen()).startsWith(`task${one}function`), `a click on task ${one} selects ${(await chosen()) || "nothing"}`);
  }
  // A finding on the critical path, and the table, lead to the graph.
  const links = page.locator("button.goto-graph");
  for (let at = 0; at < Math.min(await links.count(), 3); at++) {
    const number = Number(await links.nth(at).getAttribute("data-graph"));
    await links.nth(at).click();
    ensure((await panel.locator("select").inputValue()) === String(number), `link ${at} does not show graph ${number}`);
    ensure((await chosen()).includes("critical pathyes"), `link ${at} selects no task of the critical path`);
  }
  if (!small) {
    await panel.locator(".graph-scroll .cell").first().click();
    await page.keyboard.press("Escape");
    await panel.locator(".cell.critical").first().click();
    await panel.locator(".cell-tasks button").first().click();
    ensure((await chosen()).includes("critical pathyes"), "the first task of a cell on the critical path is not on it");
  }
  await page.keyboard.press("Escape");
}
