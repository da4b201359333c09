"""What every game promises, tried on random games. `check_game` raises an error that names the broken promise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probzero import games
from probzero.errors import ProbZeroError, bad
from probzero.games.base import NO_VALUE, Game
from probzero.games.random_play import play_by_seed

LARGEST_NUMBER = 2**15 - 1  # of an action or a rank in a graph
LARGEST_VALUE = 2**7  # labels keep values in eight bits, of which one number means no value


class Sample(NamedTuple):
    """The positions of random games, all different, and every legal move from each of them."""

    states: np.ndarray  # [n, words]
    legal: np.ndarray  # [n, A]
    rank: np.ndarray  # [n]
    ended: np.ndarray  # [e, words] those without a legal move
    row: np.ndarray  # [m] the position from which each move is made
    action: np.ndarray  # [m]
    after: np.ndarray  # [m, words]


def check_game(game: Game, count: int = 32, seed: int = 0) -> None:
    """Refuse a game that breaks a promise of `base.Game` in `count` random games or by a move from their positions."""
    _is_registered(game)
    _fits(game)
    _starts(game)
    sample = _sample(game, count, seed)
    forms = _array_form_is_pure, _tensor_form_agrees, _compiled_form_agrees
    rules = _bounds_hold, _ranks_rise, _outcomes_are_at_the_end, _symmetries_commute_with_the_rules, _can_be_solved
    writing = _planes_show_the_state, _notation_says_the_state, _moves_have_names
    for keeps_promise in forms + rules + writing:
        keeps_promise(game, sample)


def _need(game: Game, holds: Any, expected: object, found: object) -> None:
    if not holds:
        raise bad("game", game.identity, expected, found)


def _same(game: Game, found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Refuse answers [n, ...] that differ, with the first that does."""
    for row in np.flatnonzero((found != expected).reshape(len(expected), -1).any(1)):
        raise bad("game", f"{game.identity}: {what}", expected[row].tolist(), found[row].tolist())


def _is_registered(game: Game) -> None:
    made = games.make(game.name, **game.options)
    _need(game, isinstance(game, type(made)), f"a {type(made).__name__}, as `make` gives", type(game).__name__)


def _fits(game: Game) -> None:
    """Actions and ranks are kept in sixteen bits each."""
    for what, count in (("actions", game.actions), ("ranks", game.ranks)):
        _need(game, 0 < count <= LARGEST_NUMBER + 1, f"at most {LARGEST_NUMBER + 1} {what}", count)


def _starts(game: Game) -> None:
    start = game.start()
    described, expected = f"{start.dtype} {[*start.shape]}", f"int64 [{game.words}]"
    _need(game, described == expected, f"{expected} from `start`", described)
    start -= 1
    _need(game, (game.start() != start).all(), "a fresh array from each `start`", "the same again")
    _need(game, game.legal(game.start()[None]).any(), "a legal move in the first state", "none")


def _sample(game: Game, count: int, seed: int) -> Sample:
    played = play_by_seed(game, count, game.longest_game, seed).states
    _need(game, not game.legal(played[-1]).any(), f"games of at most {game.longest_game} plies", "a longer one")
    states = np.unique(played.reshape(-1, game.words), axis=0)
    legal = game.legal(states)
    row, action = np.nonzero(legal)
    ended, after = states[~legal.any(1)], game.play(states[row], action)
    return Sample(states, legal, game.rank(states, legal), ended, row, action, after)


def _calls(game: Game, sample: Sample) -> dict[str, tuple[tuple[np.ndarray, ...], tuple[int, ...], str]]:
    """Return for each method of the array form its arguments, the shape of an answer and its type."""
    states, legal, _, ended, row, action, _ = sample
    k = np.arange(len(states)) % len(game.symmetries.squares)
    state, planes = (game.words,), (game.shape.planes, game.shape.height, game.shape.width)
    calls = {
        "legal": ((states,), (game.actions,), "bool"),
        "play": ((states[row], action), state, "int64"),
        "finished": ((states,), (), "bool"),
        "outcome": ((ended,), (), "int64"),
        "rank": ((states, legal), (), "int64"),
        "phase": ((states,), (), "int64"),
        "encode": ((states,), planes, "float32"),
        "turn": ((states, k), state, "int64"),
        "canonical": ((states,), state, "int64"),
    }
    return calls | ({"margin": ((states,), (), "int64")} if game.has_margin else {})


