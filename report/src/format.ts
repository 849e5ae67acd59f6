// Numbers for people, as the tools print them.

/** A time with a unit: `870 ns`, `12.35 us`, `1.25 s`. */
export function time(ns: number): string {
  const whole = Math.round(ns);
  if (whole === 0) return "0";
  if (whole < 1_000) return `${whole} ns`;
  if (whole < 999_995) return `${(whole / 1e3).toFixed(2)} us`;
  if (whole < 999_995_000) return `${(whole / 1e6).toFixed(2)} ms`;
  return `${(whole / 1e9).toFixed(2)} s`;
}

/** A whole number in groups of three. */
export function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A share of 1 in percent. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}

/** A time of an axis whose ticks are `step` ns apart: only as many digits as tell ticks apart. */
export function tick(ns: number, step: number): string {
  const units: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
    [1, "ns"],
  ];
  const [size, name] = units.find(([size]) => ns >= size) ?? [1, "ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(ns / size).toFixed(digits)} ${name}`;
}

/** A value of a lane. */
export function value(number: number, unit: string): string {
  if (Number.isNaN(number)) return "–";
  if (unit === "B") {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    while (number >= 1023.95 && at + 1 < units.length) {
      number /= 1024;
      at++;
    }
    return `${at === 0 ? number : number.toFixed(1)} ${units[at]}`;
  }
  const digits = Number.isInteger(number) ? 0 : Math.abs(number) < 10 ? 3 : 1;
  return `${number.toFixed(digits)}${unit ? ` ${unit}` : ""}`;
}
