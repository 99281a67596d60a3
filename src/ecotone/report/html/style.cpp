#include "ecotone/report/html/sections.h"

namespace ecotone::report {

std::string_view style_sheet() {
  return R"css(
:root { color-scheme: light dark;
  --paper: #faf9f5; --card: #ffffff; --ink: #1d2521; --soft: #5d6862; --line: #e2e2d9; --faint: #efeee7;
  --accent: #1f7a5c; --accent-soft: #cfe6da; --warm: #b4552d; --tag: #e4ece7; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12171a; --card: #1a2124; --ink: #e7ebe8; --soft: #9aa6a0; --line: #2d3639; --faint: #222a2d;
  --accent: #63c79f; --accent-soft: #24483b; --warm: #e69a6f; --tag: #2a3638; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
header { margin-bottom: 1.5rem; }
.brand { color: var(--accent); font-weight: 650; letter-spacing: .04em; margin: 0; }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.6vw, 2.15rem); line-height: 1.2; margin: .15rem 0 .6rem; letter-spacing: -.015em;
  overflow-wrap: anywhere; text-wrap: balance; }
h2 { font-size: 1.15rem; margin: 0 0 .35rem; letter-spacing: -.005em; }
.facts { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; list-style: none; margin: 0; padding: 0; color: var(--soft); }
.facts b { color: var(--ink); font-weight: 600; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem 1.4rem; margin: 0 0 1.1rem; }
.answer { border-left: 5px solid var(--accent); }
.answer p { margin: 0; } .answer p + p { margin-top: .6rem; color: var(--soft); }
.answer p + p strong { color: var(--ink); }
.lead { font-size: clamp(1.1rem, 1rem + .5vw, 1.3rem); line-height: 1.45; }
.note { color: var(--soft); margin: 0 0 .8rem; font-size: .93rem; }
code { font: .88em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.tag { display: inline-block; min-width: 1.55em; padding: 0 .35em; border-radius: 6px; background: var(--tag); text-align: center;
  font-size: .86em; font-weight: 650; line-height: 1.6; }
small { color: var(--soft); font-size: .84em; font-weight: 400; }
.plot-row { display: grid; grid-template-columns: minmax(0, 15rem) minmax(0, 1fr) 4.6rem; gap: 1rem; align-items: center; }
.differences .plot-row { grid-template-columns: minmax(0, 15rem) minmax(0, 1fr) 10.5rem; }
.differences .plot-figure small { display: block; }
.plot-name { padding: .55rem 0; line-height: 1.35; }
.plot-figure { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; line-height: 1.3; }
.plot-figure em { display: inline-block; font-style: normal; font-size: .84em; margin-left: .3em; }
.strip { position: relative; height: 2.6rem; margin: 0 .5rem; }
.ticks { position: relative; height: 1.5rem; margin: 0 .5rem; border-top: 1px solid var(--line); }
.plot-axis .plot-figure { color: var(--soft); font-weight: 400; font-size: .82rem; align-self: start; }
.tick { position: absolute; top: .2rem; transform: translateX(-50%); color: var(--soft); font-size: .8rem; font-variant-numeric: tabular-nums; }
.grid, .zero { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--faint); }
.zero { background: var(--soft); }
.spread, .interval { position: absolute; top: 50%; height: .95rem; margin-top: -.475rem; border-radius: 4px; background: var(--accent-soft); }
.interval { height: .3rem; margin-top: -.15rem; background: var(--soft); }
.interval.better { background: var(--accent); } .interval.worse { background: var(--warm); }
.dot { position: absolute; top: 50%; width: .72rem; height: .72rem; margin: -.36rem 0 0 -.36rem; border-radius: 50%;
  background: var(--accent); border: 1.5px solid var(--card); opacity: .85; }
.dot.unclear { background: var(--soft); opacity: 1; } .dot.worse { background: var(--warm); opacity: 1; } .dot.better { opacity: 1; }
.mean { position: absolute; top: 50%; width: 3px; height: 1.7rem; margin: -.85rem 0 0 -1.5px; border-radius: 2px; background: var(--ink); }
.key { position: static; display: inline-block; margin: 0 .1rem 0 .7rem; vertical-align: middle; }
.note .key:first-child { margin-left: 0; } .mean.key { height: 1rem; } .spread.key { width: 1.6rem; height: .8rem; }
em.better { color: var(--accent); } em.worse { color: var(--warm); } em.unclear { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-size: .93rem; padding-bottom: .6rem; }
th, td { padding: .42rem .7rem; border-bottom: 1px solid var(--faint); vertical-align: top; }
th:first-child { padding-left: 0; } th:last-child, td:last-child { padding-right: 0; }
th[scope=row] { text-align: left; font-weight: 500; overflow-wrap: anywhere; min-width: 7rem; }
th[scope=row] small { display: block; line-height: 1.2; }
thead th { text-align: left; color: var(--soft); font-weight: 500; font-size: .9rem; border-bottom: 1px solid var(--line); vertical-align: bottom; }
tfoot th, tfoot td { border-bottom: 0; border-top: 0; padding-block: .25rem; } tfoot tr:first-child > * { border-top: 1px solid var(--line); padding-top: .5rem; font-weight: 650; }
.num { text-align: right !important; white-space: nowrap; } .rows, .none, tfoot tr + tr > * { color: var(--soft); }
td small { margin-left: .35em; }
.best { font-weight: 700; }
.bar { display: block; height: 3px; margin-top: .2rem; margin-left: auto; width: 100%; min-width: 3.5rem; max-width: 7rem; border-radius: 2px; background: var(--faint); overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--accent); opacity: .45; } .best .bar i { opacity: 1; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; margin: .8rem 0 0; font-size: .93rem; }
dt { font-weight: 600; } dd { margin: 0; color: var(--soft); }
section > p { max-width: 75ch; } .answer > p, .note { max-width: none; }
.pipelines { list-style: none; margin: .3rem 0 0; padding: 0; } .pipelines li { padding: .25rem 0; }
footer { color: var(--soft); font-size: .88rem; margin-top: 1.5rem; }
@media (max-width: 44rem) {
  main { padding: 1.4rem .8rem 3rem; } section { padding: 1rem; }
  .plot-row, .differences .plot-row { grid-template-columns: minmax(0, 1fr) max-content; gap: 0 .8rem; }
  .strip, .ticks { grid-column: 1 / -1; grid-row: 2; } .strip { height: 2rem; } .plot-axis .plot-figure { display: none; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print { body { background: none; } section { break-inside: avoid; } }
)css";
}

}  // namespace ecotone::report
