// What was said and done in a building game, as a conversation.
import { h } from "./dom.js";

const counted = (count) => `${count} block${count === 1 ? "" : "s"}`;

export function didText(actions) {
  const placed = actions.filter((action) => action[0] === "place").length;
  const removed = actions.length - placed;
  return [placed ? `placed ${counted(placed)}` : "", removed ? `removed ${counted(removed)}` : ""].filter(Boolean).join(", ") || "did nothing";
}

// A list of the turns; `choose` is called with the index of a turn that is clicked.
export function talkList(turns, choose) {
  const inner = (turn, n, ...children) => (choose ? h("button", { type: "button", class: "link", onclick: () => choose(n) }, children) : children);
  return h("ol", { class: "talk", tabindex: "0", "aria-label": "Dialogue" }, turns.map((turn, n) =>
    turn.speaker
      ? h("li", { class: turn.speaker.toLowerCase() }, inner(turn, n, h("small", {}, turn.by ? `${turn.speaker}, ${turn.by}` : turn.speaker), turn.text))
      : h("li", { class: "did" }, inner(turn, n, `Builder ${didText(turn.actions)}`))));
}
