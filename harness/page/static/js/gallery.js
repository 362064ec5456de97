// The images of the corpus by category, with the procedures that draw them.
import { ask, start } from "./api.js";
import { picture } from "./board.js";
import { button, h } from "./dom.js";

export const categoryName = (name) => (name === "NONE" ? "second round" : name);

let images;

export async function show(main) {
  const [found, { sources }] = await Promise.all([images ?? ask("GET", "/page/images"), start()]);
  images = found;
  const categories = [...new Set(images.map((image) => image.category))].sort((a, b) => (a === "NONE") - (b === "NONE") || a.localeCompare(b));
  const index = h("input", { type: "number", min: 0, id: "index", "aria-label": "Index of a procedure", placeholder: "81", inputmode: "numeric" });
  const form = h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); if (index.value !== "") location.hash = `#/procedure/${index.value}`; } },
    h("label", { for: "index", class: "label" }, "Procedure"), h("span", {}, index), h("button", { class: "button", type: "submit" }, "Show"));
  const place = h("div", {});
  const filters = h("div", { class: "row", role: "group", "aria-label": "Categories" });
  function only(category) {
    for (const one of filters.children) one.setAttribute("aria-pressed", one.dataset.category === category);
    const shown = categories.filter((one) => category === "" || one === category);
    place.replaceChildren(...shown.map((one) => {
      const own = images.filter((image) => image.category === one);
      return h("section", {}, h("h2", {}, categoryName(one), " ", h("span", { class: "hint" }, String(own.length))),
        h("div", { class: "gallery-grid" }, own.map(card)));
    }));
  }
  filters.append(...["", ...categories].map((one) => button(one === "" ? "All" : categoryName(one), () => only(one), { class: "button small toggle", "data-category": one })));
  main.replaceChildren(
    h("div", { class: "head" }, h("h1", {}, "Images and procedures"), form,
      h("p", {}, `${images.length} images of HEXAGONS, each with the procedures in which people described it. `,
        sources.hexagons.kind === "official" ? `The authors\u2019 corpus (${sources.hexagons.license}).` : "This is the small sample that ships; set HARNESS_DATA to see the authors\u2019 corpus.")),
    filters, place);
  only("");
}

function card(image) {
  return h("figure", {},
    h("a", { href: `#/procedure/${image.procedures[0]}`, "aria-label": `Image ${image.id}` }, picture(image.board, { frame: false })),
    h("figcaption", {}, h("strong", {}, image.id), h("span", { class: "hint" }, image.split),
      h("span", { class: "ids" }, image.procedures.slice(0, 8).map((index) => h("a", { href: `#/procedure/${index}`, "aria-label": `Procedure ${index}` }, String(index))),
        image.procedures.length > 8 ? h("span", { class: "hint" }, `+${image.procedures.length - 8}`) : null)));
}
