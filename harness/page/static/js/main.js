// The frame: which mode is shown, and the colors of the page.
import { failed } from "./dom.js";

// The server has put the token of the printed address into a cookie.
if (location.search) history.replaceState(null, "", location.pathname + location.hash);

const MODES = { draw: "./draw.js", game: "./game.js", gallery: "./gallery.js", procedure: "./procedure.js", build: "./build.js", replay: "./replay.js" };
const TITLES = { draw: "Draw", game: "Game", gallery: "Gallery", procedure: "Procedure", build: "Build", replay: "Replay" };
const main = document.getElementById("main");
let leave = null;
let turn = 0;

async function route() {
  const own = ++turn;
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const mode = name in MODES ? name : "draw";
  leave?.();
  leave = null;
  document.title = `${TITLES[mode]} · Grid worlds`;
  for (const link of document.querySelectorAll(".tabs a")) {
    const tab = mode === "procedure" ? "gallery" : mode;
    if (link.hash === `#/${tab}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.className = mode;
  main.replaceChildren();
  main.setAttribute("aria-busy", "true");
  try {
    const module = await import(MODES[mode]);
    if (own !== turn) return;
    const end = await module.show(main, rest.map(decodeURIComponent), () => own === turn);
    if (own === turn) leave = end ?? null;
    else end?.();
  } catch (error) {
    if (own === turn) failed(main, error);
  }
  if (own === turn) {
    main.removeAttribute("aria-busy");
    main.dataset.ready = mode;
  }
}

const THEMES = ["system", "light", "dark"];
const themes = document.getElementById("theme");
function paintTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themes.setAttribute("aria-label", `Colors: ${theme === "system" ? "as in the system" : theme}`);
  themes.title = themes.getAttribute("aria-label");
}
themes.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(localStorage.getItem("theme") ?? "system") + 1) % THEMES.length];
  localStorage.setItem("theme", next);
  paintTheme(next);
});
paintTheme(localStorage.getItem("theme") ?? "system");
addEventListener("hashchange", () => {
  delete main.dataset.ready;
  route();
  scrollTo(0, 0);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
route();