def _array_form_is_pure(game: Game, sample: Sample) -> None:
    for name, (arguments, shape, kind) in _calls(game, sample).items():
        given = [argument.copy() for argument in arguments]
        found = getattr(game, name)(*given)
        expected, described = f"{kind} {[len(arguments[0]), *shape]}", f"{found.dtype} {[*found.shape]}"
        _need(game, described == expected, f"{expected} from `{name}`", described)
        _need(game, all(map(np.array_equal, given, arguments)), f"arguments that `{name}` leaves alone", "changed ones")


def _bounds_hold(game: Game, sample: Sample) -> None:
    most, lowest, highest = sample.legal.sum(1).max(), sample.rank.min(), sample.rank.max()
    _need(game, most <= game.most_moves <= game.actions, f"most_moves from {most} to {game.actions}", game.most_moves)
    _need(game, 0 <= lowest <= highest < game.ranks, f"ranks in 0 … {game.ranks - 1}", f"{lowest} … {highest}")


def _ranks_rise(game: Game, sample: Sample) -> None:
    after = game.rank(sample.after, game.legal(sample.after))
    _need(game, (after > sample.rank[sample.row]).all(), "ranks that rise along every move", "one that does not")


def _outcomes_are_at_the_end(game: Game, sample: Sample) -> None:
    game.check_states(sample.states)
    _same(game, game.finished(sample.states), sample.legal.sum(1) == 0, "finished exactly without a legal move")
    outcome = game.outcome(sample.ended)
    _need(game, np.isin(outcome, (-1, 0, 1)).all(), "outcomes of −1, 0 or 1", sorted(set(outcome.tolist())))
    if game.has_margin:
        _same(game, outcome, np.sign(game.margin(sample.ended)), "outcome has the margin's sign")


def _tensor_form_agrees(game: Game, sample: Sample) -> None:
    if not game.tensor_form:
        return
    import torch  # here, because nothing else needs it

    for name, (arguments, _, kind) in _calls(game, sample).items():
        found = getattr(game, name)(*map(torch.tensor, arguments))
        _need(game, str(found.dtype) == f"torch.{kind}", f"torch.{kind} from `{name}` of tensors", found.dtype)
        _same(game, found.numpy(), getattr(game, name)(*arguments), f"tensor form of `{name}` as the array form")


def _compiled_form_agrees(game: Game, sample: Sample) -> None:
    rules, sizes = game.rules, (game.words, game.most_moves, game.actions)
    _need(game, sizes == (rules.WORDS, rules.MOVES, rules.ACTIONS), f"compiled WORDS, MOVES, ACTIONS {sizes}", "others")
    moves, out, found = np.zeros(game.actions, dtype=np.int64), game.start(), np.zeros_like(sample.after)
    for index, state in enumerate(sample.states.copy()):
        count = rules.legal(state, moves)
        listed, expected = moves[:count].tolist(), np.flatnonzero(sample.legal[index]).tolist()
        _need(game, listed == expected, f"compiled legal moves, by rising action, {expected}", listed)
        rank = rules.rank(state, moves, count)
        _need(game, rank == sample.rank[index], f"compiled rank {sample.rank[index]}", rank)
        for move in np.flatnonzero(sample.row == index):
            rules.play(state, sample.action[move], out)
            found[move] = state
            rules.play(found[move], sample.action[move], found[move])
            _need(game, (found[move] == out).all(), "compiled play into its own state as into another", found[move])
        _need(game, (state == sample.states[index]).all(), "states that the compiled form leaves alone", state)
    _same(game, found, sample.after, "compiled play as the array form")
    outcomes = np.array([rules.outcome(state) for state in sample.ended], dtype=np.int64)
    _same(game, outcomes, game.outcome(sample.ended), "compiled outcome as the array form")


