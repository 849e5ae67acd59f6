// What all that is drawn on a canvas needs: sizes, the time axis, texts that fit.

import { scaleLinear } from "d3-scale";

import type { Window } from "./window";

/** Pixels of the names of rows. */
export const LABELS = 150;
/** Pixels from a row to the next one. */
export const GAP = 3;

/** A canvas with a context in units of `scale` pixels of the page, whatever the pixels of the screen are. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number, scale: number): CanvasRenderingContext2D | null {
  const ratio = (window.devicePixelRatio || 1) * scale;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width * scale}px`;
    canvas.style.height = `${height * scale}px`;
  }
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

/** Ticks of the time axis, ns. */
export function ticks(view: Window, width: number): number[] {
  return scaleLinear().domain([view.from, view.to]).ticks(Math.max(2, Math.floor(width / 110)));
}

/** Cuts a text to a width. */
export function shortened(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  let [least, most] = [0, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    const fits = context.measureText(`${letters.slice(0, middle).join("")}…`).width <= width;
    if (fits) least = middle;
    else most = middle - 1;
  }
  return least > 0 ? `${letters.slice(0, least).join("")}…` : "";
}
