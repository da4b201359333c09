// A whole game at a glance: the network's value and the exact result ply by ply, and where the result was given away.

import { button, el, plural, signed, svg } from "explore/dom.js";

const HEIGHT = 168;
const LEFT = 92;
const RIGHT = 12;
const TOP = 12;
const MIDDLE = 74;
const SPAN = 52; // of a value of 1

/** Asks for all positions of a game, the last first, which are solved soonest. */
export class Sweep {
  constructor(session, changed) {
    Object.assign(this, { session, changed, key: null, plies: [], running: false });
  }

  /** Begin with the game on the board, unless that is what is here already. */
  async begin() {
    const { session } = this;
    const key = JSON.stringify([session.from, session.moves, session.particles]);
    if (key === this.key) return;
    Object.assign(this, { key, plies: session.line.map(() => null), running: true });
    const { line, moves, source, particles } = session;
    for (let ply = line.length - 1; ply >= 0; ply -= 1) {
      const found = line[ply].over ? ended(line[ply]) : await this.ask(source, line[ply].at, particles);
      if (key !== this.key) return; // another game is on the board
      this.plies[ply] = judged(found, ply, moves[ply]);
      this.changed();
    }
    this.running = false;
    this.changed();
  }

  async ask(source, at, particles) {
    const [thoughts, truth] = await Promise.all([source.thoughts(at, particles).catch(() => null), source.truth(at).catch(() => null)]);
    return { value: thoughts?.value ?? null, truth };
  }

  forget() {
    Object.assign(this, { key: null, plies: [], running: false });
  }

  /** The plies at which the move played gave the exact result away. */
  get mistakes() {
    return this.plies.filter((one) => one?.mistake);
  }
}

function ended({ over }) {
  return { value: over.result, truth: { ...over, moves: [] } };
}

/** What there is to say of a ply, seen by who moved first. */
function judged({ value, truth }, ply, move) {
  const view = ply % 2 ? -1 : 1;
  const played = truth?.moves.find((one) => one.move === move) ?? null;
  return {
    ply,
    move,
    value: value === null ? null : view * value,
    result: truth ? view * truth.result : null,
    margin: truth && truth.margin !== null && truth.margin !== undefined ? view * truth.margin : null,
    after: played && { result: view * played.result, margin: played.margin === null ? null : view * played.margin },
    mistake: played !== null && !played.keeps,
    loose: played !== null && played.keeps && played.margin !== null && played.margin < truth.margin,
  };
}

const down = (value) => MIDDLE - SPAN * value;

/** Steps through points, each value held until the next ply. */
function steps(points) {
  return points.map(({ x, y }, k) => (k === 0 ? `M${x} ${y}` : `H${x} V${y}`)).join(" ");
}

