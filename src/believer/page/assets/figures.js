// Figures: drawn when they come near the screen, in the colors of the theme; hovering shows the trial.

const COLORS = ["black", "orange", "blue", "green", "red", "gray", "band", "grid", "ink", "soft", "ground", "card",
  ...Array.from({ length: 8 }, (_, i) => `shade${i + 1}`)];
const HOVER_LINES = 16;

// What plotly would take for markup or for mathematics becomes text.
function plain(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll("$", "&#36;");
}

function palette() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// Colors are written by name, such as "@blue", and only where plotly expects a color.
function painted(value, colors, key) {
  if (Array.isArray(value)) return value.length && typeof value[0] === "number" ? value
    : value.map((one) => painted(one, colors, key));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([k, one]) => [k, painted(one, colors, k)]));
  }
  if (typeof value === "string" && value[0] === "@" && /colou?r/.test(key || "")) return colors[value.slice(1)] || value;
  return value;
}

let library = null;

// The library is large: the page is there before it is read.
function loaded() {
  library ??= read();
  return library;
}

async function read() {
  if (document.readyState === "loading") {
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  }
  const given = document.getElementById("plotly");
  const script = document.createElement("script");
  if (given.dataset.src) {
    await new Promise((done, fail) => {
      script.addEventListener("load", done);
      script.addEventListener("error", () => fail(new Error("The library of the figures did not load.")));
      script.src = given.dataset.src;
      document.head.append(script);
    });
    return;
  }
  const packed = atob(given.textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  script.textContent = await new Response(stream).text();
  document.head.append(script); // it runs here
}

class Figures {
  constructor(section, reveal) {
    this.section = section;
    this.reveal = reveal;
    this.panels = new Map();
    this.seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) this.show(entry.target);
    }, { rootMargin: "300px" });
    this.said = element("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    section.append(this.said);
  }

  update(figures, trials) {
    this.byId = new Map(trials.rows.map((row) => [row[0], row]));
    this.columns = trials.columns;
    const wanted = new Map(figures.map((figure) => [figure.id, figure]));
    for (const old of this.section.querySelectorAll("figure")) if (!wanted.has(old.id)) this.drop(old);
    let before = this.said;
    for (const figure of figures) {
      const place = document.getElementById(figure.id) || element("figure", { id: figure.id });
      this.fill(place, figure);
      before.after(place);
      before = place;
    }
  }

  drop(place) {
    for (const panel of place.querySelectorAll(".panel")) {
      this.seen.unobserve(panel);
      this.panels.delete(panel);
      if (panel.drawn) Plotly.purge(panel);
    }
    place.remove();
  }

  fill(place, figure) {
    const same = place.childElementCount && place.dataset.panels === String(figure.panels.length);
    if (!same) {
      this.panelsOf(place).forEach((panel) => { this.seen.unobserve(panel); this.panels.delete(panel); });
      const many = figure.panels.length > 1 ? "panels many" : "panels";
      const box = element("div", { class: many });
      place.replaceChildren(element("h3", {}), element("figcaption", { dir: "auto" }), box);
      figure.panels.forEach(() => box.append(this.panel()));
      place.dataset.panels = figure.panels.length;
    }
    place.querySelector("h3").textContent = figure.title;
    place.querySelector("figcaption").textContent = figure.caption;
    this.panelsOf(place).forEach((panel, i) => {
      const spec = figure.panels[i];
      panel.style.height = `${spec.height}px`;
      panel.setAttribute("aria-label", `${clipped(spec.label, 200)}. The arrow keys go from trial to trial.`);
      this.panels.set(panel, spec);
      if (panel.drawn) this.show(panel);
    });
  }

  panelsOf(place) {
    return [...place.querySelectorAll(".panel")];
  }

  panel() {
    const panel = element("div", { class: "panel wait", tabindex: "0", role: "group" });
    panel.addEventListener("keydown", (event) => this.walk(panel, event));
    this.seen.observe(panel);
    return panel;
  }

  async show(panel) {
    if (!window.Plotly) await loaded();
    const spec = this.panels.get(panel);
    if (!spec) return;
    const colors = palette();
    const data = spec.data.map((trace) => this.trace(painted(trace, colors)));
    const settings = { displaylogo: false, responsive: true, showTips: false, doubleClick: "reset",
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
    panel.traces = data;
    panel.classList.remove("wait");
    Plotly.react(panel, data, this.layout(painted(spec.layout, colors), colors), settings);
    if (!panel.drawn) {
      panel.drawn = true;
      if (!performance.getEntriesByName("first figure").length) performance.mark("first figure");
      panel.on("plotly_click", (event) => {
        const id = this.trialAt(panel, event.points[0]);
        if (id !== undefined) this.reveal(id);
      });
    }
  }

  repaint() {
    for (const panel of this.panels.keys()) if (panel.drawn) this.show(panel);
  }

  layout(layout, colors) {
    const touch = matchMedia("(pointer: coarse)").matches || innerWidth < 600;
    const axis = { gridcolor: colors.grid, zerolinecolor: colors.grid, linecolor: colors.gray, automargin: true };
    const merged = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", dragmode: touch ? false : "zoom",
      font: { family: "system-ui, sans-serif", size: 12, color: colors.ink }, showlegend: false,
      margin: { l: 50, r: 12, t: 12, b: 40 },
      hoverlabel: { align: "left", bgcolor: colors.card, bordercolor: colors.gray, font: { color: colors.ink } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colors.gray, activecolor: colors.ink },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, ...layout,
    };
    for (const key of Object.keys(merged)) if (/^[xy]axis\d*$/.test(key)) merged[key] = { ...axis, ...merged[key] };
    return merged;
  }

  trace(trace) {
    if (!trace.trials) return trace;
    if (trace.across) return this.across(trace);
    const text = trace.trials.map((id) => this.hover(id).map(plain).join("<br>"));
    return { ...trace, x: this.read(trace.x, trace.trials), y: this.read(trace.y, trace.trials),
      hovertext: text, hoverinfo: "text" };
  }

  // Values of trials: as they are given, or read in a column of the table.
  read(values, trials) {
    if (Array.isArray(values)) return values;
    return trials.map((id) => this.place(values, id));
  }

  place(axis, id) {
    const value = this.byId.get(id)?.[axis.column];
    if (value === null || value === undefined) return null;
    if (!axis.choices) return Number(value);
    const place = axis.choices.indexOf(typeof value === "number" ? String(value) : value);
    return place < 0 ? axis.choices.findIndex((choice) => Number(choice) === value) : place;
  }

  // Lines across parallel axes, one a trial, in one path.
  across(trace) {
    const x = [], y = [], ids = [];
    const share = (axis, value) => {
      const [low, high, at] = axis.log ? [axis.low, axis.high, value].map(Math.log) : [axis.low, axis.high, value];
      return high > low ? (at - low) / (high - low) : 0.5;
    };
    for (const id of trace.trials) {
      trace.across.forEach((axis, i) => {
        const value = this.place(axis, id);
        x.push(i);
        y.push(value === null ? null : share(axis, value));
        ids.push(id);
      });
      x.push(null);
      y.push(null);
      ids.push(id);
    }
    const { across, ...rest } = trace;
    return this.trace({ ...rest, trials: ids, x, y });
  }

  // A trial in lines: its number and status, then what it returned, then its parameters.
  hover(id) {
    const row = this.byId.get(id);
    if (!row) return [`trial ${id}`];
    const status = row[this.columns.findIndex((column) => column.role === "status")];
    const lines = [`trial ${id} (${status})`];
    for (const role of ["outcome", "parameter", "error"]) {
      this.columns.forEach((column, i) => {
        if (column.hidden || column.role !== role || row[i] === null || row[i] === "") return;
        const name = clipped(column.label, 32);
        lines.push(`${name}: ${clipped(shownCell(row[i]), 60)}`);
      });
    }
    return lines.length > HOVER_LINES ? [...lines.slice(0, HOVER_LINES), "…"] : lines;
  }

  trialAt(panel, point) {
    const trials = panel.traces?.[point.curveNumber]?.trials;
    return trials ? trials[point.pointNumber] : undefined;
  }

  walk(panel, event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape" && panel.drawn) Plotly.Fx.unhover(panel);
    if (event.key === "Enter" && panel.at) this.reveal(this.trialAt(panel, panel.at));
    if (!step || !panel.drawn || event.target !== panel) return;
    event.preventDefault();
    const points = panel.traces.flatMap((trace, curveNumber) =>
      (trace.trials || []).map((id, pointNumber) => ({ curveNumber, pointNumber, id }))
        .filter(({ pointNumber }) => trace.x[pointNumber] !== null && trace.y[pointNumber] !== null));
    if (!points.length) return;
    points.sort((a, b) => a.id - b.id);
    const now = points.findIndex((p) => panel.at && p.curveNumber === panel.at.curveNumber
      && p.pointNumber === panel.at.pointNumber);
    panel.at = points[(now + step + points.length + (now < 0 && step < 0)) % points.length];
    const { curveNumber, pointNumber } = panel.at;
    Plotly.Fx.hover(panel, [{ curveNumber, pointNumber }]);
    this.said.textContent = this.hover(panel.at.id).join(", ");
  }
}
