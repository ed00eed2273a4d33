// strip.js - calls, or layers, in the order of the run against their error, forward above and backward
// below: where it begins, jumps and decays.
"use strict";

const STRIP = { left: 56, right: 12, top: 10, band: 84, gap: 26, bottom: 22 };
const MARK_KEYS = ["identical", "rounding", "close", "different", "unmatched", "error"];

class Strip {
  constructor(model) {
    this.model = model;
    this.canvas = byId("strip");
    this.metrics = model.metrics();
    this.bands = [[], []]; // forward, backward: {call, value, kind, label}; of a layer the worst call
    this.window = [0, 1]; // of the run that is shown
    this.hovered = null;
  }

  metric() {
    return this.metrics.find((metric) => metric.name === State.get("metric")) || this.metrics[0];
  }

  // The comparison that is shown: the chosen one, or that of the first origin.
  shownSource() {
    if (State.get("source") !== "") return Number(State.get("source"));
    const row = Number(State.get("row") || -1);
    if (State.get("row") !== "" && row < this.model.rows) return this.model.source[row];
    const origin = originsOf(this.model.facts)[0];
    return origin !== undefined ? origin.source : 0;
  }

  async fill() {
    const metric = this.metric();
    await Promise.all(metric.columns.map((column) => column.load()));
    if (metric !== this.metric()) return;
    this.source = this.shownSource();
    this.bands = [[], []];
    this.spot = new Map();
    this.unit = this.alongLayers() ? "layer" : "call";
    const layers = [new Map(), new Map()];
    let least = 1e-3, most = 1e-3;
    for (const call of this.model.calls) {
      if (call.source !== this.source || (this.unit === "layer" && this.model.holdsLayers(call))) continue;
      const value = this.model.valueOf(call, metric);
      this.put(call, value, call.backward ? 1 : 0, layers);
      if (value > 0 && Number.isFinite(value)) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
    }
    this.low = Math.max(-16, Math.floor(Math.log10(least)));
    this.high = Math.min(12, Math.max(this.low + 2, Math.ceil(Math.log10(most) + 1e-9)));
    this.describe();
    this.draw();
  }

  alongLayers() {
    return State.get("along") === "layers" && this.model.hasLayers();
  }

  // A point of its own, or part of that of its layer. Calls outside of all modules that follow each other are one layer.
  put(call, value, number, layers) {
    const band = this.bands[number], layer = this.unit === "layer" ? layerOf(call) : null, last = band[band.length - 1];
    let at = layer === null ? undefined : layer !== "" ? layers[number].get(layer) : last?.outside ? band.length - 1 : undefined;
    if (at === undefined) {
      at = band.length;
      band.push({ call, value, kind: call.kind, label: layer || call.name, outside: layer === "" });
      if (layer) layers[number].set(layer, at);
    } else {
      const point = band[at];
      if (value > point.value) Object.assign(point, { call, value });
      if (CLASS_WEIGHT[call.kind] > CLASS_WEIGHT[point.kind]) point.kind = call.kind;
    }
    this.spot.set(call.number, { band: number, at });
  }

  // The same for those who do not see it.
  describe() {
    if (this.model.facts.sources.length > 1)
      byId("strip-title").textContent = "Error along " + visible(this.model.sourceName(this.source));
    const parts = this.bands.map((band, at) => {
      if (band.length === 0) return "";
      const worst = band.reduce((most, point) => (point.value > most.value ? point : most), band[0]);
      const first = band.find((point) => CLASS_WEIGHT[point.kind] >= this.model.leastDifference());
      return (at === 0 ? "Forward: " : "Backward: ") + plural(band.length, this.unit) + ", the largest "
        + (worst.value < 0 ? "not measured" : shortNumber(worst.value) + " at " + visible(worst.label))
        + (first ? ", the first difference at " + visible(first.label) : "") + ". ";
    });
    const text = this.metric().name + " of each " + this.unit + " in the order of the run. " + parts.join("")
      + "Arrow keys go from " + this.unit + " to " + this.unit + ".";
    byId("strip-text").textContent = text;
    this.canvas.setAttribute("aria-label", "Error along the run");
  }

