// The board of HEXAGONS: 10 rows, 18 columns; columns 2, 4, ... are half a tile lower.
import { announce, h, s } from "./dom.js";

export const ROWS = 10;
export const COLUMNS = 18;
export const COLORS = ["white", "black", "yellow", "green", "red", "blue", "purple", "orange"];
export const PAINT = { white: "#ffffff", black: "#000000", yellow: "#fff700", green: "#32cd32", red: "#dc143c", blue: "#1e90ff", purple: "#ee82ee", orange: "#ff8c00" };
// The order of the colors in the original application.
export const PALETTE = ["yellow", "orange", "red", "purple", "blue", "green", "black", "white"];
export const BLANK = "0".repeat(ROWS * COLUMNS);

const SIDE = 10;
const HALF = (SIDE * Math.sqrt(3)) / 2;
const LEFT = 13;
const TOP = 12;
export const WIDTH = LEFT + SIDE + 1.5 * SIDE * (COLUMNS - 1) + SIDE + 3;
export const HEIGHT = TOP + 2 * HALF * ROWS + HALF + 3;

const center = (index) => {
  const column = index % COLUMNS;
  const row = Math.floor(index / COLUMNS);
  return [LEFT + SIDE + 1.5 * SIDE * column, TOP + HALF + 2 * HALF * row + HALF * (column & 1)];
};
const CENTERS = Array.from({ length: ROWS * COLUMNS }, (_, index) => center(index));
const round = (value) => Math.round(value * 100) / 100;
const outline = ([x, y], side = SIDE) =>
  [0, 60, 120, 180, 240, 300].map((angle) => `${round(x + side * Math.cos((angle * Math.PI) / 180))},${round(y + side * Math.sin((angle * Math.PI) / 180))}`);

export const colorOf = (digits, index) => COLORS[digits[index]];
export const set = (digits, index, code) => digits.slice(0, index) + code + digits.slice(index + 1);

export function actions(before, after) {
  const found = [];
  for (let i = 0; i < after.length; i++) if (before[i] !== after[i]) found.push([Math.floor(i / COLUMNS), i % COLUMNS, COLORS[after[i]]]);
  return found;
}

// What a board shows, in words.
export function described(digits) {
  const counts = new Map();
  for (const digit of digits) if (digit !== "0") counts.set(COLORS[digit], (counts.get(COLORS[digit]) ?? 0) + 1);
  if (!counts.size) return "blank board";
  return `board with ${[...counts].map(([color, count]) => `${count} ${color}`).join(", ")} tiles`;
}

function paths(digits) {
  return COLORS.map((color, code) => [color, CENTERS.filter((_, i) => digits[i] === String(code)).map((at) => `M${outline(at).join("L")}Z`).join("")]).filter(([, path]) => path);
}

// A still picture of a board. Tiles that differ from `before` carry a dot.
export function picture(digits, { before, label, frame = true } = {}) {
  const dots = before ? CENTERS.filter((_, i) => before[i] !== digits[i]) : [];
  const box = frame ? `0 0 ${WIDTH} ${round(HEIGHT)}` : `${LEFT - 2} ${TOP - 2} ${WIDTH - LEFT + 2} ${round(HEIGHT - TOP + 2)}`;
  return s("svg", { class: "board still", viewBox: box, role: "img", "aria-label": label ?? described(digits) },
    paths(digits).map(([color, path]) => s("path", { d: path, fill: PAINT[color], class: "tile" })),
    dots.map(([x, y]) => s("circle", { cx: round(x), cy: round(y), r: 2.6, class: "dot" })));
}

