// Bundles the page's script and style into dist/. With a folder as argument: into that folder.
import { build } from "esbuild";

const out = process.argv[2] ?? "dist";

await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: { report: "src/main.ts", sweep: "src/sweep.ts" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: "/* instr report; with d3-scale and d3-array, ISC licence, Copyright Mike Bostock */" },
  outdir: out,
});
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: { report: "src/style.css" },
  minify: true,
  outdir: out,
});
