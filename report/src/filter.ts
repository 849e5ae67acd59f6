// One program among several: rows, findings and tables of its processes alone.

import type { Data } from "./data";
import { element } from "./details";
import type { TimelineView } from "./timeline";
import type { Window } from "./window";

/** Processes that are offered one by one. */
const MOST = 200;

/** Names of what can be chosen, and the processes of each: programs with several processes, then each process. */
export function choices({ timeline }: Data): [string, number[]][] {
  const used = new Set([...timeline.tracks, ...timeline.lanes].map(({ process }) => process));
  const byName = new Map<string, number[]>();
  const own: [string, number[]][] = [];
  for (const [number, { program, pid }] of timeline.processes.entries()) {
    if (!used.has(number)) continue;
    byName.set(program, [...(byName.get(program) ?? []), number]);
    own.push([pid ? `${program} (${pid})` : program, [number]]);
  }
  const several = [...byName].filter(([, numbers]) => numbers.length > 1 && byName.size > 1);
  const programs = several.map(([name, numbers]): [string, number[]] => [`${name}, ${numbers.length} processes`, numbers]);
  return [...programs, ...own.slice(0, MOST)];
}

/** Hides what is of other processes; what is of none stays. */
function hide(view: Window): void {
  for (const part of document.querySelectorAll<HTMLElement>(".of-process")) {
    part.hidden = !view.shows(Number(part.dataset["process"]));
  }
}

/** The list of programs; none where there is one. */
export function programs(data: Data, view: Window, drawn: TimelineView): HTMLElement[] {
  const all = choices(data);
  if (all.length < 2) return [];
  const label = element("label", "program ");
  const select = document.createElement("select");
  select.className = "program-of";
  for (const [value, text] of ["all", ...all.map(([name]) => name)].entries()) {
    const option = element("option", text) as HTMLOptionElement;
    option.value = String(value);
    select.append(option);
  }
  select.addEventListener("change", () => {
    const chosen = all[Number(select.value) - 1];
    drawn.filter(chosen ? new Set(chosen[1]) : null);
    // It may be a small part of the whole time.
    const own = data.timeline.tracks.filter(({ process }) => view.shows(process));
    if (!chosen || own.length === 0) view.show(0, view.end);
    else view.showAround(Math.min(...own.map(({ begin_ns }) => begin_ns)), Math.max(...own.map(({ end_ns }) => end_ns)));
  });
  // A link to a thread that is not shown brings all back.
  let before = view.only;
  view.listen(() => {
    if (view.only === before) return;
    before = view.only;
    if (before === null) select.value = "0";
    // Findings about what the kernel saw are about all of its processes.
    if (!data.ofKernel) hide(view);
  });
  label.append(select);
  return [label];
}
