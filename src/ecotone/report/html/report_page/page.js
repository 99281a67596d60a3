// What a report does beyond showing: tables that sort, a threshold that moves, charts and tables that can be saved.
"use strict";
(() => {
  document.documentElement.classList.add("js");

  // ---- saving
  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") + (type === "text/csv" ? ".csv" : ".svg");
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const csvField = (text) => (/[",\r\n;\t]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text);

  // The value of a cell, and what stands small beside it, as fields of their own; numbers as programs read them.
  const plain = (text) => csvField(text.replace(/\s+/g, " ").replaceAll("−", "-").trim());
  const cellFields = (cell, split) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll(".why, .worst, svg").forEach((element) => element.remove());
    const small = [...copy.querySelectorAll("small")].map((element) => { element.remove(); return element.textContent; });
    return split ? [plain(copy.textContent), plain(small.join(" "))] : [plain([copy.textContent, ...small].join(" "))];
  };
  const tableText = (table) => {
    const rows = [...table.rows].filter((row) => row.cells.length > 0);
    const columns = Math.max(...rows.map((row) => row.cells.length));
    const split = Array.from({ length: columns }, (_, c) => rows.some((row) => row.cells[c]?.matches("td") && row.cells[c].querySelector("small")));
    return rows.map((row) => [...row.cells].flatMap((cell, c) => cellFields(cell, split[c])).join(",")).join("\n") + "\n";
  };

  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity",
    "font-family", "font-size", "font-weight", "font-variant-numeric", "text-anchor"];

  // A picture that looks the same without the page's style sheet.
  const standalone = (svg) => {
    const copy = svg.cloneNode(true);
    const from = [svg, ...svg.querySelectorAll("*")];
    const to = [copy, ...copy.querySelectorAll("*")];
    from.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const name of kept) if (style.getPropertyValue(name)) to[i].setAttribute(name, style.getPropertyValue(name));
      to[i].removeAttribute("class");
    });
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    paper.setAttribute("width", "100%");
    paper.setAttribute("height", "100%");
    paper.setAttribute("fill", getComputedStyle(svg.closest("section")).backgroundColor);
    copy.prepend(paper);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const box = svg.viewBox.baseVal;
    copy.setAttribute("width", box.width);
    copy.setAttribute("height", box.height);
    return new XMLSerializer().serializeToString(copy);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-take]");
    if (!button) return;
    const whole = button.closest("figure, .tabled");
    const name = whole.dataset.name;
    if (button.dataset.take === "csv") save(name, "text/csv", whole.querySelector("template.csv").content.textContent);
    if (button.dataset.take === "table") save(name, "text/csv", tableText(whole.querySelector("table")));
    if (button.dataset.take === "svg") {
      const shown = [...whole.querySelectorAll(".scroll svg, .narrow svg")].find((svg) => svg.getClientRects().length > 0);
      save(name, "image/svg+xml", standalone(shown));
    }
  });

  // ---- sorting
  const numberOf = (cell) => {
    const text = (cell.firstChild?.textContent ?? "").replace("−", "-").replace("%", "").trim();
    return text === "" || text === "–" ? NaN : Number(text);
  };
  const sort = (table, column, head) => {
    const ascending = head.getAttribute("aria-sort") === "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const sign = ascending ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [numberOf(a.cells[column]), numberOf(b.cells[column])];
      if (column === 0 || (Number.isNaN(x) && Number.isNaN(y)))
        return sign * a.cells[column].innerText.localeCompare(b.cells[column].innerText);
      return Number.isNaN(x) ? 1 : Number.isNaN(y) ? -1 : sign * (x - y);
    });
    body.append(...rows);
  };
  for (const table of document.querySelectorAll("table.sortable"))
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, column, head));
    });

  // ---- the threshold
  const slider = document.getElementById("threshold");
  if (slider) {
    const pipelines = JSON.parse(document.getElementById("curves").textContent);
    const choice = document.getElementById("which-pipeline");
    const shown = document.getElementById("threshold-value");
    const rows = document.getElementById("at-threshold").tBodies[0].rows;
    const share = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : "–");
    const update = () => {
      const pipeline = pipelines[choice ? Number(choice.value) : 0];
      slider.max = pipeline.thresholds.length - 1;
      const t = Math.min(Number(slider.value), pipeline.thresholds.length - 1);
      shown.value = pipeline.thresholds[t];
      slider.setAttribute("aria-valuetext", `threshold ${pipeline.thresholds[t]}`);
      pipeline.domains.forEach((domain, d) => {
        const [tp, fp] = [domain.positive[t], domain.negative[t]];
        const [positives, negatives] = [domain.positive[0], domain.negative[0]];
        const [tn, fn] = [negatives - fp, positives - tp];
        [share(tp, positives), share(tn, negatives), share(tp, tp + fp), share(tn, tn + fn), share(tp + fp, positives + negatives)]
          .forEach((text, k) => { rows[d].cells[k + 1].textContent = text; });
      });
    };
    // Another pipeline has other thresholds: stay near the one that is set.
    let wanted = Number(shown.value);
    slider.addEventListener("input", () => { update(); wanted = Number(shown.value); });
    choice?.addEventListener("change", () => {
      const thresholds = pipelines[Number(choice.value)].thresholds;
      slider.max = thresholds.length - 1;
      slider.value = thresholds.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(thresholds[best] - wanted) ? i : best), 0);
      update();
    });
    update();
  }
})();
