// Where answers come from: the server on this computer, or the data inside a page that needs none.

export class Refused extends Error {} // what was asked for is not to be had; the message says why
export class Gone extends Error {} // the server does not answer

/** Remembers answers by what was asked; a failure is not remembered. */
class Source {
  answers = new Map();

  remember(name, ask) {
    if (!this.answers.has(name)) {
      const answer = ask();
      this.answers.set(name, answer);
      answer.catch(() => this.answers.delete(name));
    }
    return this.answers.get(name);
  }
}

export class ServerSource extends Source {
  plays = true;

  ask(what, parameters = {}) {
    const address = `api/${what}?${new URLSearchParams(parameters)}`;
    return this.remember(address, async () => {
      let response;
      try {
        response = await fetch(address);
      } catch {
        throw new Gone("The server does not answer. Start `probzero explore` again, then try once more.");
      }
      const told = await response.json().catch(() => ({ error: `The server answers ${response.status}.` }));
      if (!response.ok) throw new Refused(told.error);
      return told;
    });
  }

  about = () => this.ask("about");
  line = (from, moves) => this.ask("line", { from: from ?? "", moves: moves.join(" ") });
  position = (at) => this.ask("position", { at });
  thoughts = (at, particles) => this.ask("thoughts", { at, particles });
  truth = (at) => this.ask("truth", { at });
  flow = (at, particles) => this.ask("flow", { at, particles });
  records = () => this.ask("records");
  games = (record) => this.ask("games", { record });
}

const ELSEWHERE = "This page holds the positions of its games alone; `probzero explore` plays on from any.";

export class EmbeddedSource extends Source {
  plays = false;

  constructor(data) {
    super();
    this.data = data;
  }

  async about() {
    return this.data.about;
  }

  async position(at) {
    const found = this.data.positions[at];
    if (!found) throw new Refused(ELSEWHERE);
    return found.position;
  }

  async line(from, moves) {
    const line = [await this.position(from ?? this.data.about.start)];
    for (const name of moves) {
      const move = line.at(-1).moves.find((one) => one.move === name);
      if (!move) throw new Refused(`${name} is not a legal move there.`);
      line.push(await this.position(move.after));
    }
    return line;
  }

  async part(at, name, missing) {
    const found = this.data.positions[at];
    if (!found || !(name in found)) throw new Refused(missing);
    return found[name];
  }

  thoughts = (at) => this.part(at, "thoughts", ELSEWHERE);
  truth = (at) => this.part(at, "truth", "The exact values of this position are not in this page.");
  flow = (at) =>
    this.part(at, "flow", "The search of this position is not in this page. It has that of the first position, and of mistakes.");
  records = async () => this.data.records;
  games = async (record) => this.data.games[record];
}