export function drawStrip(place, session, sweep, { go, start }) {
  if (!session.swept) {
    const enough = session.moves.length > 0;
    place.replaceChildren(
      el("div", { class: "tools" }, button("Sweep this game for mistakes", start, { id: "sweep", disabled: !enough, title: "Value and truth of every position (W)" }), el("span", { class: "quiet" }, "value and exact result of every position, and what gave it away")),
    );
    return;
  }
  const { about, moves } = session;
  const count = Math.max(1, moves.length);
  const style = getComputedStyle(place);
  const width = Math.max(280, place.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
  const across = (ply) => LEFT + ((width - LEFT - RIGHT) * ply) / count;
  const known = sweep.plies.filter(Boolean);
  const value = known.filter((one) => one.value !== null).map((one) => ({ x: across(one.ply), y: down(one.value) }));
  const truth = known.filter((one) => one.result !== null).map((one) => ({ x: across(one.ply), y: down(one.result) }));
  const axis = [[1, `${about.sides[0]} wins`], [0, "draw"], [-1, `${about.sides[1]} wins`]];
  const marks = sweep.mistakes.map((one) =>
    svg(
      "g",
      { class: "mistake", transform: `translate(${across(one.ply)} ${down(one.result)})` },
      svg("circle", { r: 8 }),
      svg("text", { y: 4 }, "✕"),
    ),
  );
  const every = 2 * Math.max(1, Math.ceil((12 * count) / (width - LEFT))); // so that numbers do not touch
  const numbers = session.line.map((_, ply) => ply).filter((ply) => ply % every === 0);
  const here = across(session.ply);
  const drawn = svg(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": "Value and truth by ply" },
    axis.map(([at, text]) => [svg("line", { x1: LEFT, x2: width - RIGHT, y1: down(at), y2: down(at), class: at ? "rule" : "rule zero" }), svg("text", { x: LEFT - 10, y: down(at) + 3.5, class: "axis end" }, text)]),
    svg("text", { x: LEFT - 10, y: HEIGHT - 8, class: "axis end" }, "after move"),
    numbers.map((ply) => svg("text", { x: across(ply), y: HEIGHT - 8, class: "axis" }, String(ply))),
    svg("line", { x1: here, x2: here, y1: TOP, y2: HEIGHT - 22, class: "here" }),
    truth.length > 1 ? svg("path", { d: steps(truth), class: "truth" }) : null,
    value.length > 1 ? svg("path", { d: `M${value.map(({ x, y }) => `${x} ${y}`).join(" L")}`, class: "value" }) : null,
    value.map(({ x, y }) => svg("circle", { cx: x, cy: y, r: 2.4, class: "value" })),
    marks,
    session.line.map((_, ply) =>
      svg("rect", { x: across(ply - 0.5), y: 0, width: (width - LEFT - RIGHT) / count, height: HEIGHT, class: "touch", on: { click: () => go(ply) } }, svg("title", {}, title(session, sweep.plies[ply], ply))),
    ),
  );
  place.replaceChildren(el("div", { class: "chart" }, drawn), legend(sweep, known), list(session, sweep, go));
}

function title({ moves }, one, ply) {
  const told = [`after move ${ply}`];
  if (moves[ply]) told.push(`then ${moves[ply]}`);
  if (one?.value !== null && one?.value !== undefined) told.push(`value ${signed(one.value)}`);
  return told.join(", ");
}

function legend(sweep, known) {
  const solved = known.some((one) => one.result !== null);
  return el(
    "p",
    { class: "note legend" },
    el("span", { class: "key value" }, "value"),
    solved ? el("span", { class: "key truth" }, "exact result") : null,
    solved ? el("span", { class: "key mistake" }, "✕ gives the result away") : null,
    sweep.running ? el("span", {}, `${known.length} of ${sweep.plies.length} positions …`) : null,
  );
}

function list(session, sweep, go) {
  if (sweep.running) return "";
  const { mistakes } = sweep;
  if (!sweep.plies.some((one) => one && one.result !== null)) return el("p", { id: "mistakes" }, "Nobody has solved these positions, so mistakes are not known.");
  if (!mistakes.length) return el("p", { id: "mistakes" }, "No move gave the result away.");
  const drawn = session.record?.opening ?? 0; // moves at the beginning that nobody chose
  const words = (result, margin) => {
    const by = margin ? ` by ${Math.abs(margin)}` : "";
    return result === 0 ? "a draw" : `${session.about.sides[result > 0 ? 0 : 1]} wins${by}`;
  };
  return el(
    "ol",
    { id: "mistakes" },
    mistakes.map((one) =>
      el(
        "li",
        {},
        button(`✕ move ${one.ply + 1}: ${session.about.sides[one.ply % 2]} ${one.move}`, () => go(one.ply), { class: "mistake", "aria-current": String(one.ply === session.ply), data: { ply: one.ply } }),
        el("span", { class: "quiet" }, `${words(one.result, one.margin)} → ${words(one.after.result, one.after.margin)}${one.ply < drawn ? " (random opening)" : ""}`),
      ),
    ),
  );
}