def _can_be_solved(game: Game, sample: Sample) -> None:
    """What the solver takes of a game that is said to be solvable: see `truth/solver.py`."""
    if game.entry.has_tables:
        _tables_know_the_end(game, sample)
    if not game.solvable or game.entry.has_tables:
        return
    rules = game.rules
    missing = [name for name in ("value", "left", "LARGEST") if not hasattr(rules, name)]
    _need(game, not missing, "compiled value, left and LARGEST, as it is solvable", f"no {', '.join(missing)}")
    _need(game, 0 < rules.LARGEST < LARGEST_VALUE, f"values below {LARGEST_VALUE}", rules.LARGEST)
    left = np.array([rules.left(state) for state in sample.states])
    _need(game, (left >= 0).all(), "a number of at least 0 from compiled left", left.min())
    values = np.array([rules.value(state) for state in sample.ended])
    _need(game, (abs(values) <= rules.LARGEST).all(), f"values of at most {rules.LARGEST}", values.max())
    _same(game, np.sign(values), game.outcome(sample.ended), "compiled value has the outcome's sign")


def _tables_know_the_end(game: Game, sample: Sample) -> None:
    """The positions right after the set-up are known; a move that ends the game has the value of its end."""
    first = play_by_seed(game, len(sample.ended), game.set_up, 0).states[-1]
    values = game.known(first)
    assert values is not None
    _same(game, values != NO_VALUE, game.legal(first), "values of the legal moves of a position")
    last = np.flatnonzero(~game.legal(sample.after).any(1) & (sample.rank[sample.row] >= game.set_up))
    if len(last):
        known = game.known(sample.states[sample.row[last]])
        assert known is not None
        values = known[np.arange(len(last)), sample.action[last]]
        _same(game, np.sign(values), -game.outcome(sample.after[last]), "values of moves that end the game")


def _symmetries_commute_with_the_rules(game: Game, sample: Sample) -> None:
    squares, actions = game.symmetries
    for table, size in ((squares, game.shape.squares), (actions, game.actions)):
        permutes = table.shape == (len(squares), size) and (np.sort(table) == np.arange(size)).all()
        _need(game, permutes, f"symmetries that are permutations [S, {size}]", f"others, {[*table.shape]}")
        _same(game, table[:1], np.arange(size)[None], "the identity as the first symmetry")
    every = np.stack([game.turn(sample.states, np.full(len(sample.states), k)) for k in range(len(squares))])
    n, canonical = np.arange(len(sample.states)), game.canonical(sample.states)
    _same(game, game.turn(sample.states, n % len(squares)), every[n % len(squares), n], "rows turned each for itself")
    _need(game, (every == canonical).all(2).any(0).all(), "canonical to be one of the turned forms", "another")
    for k, turned in enumerate(every):
        _same(game, game.legal(turned), sample.legal[:, actions[k]], f"legal moves after symmetry {k}")
        after = game.play(turned[sample.row], np.argsort(actions[k])[sample.action])
        _same(game, after, game.turn(sample.after, np.full(len(after), k)), f"play after symmetry {k}")
        outcome = game.outcome(turned[~sample.legal.any(1)])
        _same(game, outcome, game.outcome(sample.ended), f"outcome after symmetry {k}")
        _same(game, game.canonical(turned), canonical, f"canonical after symmetry {k}")


def _planes_show_the_state(game: Game, sample: Sample) -> None:
    states, planes = sample.states, game.encode(sample.states)
    _same(game, game.decode(planes), states, "`decode` of `encode`")
    for k, squares in enumerate(game.symmetries.squares):
        turned = game.encode(game.turn(states, np.full(len(states), k)))
        by_square = planes.reshape(*planes.shape[:2], -1)[:, :, squares].reshape(planes.shape)
        _same(game, turned, by_square, f"planes of states turned by symmetry {k}")


def _notation_says_the_state(game: Game, sample: Sample) -> None:
    texts = [game.to_text(state) for state in sample.states]
    _need(game, all(text.splitlines() == [text] for text in texts), "a notation of one line", repr(texts[0]))
    _same(game, np.stack(list(map(game.from_text, texts))), sample.states, "`from_text` of `to_text`")
    for text in ("", "?", texts[0] + "?"):
        _need(game, _refused(game.from_text, text), "a notation that is none to be refused", repr(text))


def _moves_have_names(game: Game, sample: Sample) -> None:
    names, every = [game.move_name(action) for action in range(game.actions)], list(range(game.actions))
    _need(game, all(name.split() == [name] for name in names), "names of moves that are words", names)
    _need(game, game.parse_moves(game.move_names(every)) == every, "names that tell moves apart", names)
    _need(game, _refused(game.parse_moves, "?"), "a name that no move has to be refused", "?")


def _refused(function: Any, argument: str) -> bool:
    try:
        function(argument)
    except ProbZeroError:
        return True
    return False