export function asSvg(digits) {
  const tiles = paths(digits).map(([color, path]) => `<path d="${path}" fill="${PAINT[color]}"/>`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${LEFT - 2} ${TOP - 2} ${WIDTH - LEFT + 2} ${round(HEIGHT - TOP + 2)}"><g stroke="#000" stroke-width=".7" stroke-linejoin="round">${tiles}</g></svg>\n`;
}

export function asPng(digits, scale = 4) {
  const canvas = h("canvas", { width: Math.round((WIDTH - LEFT + 2) * scale), height: Math.round((HEIGHT - TOP + 2) * scale) });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.translate(2 - LEFT, 2 - TOP);
  pen.lineWidth = 0.7;
  for (const [color, path] of paths(digits)) {
    pen.fillStyle = PAINT[color];
    pen.fill(new Path2D(path));
    pen.stroke(new Path2D(path));
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function asJson(digits) {
  return `${JSON.stringify({ board: digits, painted: actions(BLANK, digits) })}\n`;
}

// A board to paint on: by pointer, by touch, by keyboard. `stroke(before)` is called after each stroke, however many tiles it has.
export class Board {
  constructor({ digits = BLANK, label = "Board", editable = true, stroke = () => {} } = {}) {
    this.digits = digits;
    this.brush = "red";
    this.stroke = stroke;
    this.cursor = 0;
    this.tiles = CENTERS.map((at, i) => s("polygon", { points: outline(at).join(" "), class: "tile", fill: PAINT[COLORS[digits[i]]] }));
    this.dots = s("g", {});
    this.ring = s("polygon", { class: "ring", points: outline(CENTERS[0], SIDE - 1.4).join(" ") });
    this.labels = s("g", { class: "labels", "aria-hidden": "true" },
      Array.from({ length: COLUMNS }, (_, column) => s("text", { x: round(CENTERS[column][0]), y: 8.5 }, String(column + 1))),
      Array.from({ length: ROWS }, (_, row) => s("text", { x: 5, y: round(CENTERS[row * COLUMNS][1] + 2.4) }, String(row + 1))));
    this.element = s("svg", { class: "board live", viewBox: `0 0 ${WIDTH} ${round(HEIGHT)}` }, this.tiles, this.dots, this.labels, this.ring);
    this.name = label;
    this.where = h("p", { class: "where" }, "\u00a0");
    this.setEditable(editable);
    this.listen();
  }

  setEditable(editable) {
    this.editable = editable;
    this.element.classList.toggle("editable", editable);
    this.element.setAttribute("role", editable ? "application" : "img");
    this.element.setAttribute("tabindex", editable ? "0" : "-1");
    this.describe();
  }

  describe() {
    const help = this.editable ? ". Arrow keys move, Enter paints, Shift with arrow keys paints while moving, 1 to 8 choose a color" : "";
    this.element.setAttribute("aria-label", `${this.name}: ${described(this.digits)}${help}`);
  }

  show(digits, before) {
    for (let i = 0; i < digits.length; i++) if (digits[i] !== this.digits[i]) this.tiles[i].setAttribute("fill", PAINT[COLORS[digits[i]]]);
    this.digits = digits;
    const changed = before ? CENTERS.filter((_, i) => before[i] !== digits[i]) : [];
    this.dots.replaceChildren(...changed.map(([x, y]) => s("circle", { cx: round(x), cy: round(y), r: 2.2, class: "dot" })));
    this.describe();
  }

  coordinates(on) {
    this.element.classList.toggle("numbered", on);
  }

  paint(index) {
    const code = String(COLORS.indexOf(this.brush));
    if (this.digits[index] === code) return;
    this.digits = set(this.digits, index, code);
    this.tiles[index].setAttribute("fill", PAINT[this.brush]);
  }

  point(event) {
    const matrix = this.element.getScreenCTM().inverse();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return [at.x, at.y];
  }

  tileAt([x, y]) {
    const near = Math.round((x - LEFT - SIDE) / (1.5 * SIDE));
    let best = -1;
    let least = SIDE * 0.95;
    for (let column = near - 1; column <= near + 1; column++) {
      if (column < 0 || column >= COLUMNS) continue;
      const row = Math.round((y - TOP - HALF - HALF * (column & 1)) / (2 * HALF));
      if (row < 0 || row >= ROWS) continue;
      const index = row * COLUMNS + column;
      const distance = Math.hypot(CENTERS[index][0] - x, CENTERS[index][1] - y);
      if (distance < least) [best, least] = [index, distance];
    }
    return best;
  }

  listen() {
    let last = null;
    let before = null;
    const tell = (index) => (this.where.textContent = index < 0 ? "\u00a0" : `row ${Math.floor(index / COLUMNS) + 1}, column ${(index % COLUMNS) + 1}, ${colorOf(this.digits, index)}`);
    const along = (from, to) => {
      const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / (SIDE / 2)));
      for (let n = 0; n <= steps; n++) {
        const index = this.tileAt([from[0] + ((to[0] - from[0]) * n) / steps, from[1] + ((to[1] - from[1]) * n) / steps]);
        if (index >= 0) this.paint(index);
      }
    };
    this.element.addEventListener("pointerdown", (event) => {
      if (!this.editable || event.button !== 0) return;
      before = this.digits;
      last = this.point(event);
      along(last, last);
      const index = this.tileAt(last);
      if (index >= 0) this.move(index, false);
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener("pointermove", (event) => {
      const at = this.point(event);
      tell(this.tileAt(at));
      if (before === null) return;
      for (const step of event.getCoalescedEvents?.() ?? []) {
        const next = this.point(step);
        along(last, next);
        last = next;
      }
      along(last, at);
      last = at;
    });
    const up = () => {
      if (before !== null && before !== this.digits) this.finish(before);
      before = null;
    };
    this.element.addEventListener("pointerup", up);
    this.element.addEventListener("pointercancel", up);
    this.element.addEventListener("pointerleave", () => tell(-1));
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  finish(before) {
    this.describe();
    this.stroke(before);
  }

  move(index, say = true) {
    this.cursor = index;
    this.ring.setAttribute("points", outline(CENTERS[index], SIDE - 1.4).join(" "));
    const text = `row ${Math.floor(index / COLUMNS) + 1}, column ${(index % COLUMNS) + 1}, ${colorOf(this.digits, index)}`;
    this.where.textContent = text;
    if (say) announce(text);
  }

  key(event) {
    if (!this.editable || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowUp: -COLUMNS, ArrowDown: COLUMNS, ArrowLeft: -1, ArrowRight: 1 };
    const before = this.digits;
    if (event.key in steps) {
      const column = this.cursor % COLUMNS;
      const next = this.cursor + steps[event.key];
      const edge = (event.key === "ArrowLeft" && column === 0) || (event.key === "ArrowRight" && column === COLUMNS - 1);
      if (event.shiftKey) this.paint(this.cursor);
      if (!edge && next >= 0 && next < CENTERS.length) {
        if (event.shiftKey) this.paint(next);
        this.move(next);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.paint(this.cursor);
      this.move(this.cursor);
    } else return;
    event.preventDefault();
    if (before !== this.digits) this.finish(before);
  }
}

// The eight colors as round buttons; number keys choose too.
export function palette(board, chosen = () => {}) {
  const group = h("div", { class: "palette", role: "radiogroup", "aria-label": "Color" });
  const choose = (color, focus) => {
    board.brush = color;
    for (const one of group.children) {
      const on = one.dataset.color === color;
      one.setAttribute("aria-checked", on);
      one.tabIndex = on ? 0 : -1;
      if (on && focus) one.focus();
    }
    chosen(color);
  };
  PALETTE.forEach((color, n) => {
    const swatch = s("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, s("circle", { cx: 10, cy: 10, r: 8.5, fill: PAINT[color] }));
    group.append(h("button", { type: "button", role: "radio", class: "swatch", "data-color": color, "aria-label": color, title: `${color} (${n + 1})`, onclick: () => choose(color) }, swatch));
  });
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(PALETTE[(PALETTE.indexOf(board.brush) + step + PALETTE.length) % PALETTE.length], true);
  });
  board.element.addEventListener("keydown", (event) => {
    if (/^[1-8]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) choose(PALETTE[event.key - 1]);
  });
  choose(board.brush);
  group.choose = choose;
  return group;
}
