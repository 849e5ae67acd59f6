// Colours, from the style sheet: those of states by name, those of codes by number. They can be told apart by people who see fewer colours.

const CODES = 10;

/** The colours of one theme. */
export interface Colours {
  states: string[];
  codes: string[];
  text: string;
  faint: string;
  line: string;
  back: string;
  row: string;
  mark: string;
  lane: string;
}

/** The colours that the style sheet gives now. */
export function colours(states: string[]): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    states: states.map((name) => of(`state-${name}`)),
    codes: Array.from({ length: CODES }, (_, at) => of(`code-${at}`)),
    text: of("text"),
    faint: of("faint"),
    line: of("line"),
    back: of("back"),
    row: of("row"),
    mark: of("mark"),
    lane: of("lane"),
  };
}

/** The colour of a code. */
export function ofCode(colours: Colours, code: number): string {
  return colours.codes[(code - 1 + CODES) % CODES] ?? colours.text;
}
