// The table of all trials: sorted, filtered and downloaded on this page alone.

const FORMULA = "[=+\\-@\uff1d\uff0b\uff0d\uff20]";
// What Python takes for white space: JavaScript lacks five of these, and counts one more.
const SPACE = "(?:(?!\\ufeff)\\s|[\\x1c-\\x1f\\x85])";
const START = new RegExp("^(?:['\\t\\r\\n]|" + SPACE + "*" + FORMULA + ")");
const INNER = new RegExp("((?:;|" + SPACE + ")+)('*)(" + FORMULA + ")?", "g");
const FIRST_ROWS = 100;

// A cell that a spreadsheet would run as a formula gets an apostrophe before it, as Study.to_csv does.
function neutral(cell) {
  if (typeof cell !== "string") return cell;
  const text = cell.replace(INNER, (all, gap, marks, sign) =>
    sign !== undefined && /[;\t\r\n]/.test(gap) ? gap + "'" + marks + sign : all);
  return START.test(text) ? "'" + text : text;
}

function quoted(cell) {
  const text = cell === null || cell === undefined ? "" : String(cell);
  return /[;\t\r\n,"]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function csv(columns, rows) {
  const lines = [columns.map((column) => column.name), ...rows];
  return lines.map((row) => row.map((cell) => quoted(neutral(cell))).join(",") + "\r\n").join("");
}

function shownNumber(value) {
  if (Number.isInteger(value)) return String(value);
  const text = Number(value.toPrecision(6));
  return Math.abs(text) >= 1e-4 && Math.abs(text) < 1e9 ? String(text) : text.toExponential();
}

function shownCell(value) {
  return value === null || value === undefined ? "" : typeof value === "number" ? shownNumber(value) : String(value);
}

// Numbers by their size, then text by its alphabet; what is missing comes last, whatever the direction.
function compared(a, b, direction) {
  const missing = (a === null || a === "") - (b === null || b === "");
  if (missing) return missing;
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  if (typeof a !== typeof b) return direction * (typeof a === "number" ? -1 : 1);
  return direction * String(a).localeCompare(String(b), "en", { numeric: true });
}

class TrialTable {
  constructor(section) {
    this.sort = { column: 0, direction: 1 };
    this.all = false;
    this.words = "";
    this.status = "";
    const tools = element("div", { class: "tools" });
    this.filter = element("input", { type: "search", placeholder: "Filter the trials", "aria-label": "Filter the trials" });
    this.states = element("select", { "aria-label": "Status" });
    this.button = element("button", { type: "button" }, "Download CSV");
    this.count = element("p", { class: "note", role: "status" });
    tools.append(this.filter, this.states, this.button);
    this.box = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of trials" });
    this.more = element("button", { type: "button" });
    section.append(tools, this.count, this.box, this.more);
    this.filter.addEventListener("input", () => { this.words = this.filter.value; this.draw(); });
    this.states.addEventListener("change", () => { this.status = this.states.value; this.draw(); });
    this.more.addEventListener("click", () => { this.all = true; this.draw(); });
    this.button.addEventListener("click", () => this.download());
  }

  update(trials, best, file) {
    this.columns = trials.columns;
    this.rows = trials.rows;
    this.best = best;
    this.file = file;
    const place = this.columns.findIndex((column) => column.role === "status");
    const states = [...new Set(this.rows.map((row) => row[place]))].sort();
    this.states.replaceChildren(element("option", { value: "" }, "every status"),
      ...states.map((status) => element("option", { value: status }, status)));
    if (!states.includes(this.status)) this.status = "";
    this.states.value = this.status;
    this.draw();
  }

  chosen() {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    const place = this.columns.findIndex((column) => column.role === "status");
    const rows = this.rows.filter((row) => (!this.status || row[place] === this.status)
      && words.every((word) => row.some((cell) => shownCell(cell).toLowerCase().includes(word))));
    const { column, direction } = this.sort;
    return rows.sort((a, b) => compared(a[column], b[column], direction) || a[0] - b[0]);
  }

  draw() {
    const rows = this.chosen();
    const shown = this.all ? rows : rows.slice(0, FIRST_ROWS);
    const held = document.activeElement && this.box.contains(document.activeElement)
      ? document.activeElement.dataset.column : undefined;
    const table = element("table");
    const head = element("tr");
    this.columns.forEach((column, i) => {
      if (column.hidden) return;
      const button = element("button", { type: "button", "data-column": i }, clipped(column.label, 80));
      button.addEventListener("click", () => {
        const again = this.sort.column === i && this.sort.direction === 1;
        this.sort = { column: i, direction: again ? -1 : 1 };
        this.draw();
      });
      const order = this.sort.column !== i ? "none" : this.sort.direction === 1 ? "ascending" : "descending";
      const cell = element("th", { scope: "col", "aria-sort": order });
      cell.append(button);
      head.append(cell);
    });
    const body = element("tbody");
    for (const row of shown) body.append(this.row(row));
    const top = element("thead");
    top.append(head);
    table.append(top, body);
    this.box.replaceChildren(table);
    if (held !== undefined) this.box.querySelector(`[data-column="${CSS.escape(held)}"]`)?.focus();
    const every = this.rows.length;
    this.count.textContent = rows.length === every ? `${every} trial${every === 1 ? "" : "s"}`
      : `${rows.length} of ${every} trials`;
    this.more.hidden = shown.length === rows.length;
    this.more.textContent = `Show all ${rows.length}`;
    this.button.textContent = rows.length === every ? "Download CSV" : `Download CSV (${rows.length} rows)`;
    this.button.disabled = !rows.length;
  }

  row(row) {
    const line = element("tr", { id: `trial-${row[0]}` });
    if (this.best.includes(row[0])) line.className = "best";
    row.forEach((value, i) => {
      if (this.columns[i].hidden) return;
      const cell = element("td", { dir: "auto", class: typeof value === "number" ? "number" : "" });
      const text = shownCell(value);
      if (text.length > 60) {
        const inner = element("div", { class: "clip", title: clipped(text, 1000) }, clipped(text, 1000));
        cell.append(inner);
      } else {
        cell.textContent = text;
      }
      line.append(cell);
    });
    return line;
  }

  // Bring a trial into view, whatever hides it.
  reveal(id) {
    if (!this.rows.some((row) => row[0] === id)) return; // it was not handed out yet
    if (!this.chosen().slice(0, this.all ? undefined : FIRST_ROWS).some((row) => row[0] === id)) {
      this.words = this.filter.value = "";
      this.status = this.states.value = "";
      this.all = true;
      this.draw();
    }
    for (const line of this.box.querySelectorAll(".found-here")) line.classList.remove("found-here");
    const line = document.getElementById(`trial-${id}`);
    line.classList.add("found-here");
    line.scrollIntoView({ block: "center" });
  }

  download() {
    const url = URL.createObjectURL(new Blob([csv(this.columns, this.chosen())], { type: "text/csv;charset=utf-8" }));
    const link = element("a", { href: url, download: `${this.file}.csv` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}
