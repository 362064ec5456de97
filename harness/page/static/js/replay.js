// Any building game of the corpus, as it was played: the dialogue, each block, and what the builder saw.
import { ask, start } from "./api.js";
import { button, h, playback } from "./dom.js";
import { answerView, picker, waiting } from "./players.js";

export async function show(main, [name], alive) {
  return name ? watch(main, name, alive) : list(main);
}

let games;

async function list(main) {
  const [found, { sources }] = await Promise.all([games ?? ask("GET", "/page/games"), start()]);
  games = found;
  const search = h("input", { type: "search", "aria-label": "Search games", placeholder: "C17, test, B3-A2 \u2026" });
  const body = h("tbody", {});
  const count = h("p", { class: "hint", role: "status" });
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fit = games.filter((game) => words.every((word) => `${game.name} ${game.target} ${game.split ?? "warm-up"}`.toLowerCase().includes(word)));
    count.textContent = `${fit.length} of ${games.length} games${fit.length > 100 ? "; the first 100 are shown" : ""}`;
    body.replaceChildren(...fit.slice(0, 100).map((game) => h("tr", {}, h("td", {}, h("a", { href: `#/replay/${encodeURIComponent(game.name)}` }, game.name)), h("td", {}, game.target), h("td", {}, game.split ?? "warm-up"), h("td", { class: "n" }, String(game.lines)), h("td", { class: "n" }, String(game.actions)))));
  }
  search.addEventListener("input", filter);
  main.replaceChildren(
    h("div", { class: "head" }, h("h1", {}, "Replay a game"), h("p", {}, sources.minecraft.kind === "official" ? `Every game of the Minecraft Dialogue Corpus (${sources.minecraft.license}).` : "The small sample that ships; set HARNESS_DATA to see the Minecraft Dialogue Corpus.")),
    h("section", { class: "card" }, search, count, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Games" }, h("table", {}, h("thead", {}, h("tr", {}, ["Game", "Target", "Split"].map((one) => h("th", {}, one)), ["Lines", "Actions"].map((one) => h("th", { class: "n" }, one)))), body))));
  filter();
}

async function watch(main, name, alive) {
  const [data, { key, Region, after }, { talkList }, { select: players, notes }] = await Promise.all([ask("GET", `/page/games/${encodeURIComponent(name)}`), import("./region.js"), import("./talk.js"), picker("minecraft")]);
  if (!alive()) return undefined;
  // A moment is what is seen after an utterance, or after one action.
  const moments = [{ turn: -1, blocks: [], pose: null, changed: [] }];
  for (const [turn, said] of data.turns.entries()) {
    const last = moments.at(-1);
    if (said.speaker) moments.push({ turn, blocks: last.blocks, pose: last.pose, changed: [] });
    else for (const action of said.actions) {
      const { blocks } = moments.at(-1);
      moments.push({ turn, blocks: after(blocks, [action]), pose: said.pose, changed: [key(action.slice(2))] });
    }
  }
  const region = new Region({ label: "What stands" });
  const guess = new Region({ label: "What a model builds", small: true });
  const eyes = h("input", { type: "checkbox" });
  const talk = talkList(data.turns, (turn) => { stop(); select(moments.findIndex((moment) => moment.turn === turn)); });
  const range = h("input", { type: "range", min: 0, max: moments.length - 1, value: 0, "aria-label": "Moment" });
  const speed = h("select", { "aria-label": "Speed" }, [["1", "Normal"], ["3", "Fast"], ["10", "Very fast"]].map(([value, text]) => h("option", { value }, text)));
  const pause = () => (data.turns[moments[current].turn].speaker ? 1300 : 420) / Number(speed.value);
  const { play, stop } = playback({ count: moments.length, at: () => current, select, pause, first: 100 });
  const reply = h("div", { class: "reply", "aria-live": "polite" });
  let current = 0;
  function select(n) {
    current = n;
    const moment = moments[n];
    region.show(moment.blocks, new Set(moment.changed));
    region.setPose(moment.pose, eyes.checked);
    range.value = n;
    talk.querySelector(".now")?.classList.remove("now");
    const item = talk.children[moment.turn];
    item?.classList.add("now");
    if (item) talk.scrollTop = item.offsetTop - talk.clientHeight / 2;
    tryIt.disabled = !asked();
  }
  // The turn that a model answers at this moment: what was said before the actions that are seen, or that come next.
  function asked() {
    const run = data.turns.findIndex((turn, n) => turn.actions && n >= moments[current].turn);
    const order = data.turns.findLastIndex((turn, n) => n < run && turn.speaker === "Architect");
    if (run < 0 || order < 0) return null;
    const before = moments.findIndex((moment) => moment.turn === run) - 1;
    return { run, order, blocks: moments[before].blocks };
  }
  const tryIt = button("Build this turn", async () => {
    stop();
    const { run, order, blocks } = asked();
    tryIt.disabled = true;
    const request = { task: "minecraft", model: players.value, instruction: data.turns[order].text, history: data.turns.slice(0, order).slice(-400), blocks, ...(data.turns[run].pose ? { pose: data.turns[run].pose } : {}) };
    const began = performance.now();
    try {
      const answer = await waiting(reply, players.value, ask("POST", "/v1/harness/execute", request));
      guess.show(answer.blocks, new Set(answer.actions.map((action) => key(action.slice(2)))));
      guess.setPose(data.turns[run].pose);
      reply.replaceChildren(answerView(answer, (performance.now() - began) / 1000));
    } catch (error) {
      reply.replaceChildren(h("p", { class: "warn" }, error.message));
    }
    tryIt.disabled = false;
  });
  range.addEventListener("input", () => { stop(); select(Number(range.value)); });
  eyes.addEventListener("change", () => region.setPose(moments[current].pose, eyes.checked));
  main.replaceChildren(
    h("div", { class: "head" }, h("h1", {}, data.name), h("a", { class: "button small", href: "#/replay" }, "All games"), h("p", {}, `Target ${data.target}, ${data.split ?? "warm-up"}.`)),
    h("div", { class: "two" },
      h("section", { class: "card", "aria-label": "Replay" }, region.element,
        h("div", { class: "player" }, play, range, h("div", {}, speed)),
        h("div", { class: "bar foot" }, h("label", { class: "check" }, eyes, "Through the builder\u2019s eyes"), region.tools)),
      h("div", { class: "stack" },
        h("section", { class: "card" }, h("h2", {}, "Dialogue"), talk),
        h("section", { class: "card" }, h("h2", {}, "What a model builds"), h("div", { class: "row" }, h("div", { class: "grow" }, players), tryIt), notes, guess.element, reply))));
  select(0);
  return () => {
    stop();
    region.dispose();
    guess.dispose();
  };
}