  // ---- places ------------------------------------------------------------------------------------

  size() {
    const width = this.canvas.clientWidth;
    const bands = this.bands.filter((band) => band.length !== 0).length || 1;
    return { width, plot: width - STRIP.left - STRIP.right,
      height: STRIP.top + bands * STRIP.band + (bands - 1) * STRIP.gap + STRIP.bottom };
  }

  bandTop(band) {
    return STRIP.top + (band === 1 && this.bands[0].length !== 0 ? STRIP.band + STRIP.gap : 0);
  }

  // In the width that was drawn last: asking the page for it costs more than the rest.
  x(band, at) {
    const share = (at + 0.5) / this.bands[band].length;
    return STRIP.left + ((share - this.window[0]) / (this.window[1] - this.window[0])) * this.plot;
  }

  y(band, value) {
    const top = this.bandTop(band);
    if (!(value > 0)) return top + STRIP.band;
    const share = (Math.log10(value) - this.low) / (this.high - this.low);
    return top + STRIP.band - 4 - Math.min(1, Math.max(0, share)) * (STRIP.band - 8);
  }

  pointAt(x, y) {
    let found = null, nearest = 144;
    for (const band of [0, 1])
      this.bands[band].forEach((point, at) => {
        const px = this.x(band, at);
        if (Math.abs(px - x) > 12) return;
        const dy = (this.y(band, point.value) - y) / 4, inside = y >= this.bandTop(band) - 8 && y <= this.bandTop(band) + STRIP.band + 8;
        const distance = (px - x) ** 2 + dy * dy;
        if (inside && distance < nearest) {
          nearest = distance;
          found = { band, at };
        }
      });
    return found;
  }

  // ---- drawing -----------------------------------------------------------------------------------

  drawAxes(paint, band, size) {
    const top = this.bandTop(band), step = Math.max(1, Math.ceil((this.high - this.low) / 4));
    paint.font = "11px system-ui, sans-serif";
    paint.textBaseline = "middle";
    for (let power = this.low; power <= this.high; power += step) {
      const y = this.y(band, 10 ** power);
      paint.fillStyle = styleColour("--line");
      paint.fillRect(STRIP.left, Math.round(y), size.plot, 1);
      paint.fillStyle = styleColour("--quiet");
      paint.textAlign = "right";
      paint.fillText(power === 0 ? "1" : "1e" + power, STRIP.left - 8, y);
    }
    paint.fillStyle = styleColour("--quiet");
    paint.textAlign = "left";
    paint.fillText((band === 0 ? "forward, " : "backward, ") + plural(this.bands[band].length, this.unit), STRIP.left,
      top + STRIP.band + 12);
  }

  // A shape of its own for each level, so that colour is never alone.
  drawMark(paint, key, x, y) {
    paint.beginPath();
    if (key === "different") {
      paint.moveTo(x, y - 4.5);
      paint.lineTo(x + 4.5, y);
      paint.lineTo(x, y + 4.5);
      paint.lineTo(x - 4.5, y);
    } else if (key === "unmatched") {
      paint.rect(x - 3, y - 3, 6, 6);
    } else if (key === "error") {
      paint.moveTo(x, y - 4);
      paint.lineTo(x + 4, y + 3);
      paint.lineTo(x - 4, y + 3);
    } else {
      paint.arc(x, y, key === "close" ? 3 : key === "rounding" ? 2.2 : 1.6, 0, 7);
    }
    paint.closePath();
    paint.fill();
  }

