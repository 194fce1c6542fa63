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
