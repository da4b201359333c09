// The board: what stands where, where one may move, and what is thought and known of those moves.

import { el, svg, percent, signed } from "explore/dom.js";

const SIDE = { x: 0, o: 1 }; // of the player to move and the opponent, as `owner` tells them

/** A piece of player 0 or 1; whose it is shows in the colour and in a ring that only the second has. */
export function piece(about, player, sign = "") {
  return svg(
    "svg",
    { viewBox: "0 0 40 40", class: "piece", "aria-hidden": "true", data: { side: about.sides[player].toLowerCase(), player } },
    svg("circle", { cx: 20, cy: 20, r: 16, class: "disc" }),
    player === 1 ? svg("circle", { cx: 20, cy: 20, r: 11, class: "ring" }) : null,
    sign ? svg("text", { x: 20, y: 21, class: "sign" }, sign.toUpperCase()) : null,
  );
}

/** What is written on a square about the moves that land there. */
function words(move, thought, truth) {
  const told = [];
  if (thought) told.push(`search ${percent(thought.weight)}`);
  if (truth) told.push(truth.keeps ? "keeps the result" : "gives the result away");
  return [move.move, ...told].join(", ");
}

function marks(moves, thoughts, truth) {
  const share = moves.reduce((sum, one) => sum + (thoughts?.get(one.move)?.weight ?? 0), 0);
  const known = truth && moves.map((one) => truth.get(one.move)).filter(Boolean);
  const made = [svg("circle", { cx: 20, cy: 20, r: thoughts ? 4 + 12 * Math.sqrt(share) : 5, class: "hint" })];
  const said = [];
  if (thoughts) said.push(el("span", { class: "share" }, percent(share)));
  if (known?.length) {
    const best = known.reduce((one, two) => ((two.margin ?? two.result) > (one.margin ?? one.result) ? two : one));
    const sign = best.keeps ? "✓" : "✕";
    const worth = best.margin === null ? "" : signed(best.margin, 0);
    said.push(el("span", { class: best.keeps ? "keeps" : "loses" }, `${sign}${worth}`));
  }
  return [svg("svg", { viewBox: "0 0 40 40", class: "piece", "aria-hidden": "true" }, made), el("span", { class: "told" }, said)];
}

/** Draw a position. `thoughts` and `truth` are maps by move, or null; `last` is the square of the move before. */
export function drawBoard(place, about, position, { turn, thoughts, truth, last, enabled, play, looked }) {
  const rows = position.owner;
  const landing = new Map();
  for (const move of position.moves) {
    if (move.row === null) continue;
    const square = `${move.row},${move.column}`;
    landing.set(square, [...(landing.get(square) ?? []), move]);
  }
  const cells = [el("span", { class: "label" })];
  cells.push(...about.columns.map((name) => el("span", { class: "label" }, name)));
  rows.forEach((row, r) => {
    cells.push(el("span", { class: "label" }, about.rows[r]));
    [...row].forEach((owner, c) => {
      const moves = landing.get(`${r},${c}`) ?? [];
      const inside = owner === "." ? [] : [piece(about, owner === "x" ? turn : 1 - turn, position.sign?.[r]?.[c])];
      const recent = last && last[0] === r && last[1] === c;
      if (!moves.length) {
        cells.push(el("div", { class: recent ? "square recent" : "square" }, inside));
        return;
      }
      const names = moves.map((one) => words(one, thoughts?.get(one.move), truth?.get(one.move)));
      cells.push(
        el(
          "button",
          {
            type: "button", class: "square legal", "aria-label": names.join("; "), title: names.join("; "), disabled: !enabled,
            data: { moves: moves.map((one) => one.move).join(" ") },
            on: { click: () => play(moves.map((one) => one.move)), mouseenter: () => looked(moves[0].move), mouseleave: () => looked(null) },
          },
          inside,
          enabled ? marks(moves, thoughts, truth) : [],
        ),
      );
    });
  });
  place.style.setProperty("--columns", about.columns.length);
  place.replaceChildren(...cells);
}

/** The two players, with the one to move marked. */
export function drawPlayers(place, about, position, { turn, names }) {
  const squares = position.owner.join("");
  const count = (player) => [...squares].filter((owner) => owner in SIDE && (SIDE[owner] === 0 ? turn : 1 - turn) === player).length;
  place.replaceChildren(
    ...about.sides.map((side, player) =>
      el(
        "div",
        { class: "player", "aria-current": String(!position.over && player === turn) },
        piece(about, player),
        el("span", { class: "name" }, side, names[player] ? el("span", { class: "quiet who", title: names[player] }, names[player]) : null),
        about.margin ? el("span", { class: "count" }, String(count(player))) : null,
      ),
    ),
  );
}