  drawBand(paint, band, size) {
    const points = this.bands[band], base = this.bandTop(band) + STRIP.band;
    const colours = CLASS_KEYS.map((key) => styleColour("--c-" + key));
    const drawn = new Map(); // of each pixel the worst of a level: many calls cost no more than the width
    points.forEach((point, at) => {
      const x = this.x(band, at), { kind } = point;
      if (x < STRIP.left - 1 || x > STRIP.left + size.plot + 1 || (point.value < 0 && kind < DIFFERENT)) return;
      const place = 16 * Math.round(x) + kind, held = drawn.get(place);
      if (held === undefined || point.value > held.value) drawn.set(place, { x, value: point.value, kind });
    });
    for (const mark of drawn.values()) mark.y = this.y(band, mark.value);
    const marks = [...drawn.values()].sort((a, b) => CLASS_WEIGHT[a.kind] - CLASS_WEIGHT[b.kind]);
    paint.globalAlpha = 0.35;
    for (const mark of marks) {
      paint.fillStyle = colours[mark.kind];
      paint.fillRect(mark.x - 0.5, mark.y, 1, base - mark.y);
    }
    paint.globalAlpha = 1;
    for (const mark of marks) {
      paint.fillStyle = colours[mark.kind];
      this.drawMark(paint, CLASS_KEYS[mark.kind], mark.x, mark.y);
    }
  }

  drawOrigins(paint) {
    paint.fillStyle = styleColour("--accent");
    for (const origin of originsOf(this.model.facts)) {
      const row = this.model.rowOf(origin);
      const spot = row !== undefined && origin.source === this.source ? this.spot.get(this.model.callOf[row]) : undefined;
      if (spot === undefined) continue;
      const x = this.x(spot.band, spot.at), y = this.bandTop(spot.band) + STRIP.band;
      if (x < STRIP.left) continue;
      paint.beginPath();
      paint.moveTo(x, y + 1);
      paint.lineTo(x + 5, y + 9);
      paint.lineTo(x - 5, y + 9);
      paint.fill();
    }
  }

  drawSelection(paint) {
    const row = State.get("row") === "" ? -1 : Number(State.get("row"));
    const spot = row >= 0 && row < this.model.rows ? this.spot.get(this.model.callOf[row]) : undefined;
    if (spot === undefined) return;
    const x = this.x(spot.band, spot.at), top = this.bandTop(spot.band);
    paint.strokeStyle = styleColour("--accent");
    paint.lineWidth = 2;
    paint.strokeRect(x - 5, top - 4, 10, STRIP.band + 6);
  }

  draw() {
    const size = this.size(), scale = window.devicePixelRatio || 1;
    if (size.plot <= 0 || this.spot === undefined) return;
    this.plot = size.plot;
    this.canvas.style.height = size.height + "px";
    this.canvas.width = Math.round(size.width * scale);
    this.canvas.height = Math.round(size.height * scale);
    const paint = this.canvas.getContext("2d");
    paint.scale(scale, scale);
    for (const band of [0, 1]) {
      if (this.bands[band].length === 0) continue;
      this.drawAxes(paint, band, size);
      paint.save();
      paint.beginPath();
      paint.rect(STRIP.left - 5, 0, size.plot + 10, size.height);
      paint.clip();
      this.drawBand(paint, band, size);
      paint.restore();
    }
    this.drawOrigins(paint);
    this.drawSelection(paint);
    byId("strip-reset").hidden = this.window[0] === 0 && this.window[1] === 1;
  }

  // ---- hands -------------------------------------------------------------------------------------

  select(spot) {
    const { call, kind, label } = this.bands[spot.band][spot.at];
    const row = worstRow(this.model, call);
    State.set({ row, view: "table" });
    say(visible(label) + ", " + classWord(this.model.facts, kind));
  }

