// Keys of the time line, as in Perfetto.

import { element } from "./details";

/** What a key does, and what the list of keys says. */
export interface Key {
  keys: string[];
  what: string;
  run: () => void;
}

/** Calls the action of a key unless somebody types a text. */
export function listen(keys: Key[], active: () => boolean): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement | null;
    // A dialog has its own keys.
    if (document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target?.closest("input, textarea, select")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    const own = (key: string) => key === event.key || (key.length === 1 && key === event.key.toLowerCase());
    const found = keys.find((key) => key.keys.some(own));
    if (!found) return;
    // Arrows and Enter belong to the page where the time line is not in use.
    const everywhere = found.keys.some((key) => key === "?" || key === "/");
    if (!everywhere && event.key.length > 1 && event.key !== "Escape" && !active()) return;
    event.preventDefault();
    found.run();
  });
}

/** The list of keys. */
export function help(keys: Key[]): HTMLDialogElement {
  const dialog = document.createElement("dialog");
  dialog.className = "keys";
  dialog.setAttribute("aria-label", "Keys");
  const table = document.createElement("table");
  const mouse: [string, string][] = [
    ["click", "select a span"],
    ["double click", "zoom to a span"],
    ["drag", "measure a time"],
    ["Shift + drag", "move"],
    ["Ctrl + wheel", "zoom"],
    ["Shift + wheel", "move"],
  ];
  const rows: [string, string][] = keys.map(({ keys, what }) => [keys.join(" "), what]);
  for (const [key, what] of [...rows, ...mouse]) {
    const row = document.createElement("tr");
    const head = element("th");
    head.append(element("kbd", key));
    row.append(head, element("td", what));
    table.append(row);
  }
  const close = element("button", "close");
  close.addEventListener("click", () => dialog.close());
  dialog.append(element("h2", "Keys of the time line"), table, close);
  return dialog;
}
