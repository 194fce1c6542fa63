"""The style of this page, beside that of all pages, and a script that it can do without.

Lives here: colours of classes, lines of pictures, sorting and searching.  Must not know what is
shown.
"""

from __future__ import annotations

STYLE = """
:root { --c0: #56687a; --c1: #0072b2; --c2: #d55e00; --c3: #009e73; --c4: #b8559a; --c5: #b07a00;
  --c6: #3a9bd1; }
@media (prefers-color-scheme: dark) { :root { --c0: #a9b6c3; --c1: #4aa8e0; --c2: #ff8f4a;
  --c3: #35c79c; --c4: #e593c9; --c5: #e6b33c; --c6: #8fd0f5; } }
ul.story { max-width: 46rem; padding-left: 1.2rem; }
ul.story li { margin: .3rem 0; }
.board { display: grid; gap: 1rem; margin: 1rem 0; grid-template-columns: minmax(0, 1fr);
  align-items: start; }
@media (min-width: 60rem) { .board { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.board > div { display: grid; gap: 1rem; }
svg text { fill: var(--ink); font-size: 12px; }
svg text.name { font-size: 11.5px; }
svg text.soft { fill: var(--soft); }
svg text.mid { text-anchor: middle; }
svg text.end { text-anchor: end; }
svg.open { overflow: visible; }
svg .grid { stroke: var(--line); }
svg .axis { stroke: var(--soft); }
svg .range { stroke: var(--soft); stroke-width: 1.5; opacity: .55; }
svg .ring { fill: var(--back); stroke: var(--soft); stroke-width: 1.3; }
svg .wide { stroke-width: 4; stroke-linecap: round; opacity: .6; }
svg .thin { stroke-width: 1.2; opacity: .6; }
svg .path { stroke-width: 1.8; }
.c0 { --here: var(--c0); } .c1 { --here: var(--c1); } .c2 { --here: var(--c2); }
.c3 { --here: var(--c3); } .c4 { --here: var(--c4); } .c5 { --here: var(--c5); }
.c6 { --here: var(--c6); }
svg line[class*=" c"] { stroke: var(--here); }
svg circle[class^="c"] { fill: var(--here); }
ul.keys { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .3rem;
  padding: 0; font-size: .85rem; }
ul.keys li { overflow-wrap: anywhere; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: .4rem;
  background: var(--here); margin-right: .35rem; vertical-align: -.08rem; }
.scroll { max-height: 36rem; overflow: auto; border: 1px solid var(--line); border-radius: .5rem; }
.scroll thead th { position: sticky; top: 0; }
tr[hidden] { display: none; }
.sortable th { cursor: pointer; }
.verdict { font-weight: 600; }
input[type=search] { font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: .4rem; padding: .35rem .6rem; margin: .3rem 0 .6rem;
  width: 100%; max-width: 24rem; }
@media print { .scroll { max-height: none; overflow: visible; }
  input[type=search] { display: none; } }
"""

SCRIPT = """
for (const box of document.querySelectorAll(".sortable")) {
  const body = box.querySelector("tbody"), rows = [...body.rows];
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = search.ariaLabel = "Search these agents";
  search.oninput = () => rows.forEach(row => {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(search.value.toLowerCase());
  });
  box.before(search);
  box.querySelectorAll("th").forEach((head, k) => head.onclick = () => {
    const up = head.dataset.up = head.dataset.up === "1" ? "0" : "1";
    const text = row => row.cells[k].textContent;
    const number = row => { const x = parseFloat(text(row)); return isNaN(x) ? -Infinity : x; };
    rows.sort((a, b) => (up === "1" ? 1 : -1) * (k ? number(a) - number(b) || 0 :
      text(a).localeCompare(text(b), undefined, { numeric: true })));
    body.append(...rows);
  });
}
"""
