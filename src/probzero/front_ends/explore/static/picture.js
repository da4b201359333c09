// The picture of a search: volume on the moves, value and winner_prob in the positions.

import { el, percent, plural, signed, svg } from "explore/dom.js";
import { NODE, places } from "explore/tree.js";

const THICKEST = 12; // of the line that most particles took
const DOTS = 16; // particles of one batch that are told apart on a line

/** Draw the `shown` nodes of a flow after a batch. `turn` is whose move it is at the root, `choose` and `fold` are called
 * with a node. */
export function drawSearch(flow, tree, shown, state, { about, turn, chosen, folded, choose, fold }) {
  const { at, width, height } = places(flow, tree, shown);
  const most = Math.max(...tree.taken);
  const thick = (count) => 1 + THICKEST * Math.sqrt(count / most);
  const layers = { lines: [], dots: [], counts: [] };
  flow.edges.forEach(([from, to], edge) => {
    const { taken, now } = state.edges[edge];
    if (!shown.has(from) || !shown.has(to) || !taken) return;
    const own = tree.into[to] === edge;
    const start = at.get(from);
    const end = at.get(to);
    const path = between(start.x + NODE.width, start.y + NODE.height / 2, end.x, end.y + NODE.height / 2);
    layers.lines.push(svg("path", { d: path, class: own ? "flow" : "flow other", "stroke-width": own ? thick(taken) : 1 }));
    if (!now) return;
    layers.lines.push(svg("path", { d: path, class: "flow now", "stroke-width": thick(now) }));
    // Lengths are told in particles, so that a dash of no length with round ends is one of them.
    if (now <= DOTS) layers.dots.push(svg("path", { d: path, class: "particles", pathLength: now, "stroke-dasharray": "0.001 0.999", "stroke-dashoffset": -0.5 }));
    if (own) layers.counts.push(svg("text", { x: end.x - 6, y: end.y + NODE.height / 2 - 8, class: "volume" }, String(now)));
  });
  const nodes = [...shown].map((node) => drawNode(node));
  const size = { width: width + 20, height: height + 12 };
  return el(
    "div",
    { class: "tree", tabindex: "0" },
    svg("svg", { ...size, viewBox: `-2 -8 ${size.width} ${size.height}`, role: "group", "aria-label": "The search as a tree" }, layers.lines, layers.dots, layers.counts, nodes),
  );

  function drawNode(node) {
    const { x, y } = at.get(node);
    const edge = tree.into[node];
    const { value, closed, fresh } = state.nodes[node];
    if (!value) return svg("circle", { cx: x + 6, cy: y + NODE.height / 2, r: 2.5, class: "unseen" });
    const said = tree.depth[node] % 2 ? value[2] - value[0] : value[0] - value[2]; // for who is to move at the root
    const weight = edge === null ? 1 : state.edges[edge].weight;
    const name = tree.path(node).join(" ") || "root";
    const chance = edge === null ? "" : `, winner_prob ${percent(weight)}`;
    const card = svg(
      "g",
      {
        transform: `translate(${x} ${y})`, class: `node${fresh ? " fresh" : ""}`, tabindex: 0, role: "button", id: `node-${node}`,
        "aria-pressed": String(node === chosen), "aria-label": `${name}: value ${signed(said)}${chance}`,
        on: { click: () => choose(node), keydown: (event) => pressed(event, () => choose(node)) },
      },
      svg("rect", { width: NODE.width, height: NODE.height, rx: 5, class: "card" }),
      svg("rect", { width: 4, height: NODE.height, rx: 2, class: said < 0 ? "edge under" : "edge over", opacity: 0.15 + 0.85 * Math.abs(said) }),
      edge === null ? root() : move(edge, (turn + tree.depth[node] + 1) % 2, weight),
      svg("text", { x: NODE.width - 8, y: 16, class: "worth" }, signed(said)),
      closed ? svg("text", { x: NODE.width - 4, y: -2, class: "exact" }, "exact") : null,
    );
    return svg("g", { class: "family" }, card, handle(node, x, y));
  }

  function root() {
    return [svg("text", { x: 12, y: 16, class: "move" }, "root"), svg("text", { x: 12, y: 29, class: "small" }, `${about.sides[turn]} to move`)];
  }

  function move(edge, mover, weight) {
    return [
      svg("circle", { cx: 15, cy: 12, r: 4.5, class: "disc", data: { side: about.sides[mover].toLowerCase() } }),
      svg("text", { x: 24, y: 16, class: "move" }, flow.edges[edge][2]),
      svg("rect", { x: 12, y: 24, width: 48, height: 5, rx: 2.5, class: "rail" }),
      svg("rect", { x: 12, y: 24, width: 48 * weight, height: 5, rx: 2.5, class: "weight" }),
      svg("text", { x: NODE.width - 8, y: 30, class: "chance" }, percent(weight)),
    ];
  }

  /** The small button at the end of a card that shows the moves that are not in the picture, or hides what hangs below. */
  function handle(node, x, y) {
    const met = tree.children[node].filter((edge) => state.edges[edge].taken);
    const hidden = met.filter((edge) => !shown.has(flow.edges[edge][1]));
    if (!hidden.length && (!met.length || node === 0)) return null;
    const now = hidden.reduce((sum, edge) => sum + state.edges[edge].now, 0);
    const title = hidden.length ? `Show ${plural(hidden.length, "further move")}${now ? `, with ${plural(now, "particle")} of this batch` : ""}` : "Hide what is below";
    const act = () => fold(node, hidden.length > 0);
    return svg(
      "g",
      {
        transform: `translate(${x + NODE.width + 6} ${y + NODE.height / 2})`, class: `handle${hidden.length ? "" : " folds"}${now ? " now" : ""}`,
        tabindex: 0, role: "button", id: `fold-${node}`, "aria-label": title, "aria-expanded": String(!folded.has(node) && !hidden.length),
        on: { click: act, keydown: (event) => pressed(event, act) },
      },
      svg("title", {}, title),
      svg("rect", { x: -9, y: -7, width: 18, height: 14, rx: 7 }),
      svg("text", { y: 3.5 }, hidden.length ? `+${hidden.length}` : "−"),
    );
  }
}

function between(x, y, toX, toY) {
  const half = (x + toX) / 2;
  return `M${x} ${y} C${half} ${y} ${half} ${toY} ${toX} ${toY}`;
}

function pressed(event, act) {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** What the marks of the picture mean. */
export function legend(side) {
  const marks = [
    ["dots", "particles of this batch, and their number"],
    ["band", "particles so far: the thicker, the more"],
    ["signed", `value for ${side}: from −1, lost, to +1, won`],
    ["bar", "winner_prob: chance to be the best move explored"],
    ["fresh", "position that is new in this batch"],
    ["later", "position that a later batch comes to"],
    ["rest", "moves not shown; blue: particles there"],
    ["way", "another way to the same position"],
  ];
  return el("p", { class: "note legend" }, marks.map(([kind, text]) => el("span", { class: `key ${kind}` }, text)));
}
