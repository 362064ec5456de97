// Elements and small parts of the page. Text is only ever set as text: what people and models write is never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", class: "button", ...properties, onclick }, text);
}

export function field(label, control, hint) {
  const id = control.id || `f${Math.random().toString(36).slice(2)}`;
  control.id = id;
  return h("div", { class: "field" }, h("label", { for: id }, label), control, hint && h("p", { class: "hint" }, hint));
}

// Plays `count` moments one after another; returns a button that starts and stops it, and `stop`. `at` returns the current moment,
// `select` shows another one, and `pause` returns how many milliseconds it is shown; the moment that play begins with has `first`.
export function playback({ count, at, select, pause, first }) {
  let timer = null;
  const play = button("Play", () => (timer ? stop() : go()), { class: "button primary" });
  function stop() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  }
  function step() {
    if (at() + 1 >= count) return stop();
    select(at() + 1);
    timer = setTimeout(step, pause());
    return undefined;
  }
  function go() {
    if (at() === count - 1) select(0);
    play.textContent = "Pause";
    timer = setTimeout(step, first);
  }
  return { play, stop };
}

export function announce(text) {
  document.getElementById("said").textContent = text;
}

export function toast(text, bad = false) {
  const one = h("div", { class: bad ? "toast bad" : "toast" }, text);
  document.getElementById("toasts").append(one);
  setTimeout(() => one.remove(), bad ? 9000 : 4500);
}

export function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A field for the person's name, which is kept in this browser and tells people apart.
export function personField() {
  const input = h("input", { type: "text", value: localStorage.getItem("person") ?? "", autocomplete: "nickname", maxlength: 200, placeholder: "Ada" });
  input.addEventListener("input", () => localStorage.setItem("person", input.value));
  return input;
}

export function percent(value) {
  return `${(100 * value).toFixed(value === 1 || value === 0 ? 0 : 1)}%`;
}

export function failed(main, error) {
  main.replaceChildren(
    h("section", { class: "card narrow" }, h("h1", {}, "This did not work"), h("p", {}, error.message), h("p", {}, h("a", { href: "#/draw" }, "Back to the drawing board"))),
  );
}
