// Tables are sorted by a click on a heading.

const UNITS: Record<string, number> = {
  ns: 1,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** The number that a cell begins with, in its smallest unit. */
export function numberOf(text: string): number {
  const found = /^([+-]?[\d\s\u202f]*\.?\d+)\s*([A-Za-z]+)?/.exec(text.trim());
  if (!found) return Number.NEGATIVE_INFINITY;
  const number = Number((found[1] ?? "").replace(/[\s\u202f]/g, ""));
  return number * (UNITS[found[2] ?? ""] ?? 1);
}

function sort(table: HTMLTableElement, column: number, down: boolean, number: boolean): void {
  const body = table.tBodies[0];
  if (!body) return;
  const text = (row: HTMLTableRowElement) => row.cells[column]?.textContent ?? "";
  const rows = Array.from(body.rows);
  rows.sort((a, b) => {
    const by = number ? numberOf(text(a)) - numberOf(text(b)) : text(a).localeCompare(text(b));
    return (Number.isNaN(by) ? 0 : by) * (down ? -1 : 1);
  });
  body.append(...rows);
}

/** Makes the headings of a table buttons. */
export function sortable(table: HTMLTableElement): void {
  const heads = Array.from(table.tHead?.rows[0]?.cells ?? []);
  if (heads.length < 2 || (table.tBodies[0]?.rows.length ?? 0) < 2) return;
  for (const [column, head] of heads.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...Array.from(head.childNodes));
    head.append(button);
    button.addEventListener("click", () => {
      const number = head.classList.contains("n");
      const was = head.getAttribute("aria-sort");
      const down = was ? was === "ascending" : number;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(table, column, down, number);
    });
  }
}