  showTip(event) {
    const box = this.canvas.getBoundingClientRect(), tip = byId("strip-tip");
    const spot = this.pointAt(event.clientX - box.left, event.clientY - box.top);
    tip.hidden = spot === null;
    this.canvas.classList.toggle("pointing", spot !== null);
    if (spot === null) return;
    const { kind, label, value } = this.bands[spot.band][spot.at];
    tip.replaceChildren(badge(this.model.facts, kind), " " + visible(label),
      make("br"), value < 0 ? "nothing measured" : this.metric().name + " " + shortNumber(value));
    const left = Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth - 8);
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = this.canvas.offsetTop + event.clientY - box.top + 14 + "px";
  }

  zoom(event) {
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect(), [from, to] = this.window;
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - STRIP.left) / this.plot));
    const centre = from + share * (to - from), most = Math.max(...this.bands.map((band) => band.length), 1);
    const width = Math.min(1, Math.max(Math.min(1, 8 / most), (to - from) * (event.deltaY > 0 ? 1.25 : 0.8)));
    const start = Math.min(1 - width, Math.max(0, centre - share * width));
    this.window = [start, start + width];
    this.draw();
  }

  step(by) {
    const row = State.get("row") === "" ? -1 : Number(State.get("row"));
    const spot = (row >= 0 && this.spot.get(this.model.callOf[row])) || { band: this.bands[0].length !== 0 ? 0 : 1, at: -by };
    let { band, at } = { band: spot.band, at: spot.at + by };
    if (at >= this.bands[band].length && band === 0 && this.bands[1].length !== 0) [band, at] = [1, 0];
    else if (at < 0 && band === 1 && this.bands[0].length !== 0) [band, at] = [0, this.bands[0].length - 1];
    if (at >= 0 && at < this.bands[band].length) this.select({ band, at });
  }

  start() {
    const select = byId("metric");
    for (const metric of this.metrics) select.append(make("option", { value: metric.name }, metric.name));
    select.value = this.metric().name;
    select.addEventListener("change", () => State.set({ metric: select.value }));
    const along = byId("along");
    byId("along-label").hidden = !this.model.hasLayers();
    along.value = State.get("along");
    along.addEventListener("change", () => State.set({ along: along.value }));
    for (const key of MARK_KEYS) this.legendEntry(key);
    this.canvas.addEventListener("mousemove", (event) => this.showTip(event));
    this.canvas.addEventListener("mouseleave", () => { byId("strip-tip").hidden = true; });
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const spot = this.pointAt(event.clientX - box.left, event.clientY - box.top);
      if (spot !== null) this.select(spot);
    });
    this.canvas.addEventListener("wheel", (event) => { if (event.ctrlKey || event.shiftKey) this.zoom(event); }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      this.step(by);
    });
    byId("strip-reset").addEventListener("click", () => {
      this.window = [0, 1];
      this.draw();
    });
    State.on(["metric", "along"], () => {
      select.value = this.metric().name;
      along.value = State.get("along");
      this.window = [0, 1];
      this.fill();
    });
    State.on(["row", "source"], () => (this.shownSource() !== this.source ? this.fill() : this.draw()));
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  legendEntry(key) {
    const kind = CLASS_KEYS.indexOf(key);
    if (this.model.facts.classes[kind] === 0) return;
    const canvas = make("canvas", { width: 24, height: 24, "aria-hidden": "true" });
    const draw = () => {
      const paint = canvas.getContext("2d");
      paint.setTransform(2, 0, 0, 2, 0, 0);
      paint.clearRect(0, 0, 12, 12);
      paint.fillStyle = styleColour("--c-" + key);
      this.drawMark(paint, key, 6, 6);
    };
    draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    byId("strip-legend").append(make("span", {}, canvas, classWord(this.model.facts, kind)));
  }
}

// The row that stands for a call: the worst, outputs before others.
function worstRow(model, call) {
  let best = call.rows[0], most = -1;
  for (const row of call.rows) {
    const weight = 4 * CLASS_WEIGHT[model.kind[row]] + (model.origin[row] !== 0 ? 2 : 0) + (model.stateOf[row] === 1 ? 1 : 0);
    if (weight > most) [best, most] = [row, weight];
  }
  return best;
}
