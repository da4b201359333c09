// The games one may look at: those of a run's tournament, and lines of best responses from its certificates.

import { button, el, plural } from "explore/dom.js";

const AT_ONCE = 60; // rows of the list

/** Draws the list and keeps what was chosen in it. */
export class GamesView {
  constructor(session, open) {
    Object.assign(this, { session, open, record: null, opponent: "", more: AT_ONCE });
  }

  async show(panel) {
    const { source } = this.session;
    const records = await source.records();
    if (!records.length) {
      panel.replaceChildren(el("p", { class: "lead quiet" }, "There are no recorded games beside this network."));
      return;
    }
    this.record ??= this.session.record?.id.replace(/\/\d+$/, "") ?? records[0].id;
    if (!records.some((one) => one.id === this.record)) this.record = records[0].id;
    const games = await source.games(this.record);
    if (!panel.isConnected || this.session.view !== "games") return;
    const opponents = [...new Set(games.flatMap((game) => [game.first, game.second]))].sort();
    const filtered = opponents.length > 3;
    if (!filtered || !opponents.includes(this.opponent)) this.opponent = "";
    const shown = games.filter((game) => !this.opponent || [game.first, game.second].includes(this.opponent));
    const tools = el(
      "div",
      { class: "tools" },
      this.select("Record", records.map(({ id, title }) => [id, title]), this.record, (record) => Object.assign(this, { record, opponent: "", more: AT_ONCE })),
      filtered ? this.select("Player", [["", "all"], ...opponents.map((name) => [name, name])], this.opponent, (opponent) => Object.assign(this, { opponent, more: AT_ONCE })) : null,
    );
    const rest = shown.length - this.more;
    panel.replaceChildren(
      tools,
      el("p", { class: "lead quiet" }, plural(shown.length, "game")),
      el("div", { class: "titles quiet", "aria-hidden": "true" }, [...this.session.about.sides, "", "Result"].map((text) => el("span", {}, text))),
      el("div", { class: "list" }, shown.slice(0, this.more).map((game) => this.row(game))),
      rest > 0 ? button(`Show ${Math.min(rest, AT_ONCE)} more`, () => ((this.more += AT_ONCE), this.session.changed())) : "",
    );
  }

  select(label, options, chosen, act) {
    const made = options.map(([value, text]) => el("option", { value, selected: value === chosen }, text));
    const change = (event) => (act(event.target.value), this.session.changed());
    return el("label", { class: "select" }, el("span", { class: "quiet" }, label), el("select", { on: { change }, id: `choose-${label.toLowerCase()}` }, made));
  }

  row(game) {
    const { about, record } = this.session;
    const ended = game.result === 0 ? "draw" : `${about.sides[game.result > 0 ? 0 : 1]} ${game.margin === null ? "wins" : `by ${Math.abs(game.margin)}`}`;
    return el(
      "button",
      { type: "button", class: "game", "aria-current": String(record?.id === game.id), data: { id: game.id }, on: { click: () => this.open(game) } },
      el("span", { class: game.result > 0 ? "won" : "" }, game.first),
      el("span", { class: game.result < 0 ? "won" : "" }, game.second),
      el("span", { class: "quiet" }, game.note),
      el("span", { class: "number" }, ended),
    );
  }
}
