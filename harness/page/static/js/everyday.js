// The requests of a task: what is said, turn by turn, and one right answer to each.
import { ask, start } from "./api.js";
import { button, h } from "./dom.js";

const AT_ONCE = 100; // cards that are drawn before the reader asks for more
const FREE = { shift: "moved", turn: "turned", mirror: "mirrored", color: "in other colors" };

// Links to the parts of the gallery; `here` is the address of the one that is shown.
export function galleryLinks(here, galleries) {
  const links = [["#/gallery", "HEXAGONS: images"], ...galleries.map((one) => [`#/everyday/${one.task}/${one.splits[0]}`, one.link]), ["#/replay", "Minecraft: games"]];
  return h("nav", { class: "row", "aria-label": "Gallery" }, links.map(([href, text]) => h("a", { class: "button small", href, "aria-current": href === here ? "page" : null }, text)));
}

export async function show(main, [asked, of]) {
  const { galleries } = await start();
  const { task, splits, heading, about } = galleries.find((one) => one.task === (asked ?? one.task)) ?? { task: asked, splits: [of] };
  const split = of ?? splits[0];
  const requests = await ask("GET", `/page/everyday/${encodeURIComponent(task)}/${encodeURIComponent(split)}`);
  const kinds = [...new Set(requests.map((request) => request.kind))];
  const place = h("div", { class: "requests" });
  const filters = h("div", { class: "row", role: "group", "aria-label": "Kinds" });
  function only(kind) {
    for (const one of filters.children) one.setAttribute("aria-pressed", one.dataset.kind === kind);
    place.replaceChildren();
    more(requests.filter((request) => kind === "" || request.kind === kind));
  }
  function more(rest) {
    const next = button("Show more", () => { next.remove(); more(rest.slice(AT_ONCE)); }, { class: "button" });
    place.append(...rest.slice(0, AT_ONCE).map((request) => card(request, `/page/everyday/${task}/${split}/${request.name}`)), ...(rest.length > AT_ONCE ? [next] : []));
  }
  filters.append(...["", ...kinds].map((kind) => button(kind === "" ? "All" : kind, () => only(kind), { class: "button small toggle", "data-kind": kind })));
  main.replaceChildren(
    galleryLinks(`#/everyday/${task}/${splits[0]}`, galleries),
    h("div", { class: "head" }, h("h1", {}, heading),
      h("div", { class: "row" }, splits.map((one) => h("a", { class: "button small", href: `#/everyday/${task}/${one}`, "aria-current": one === split ? "true" : null }, one))),
      h("p", {}, `${requests.length} ${about}.`)),
    filters, place);
  only("");
}

function card(request, folder) {
  const image = (turn, alt) => h("img", { src: `${folder}/${turn}.svg`, alt, loading: "lazy" });
  return h("section", { class: "card", "aria-label": request.name },
    h("div", { class: "bar" }, h("h2", {}, request.name.replaceAll("-", " ")), h("span", { class: "chip" }, request.kind)),
    h("ol", { class: "turns" },
      request.begun ? h("li", {}, h("p", { class: "hint" }, "What is there at the start"), image(0, "")) : null,
      request.turns.map((turn, n) => h("li", {}, h("p", {}, h("q", {}, turn.say)), image(n + 1, `A right answer to turn ${n + 1}`), h("code", {}, turn.program), alsoRight(turn)))));
}

function alsoRight(turn) {
  const parts = turn.up_to.map((one) => FREE[one]);
  if (turn.holds.length) parts.push(`whatever makes this true: ${turn.holds.join("; ")}`);
  if (turn.others) parts.push(`${turn.others} other answer${turn.others === 1 ? "" : "s"}`);
  return parts.length ? h("p", { class: "hint" }, `Also right: ${parts.join(", ")}.`) : null;
}
