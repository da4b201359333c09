// What the network thinks of a position and of each move, beside what is true of them.

import { button, choice, el, percent, plural, signed } from "explore/dom.js";

const MOST_ROWS = 14; // of the table, unless one asks for all

/** The choice of how long the network thinks, from `least` particles on, if there is one. */
export function budgets(session, least = 0) {
  const options = session.about.particles.filter((count) => count >= least).map((count) => [count, count === 0 ? "policy alone" : count.toLocaleString("en")]);
  return options.length > 1 || least > session.particles ? choice("Particles", options, session.particles, (particles) => session.set({ particles })) : null;
}

export const byMove = (told) => new Map(told.moves.map((one) => [one.move, one]));

/** A result in words, for the player of that name who is to move. */
export function outcome(side, { result, margin }) {
  if (result === 0) return "a draw";
  const by = margin === null || margin === undefined ? "" : ` by ${Math.abs(margin)}`;
  return `${side} ${result > 0 ? "wins" : "loses"}${by}`;
}

/** Chances of a win, a draw and a loss as a bar with numbers under it. */
export function outlook(triple) {
  const names = ["win", "draw", "loss"];
  const parts = triple.map((share, k) => el("i", { class: names[k], style: { "flex-grow": share } }));
  const told = triple.map((share, k) => el("span", { class: names[k] }, `${names[k]} `, el("b", {}, percent(share))));
  return el("div", { class: "outlook" }, el("div", { class: "wdl", "aria-hidden": "true" }, parts), el("p", {}, told));
}

const meter = (kind, ...inside) => el("div", { class: `meter ${kind}` }, ...inside);

function bar(share, kind) {
  const rail = el("i", { class: "rail" }, el("i", { class: "bar", style: { width: `${100 * share}%` } }));
  return el("td", {}, meter(kind, rail, el("span", {}, percent(share))));
}

/** A value from −1 to 1 as a bar from the middle. */
function middle(value) {
  if (value === null) return el("td", { class: "quiet" }, "not tried");
  const style = value < 0 ? { right: "50%", width: `${-50 * value}%` } : { left: "50%", width: `${50 * value}%` };
  const rail = el("i", { class: "rail" }, el("i", { class: `bar ${value < 0 ? "under" : "over"}`, style }));
  return el("td", {}, meter("value", rail, el("span", {}, signed(value))));
}

function judged(one) {
  if (!one) return el("td", { class: "truth" });
  const words = one.result > 0 ? "wins" : one.result < 0 ? "loses" : "draws";
  const by = one.margin ? [el("span", { class: "by" }, " by"), ` ${Math.abs(one.margin)}`] : "";
  const sign = one.keeps ? "✓" : "✕";
  return el("td", { class: `truth ${one.keeps ? "keeps" : "loses"}` }, el("b", { "aria-label": one.keeps ? "keeps the result:" : "gives the result away:" }, sign), ` ${words}`, by);
}

/** Fill the panel: `thoughts` and `truth` of the position, of which either may be missing still. */
export function drawMoves(panel, session, { thoughts, truth, play, marked }) {
  const { about, here } = session;
  const side = about.sides[session.turn];
  const parts = [];
  const tools = el(
    "div",
    { class: "tools" },
    budgets(session),
    button(session.revealed ? "Hide the truth" : "Show the truth", () => session.set({ revealed: !session.revealed }), {
      id: "reveal", "aria-pressed": String(session.revealed), title: "Exact values of all moves (T)",
    }),
  );
  parts.push(tools);
  if (here.over) {
    parts.push(el("p", { class: "lead" }, `The game is over: ${outcome(side, here.over)}.`));
    panel.replaceChildren(...parts);
    return;
  }
  if (!thoughts) {
    panel.replaceChildren(...parts, el("p", { class: "lead quiet" }, "Thinking …"));
    return;
  }
  parts.push(
    el(
      "div",
      { class: "lead" },
      el("p", {}, el("b", { class: "figure" }, signed(thoughts.value)), ` for ${side}, who is to move`),
      thoughts.wdl ? outlook(thoughts.wdl) : null,
    ),
  );
  if (session.revealed) {
    const keeping = truth ? truth.moves.filter((one) => one.keeps).length : 0;
    const said = truth
      ? `In truth: ${outcome(side, truth)}. ${keeping === truth.moves.length ? "Every move keeps that" : `${keeping} of ${plural(truth.moves.length, "move")} ${keeping === 1 ? "keeps" : "keep"} that`}.`
      : truth === null
        ? "Nobody has solved this position: its truth is not known."
        : "Solving …";
    parts.push(el("p", { id: "verdict" }, said));
  }
  parts.push(...table(session, thoughts, session.revealed && truth ? byMove(truth) : null, play, marked));
  parts.push(
    el("p", { class: "note" }, notes(session, thoughts)),
  );
  panel.replaceChildren(...parts);
}

function notes(session, thoughts) {
  const before = thoughts.network ? "Policy is what the network says at first sight. " : "";
  if (!thoughts.particles) return `${before}Nothing was searched.`;
  const value = "value is the chance of a win less that of a loss";
  return `${before}Search is the weight after ${plural(thoughts.particles, "particle")}, by which it chooses; ${value}.`;
}

function table(session, thoughts, known, play, marked) {
  const heads = [["Move", ""], thoughts.network ? ["Policy", ""] : null, ["Search", ""], ["Value", ""], ["Particles", "number particles"]];
  if (known) heads.push(["Truth", ""]);
  const played = session.moves[session.ply];
  const some = session.whole ? thoughts.moves : thoughts.moves.filter((one, k) => k < MOST_ROWS || one.move === played);
  const rows = some.map((one) =>
    el(
      "tr",
      {
        class: one.move === thoughts.best ? "best" : "", data: { move: one.move }, "aria-selected": String(one.move === marked),
        on: { click: () => play(one.move) },
      },
      el("th", { scope: "row" }, button(one.move, (event) => (event.stopPropagation(), play(one.move)), { class: "plain" }), one.move === played ? el("small", { class: "quiet" }, "played") : null),
      thoughts.network ? bar(one.policy, "policy") : null,
      bar(one.weight, "search"),
      middle(one.value),
      el("td", { class: "number particles" }, one.particles ? el("span", {}, one.particles.toLocaleString("en"), el("small", { class: "quiet" }, percent(one.share))) : el("span", { class: "quiet" }, "0")),
      known ? judged(known.get(one.move)) : null,
    ),
  );
  const rest = thoughts.moves.length - some.length;
  const made = el(
    "table",
    { id: "moves" },
    el("thead", {}, el("tr", {}, heads.filter(Boolean).map(([text, kind]) => el("th", { scope: "col", class: kind }, text)))),
    el("tbody", {}, rows),
  );
  return rest ? [made, button(`Show ${plural(rest, "further move")}`, () => session.set({ whole: true }), { class: "more" })] : [made];
}
