"""Evaluators and set-up shared by the tests of the search."""

from __future__ import annotations

from typing import Any

import torch

from probzero import games as known_games
from probzero.config import Search
from probzero.games.base import Game
from probzero.network.inference import Evaluation
from probzero.random_keys import key, mix, uniform
from probzero.search.backends.base import Backend
from probzero.search.backends.compiled import CompiledBackend
from probzero.search.backends.tensor import TensorBackend, reference_kernels
from probzero.search.evaluation import CachedEvaluation, Evaluate
from probzero.search.graph import Graph
from probzero.search.move_choice import sample

CPU = torch.device("cpu")
SYSTEMATIC = Search(splitting="systematic", temperature=1.0, cache=False)
FORMS = ("compiled", "tensor")  # the tensor form with plain torch in the place of its kernels
INTERPRETED = "triton"  # the tensor form as it is; TRITON_INTERPRET must be set before anything is imported


def changed(settings: Search, **changes: Any) -> Search:
    """The same settings but for these."""
    return settings.model_copy(update=changes)


PLAIN = reference_kernels()  # plain torch in the place of Triton


def backend_of(rules: Game, form: str) -> Backend:
    if form == "compiled":
        return CompiledBackend(rules, torch.empty(0))  # over tensors, as the other form
    return TensorBackend(rules, CPU, PLAIN if form == "tensor" else None)


def invented(rules: Game, sharpness: float = 3.0) -> Evaluate:
    """An evaluator whose numbers are a hash of the position: arbitrary, but the same wherever it is asked."""

    def evaluate(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        column = torch.arange(rules.actions + 6)
        drawn = uniform(mix(*states.unbind(1))[:, None], column[None, :]).float() * sharpness
        legal = torch.zeros(len(states), rules.actions, dtype=torch.bool).scatter_(1, moves, True)
        prior = torch.where(legal, drawn[:, : rules.actions], -torch.inf).softmax(1).gather(1, moves)
        return Evaluation(prior, drawn[:, -6:-3].softmax(1), drawn[:, -3:].softmax(1))

    return evaluate


def searching(
    size: int = 5,
    games: int = 3,
    evaluate: Evaluate | None = None,
    settings: Search = SYSTEMATIC,
    capacity: int = 40_000,
    keys: list[int] | None = None,
    form: str = "compiled",
    rules: Game | None = None,
) -> Any:
    """A search at the start of `games` games of `rules`, Othello on size×size squares unless given."""
    rules = rules or known_games.make("othello", size=size)
    backend = backend_of(rules, form)
    graph = Graph(backend, games, capacity, "capacity", settings.transpositions)
    graph.game_key[:] = torch.tensor(keys if keys is not None else [key("test", game) for game in range(games)])
    evaluate = evaluate or invented(rules)
    if settings.cache:
        evaluate = CachedEvaluation(evaluate, backend, capacity)
    search = settings.arm.search_class(graph, evaluate, settings)
    search.start(torch.arange(games), torch.from_numpy(rules.start()).repeat(games, 1))
    return search


def played(search: Any, games: torch.Tensor, exploration: float, ply: int) -> torch.Tensor:
    """Draw the moves [n] of games [n] as self-play does."""
    return sample(search.moves(games), search.graph.game_key[games], ply, exploration=exploration)


def play_games(search: Any, plies: int, particles: int, batches: int, exploration: float = 0.1) -> list[list[int]]:
    """Play the games of a search to their ends, or for so many plies; return the moves of each."""
    moves: list[list[int]] = [[] for _ in range(search.graph.games)]
    going = torch.arange(search.graph.games)
    for ply in range(plies):
        search.run(going, particles, batches, ply)
        action = played(search, going, exploration, ply)
        for game, move in zip(going.tolist(), action.tolist(), strict=True):
            moves[game].append(move)
        search.advance(going, action)
        search.evaluate_roots(going)
        going = going[search.graph.edge_count[search.graph.root[going]] > 0]
        if not len(going):
            break
    return moves
