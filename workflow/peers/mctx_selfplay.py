"""Self-play by mctx, the JAX search of Google DeepMind, to be timed beside ours (`make bench-peers`).

A program of its own, in an environment of its own: it imports nothing of this project. For each line that it reads it
plays some moves of many games and writes one line of JSON: leaf_evaluations, network_evaluations, seconds.

Everything that could slow it down and that a comparison of speeds does not need is left out: there is no reward head,
batch normalisation is folded away, nothing is written or learned from. Games that end begin anew, so that every
evaluation is that of a game under way, and all that the network is asked for counts, finished positions too.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from typing import Any, NamedTuple

NOT_PLAYED = 3  # the status that says so


class Bits(NamedTuple):
    """A batch of positions seen by the player to move."""

    own: Any  # uint32 [G]
    opp: Any  # uint32 [G]


class SmallOthello:
    """Othello on boards of at most 32 squares, as bits. pgx has 8×8 alone."""

    def __init__(self, size: int) -> None:
        rows = range(size)
        self.size, self.actions = size, size * size + 1
        self.board = self._mask((row, column) for row in rows for column in rows)
        not_first = self._mask((row, column) for row in rows for column in rows[1:])
        not_last = self._mask((row, column) for row in rows for column in rows[:-1])
        # Steps along the bits, and the squares that a step can reach without leaving the board at a side.
        self.steps = [
            (size, self.board), (-size, self.board),
            (1, not_first), (size + 1, not_first), (1 - size, not_first),
            (-1, not_last), (size - 1, not_last), (-size - 1, not_last),
        ]  # fmt: skip
        low, high = size // 2 - 1, size // 2
        self.first = self._mask([(low, high), (high, low)]), self._mask([(low, low), (high, high)])

    def _mask(self, squares: Any) -> int:
        return sum(1 << (row * self.size + column) for row, column in squares)

    def _step(self, bits: Any, step: int, reached: int) -> Any:
        moved = bits << jnp.uint32(step) if step > 0 else bits >> jnp.uint32(-step)
        return moved & jnp.uint32(reached)

    def _run(self, begin: Any, opp: Any, step: int, reached: int) -> Any:
        """Return the discs of the opponent in a row from `begin`."""
        run = self._step(begin, step, reached) & opp
        for _ in range(self.size - 3):
            run |= self._step(run, step, reached) & opp
        return run

    def _places(self, own: Any, opp: Any) -> Any:
        empty, places = jnp.uint32(self.board) & ~(own | opp), jnp.zeros_like(own)
        for step, reached in self.steps:
            places |= self._step(self._run(own, opp, step, reached), step, reached) & empty
        return places

    def start(self, games: int) -> Bits:
        return Bits(*(jnp.full(games, bits, jnp.uint32) for bits in self.first))

    def legal(self, state: Bits) -> Any:
        """Return bool [G, A]; passing is legal where no square is, when the game is over too: no row is empty."""
        places = self._places(*state)
        squares = (places[:, None] >> jnp.arange(self.actions - 1, dtype=jnp.uint32)) & 1
        return jnp.concatenate([squares.astype(bool), (places == 0)[:, None]], axis=1)

    def play(self, state: Bits, action: Any) -> tuple[Bits, Any, Any]:
        """Return the positions after a move, whether they are finished, and what the mover then has: 1, 0 or −1."""
        own, opp = state
        passed = action == self.actions - 1
        disc = jnp.where(passed, 0, jnp.uint32(1) << jnp.minimum(action, self.actions - 2).astype(jnp.uint32))
        turned = jnp.zeros_like(own)
        for step, reached in self.steps:
            run = self._run(disc, opp, step, reached)
            turned |= jnp.where(self._step(run, step, reached) & own, run, 0)
        mover, other = own | disc | turned, opp & ~turned
        over = (self._places(mover, other) | self._places(other, mover)) == 0
        lead = jnp.sign(
            jax.lax.population_count(mover).astype(jnp.int32) - jax.lax.population_count(other).astype(jnp.int32)
        )
        return Bits(other, mover), over, jnp.where(over, lead, 0).astype(jnp.float32)

    def planes(self, state: Bits) -> Any:
        """Return float32 [G, N, N, 2]."""
        squares = jnp.arange(self.actions - 1, dtype=jnp.uint32)
        planes = jnp.stack([(bits[:, None] >> squares) & 1 for bits in state], axis=-1)
        return planes.reshape(-1, self.size, self.size, 2).astype(jnp.float32)


class PgxOthello:
    """Othello on 8×8 by pgx."""

    size, actions = 8, 65

    def __init__(self) -> None:
        import pgx

        self.env = pgx.make("othello")

    def start(self, games: int) -> Any:
        return jax.vmap(self.env.init)(jax.random.split(jax.random.PRNGKey(0), games))

    def legal(self, state: Any) -> Any:
        return state.legal_action_mask

    def play(self, state: Any, action: Any) -> tuple[Any, Any, Any]:
        after = jax.vmap(self.env.step)(state, action)
        return after, after.terminated, after.rewards[jnp.arange(len(action)), state.current_player]

    def planes(self, state: Any) -> Any:
        return state.observation.astype(jnp.float32)


HEAD = 32  # channels of a head


def make_network(blocks: int, channels: int, hidden: int, size: int, actions: int) -> dict[str, Any]:
    """Return random weights of the size of ours, with batch normalisation folded into convolutions."""
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 2 * blocks + 16))

    def weights(*shape: int) -> tuple[Any, Any]:
        inputs = 1
        for length in shape[:-1]:
            inputs *= length
        return jax.random.normal(next(keys), shape) * (1 / inputs) ** 0.5, jnp.zeros(shape[-1])

    features = HEAD * size * size
    widths = [features, hidden, actions] if hidden else [features, actions]
    return {
        "first": weights(3, 3, 2, channels),
        "blocks": [(weights(3, 3, channels, channels), weights(3, 3, channels, channels)) for _ in range(blocks)],
        "heads": weights(channels, 2 * HEAD),
        "policy": [weights(*pair) for pair in itertools.pairwise(widths)],
        "value": [weights(features, channels), weights(channels, 3)],
    }


def convolve(x: Any, layer: tuple[Any, Any]) -> Any:
    kernel, bias = layer
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias


def dense(x: Any, layers: list[tuple[Any, Any]]) -> Any:
    for number, (kernel, bias) in enumerate(layers):
        x = (jax.nn.relu(x) if number else x) @ kernel + bias
    return x


def evaluate(network: dict[str, Any], planes: Any) -> tuple[Any, Any]:
    """Return logits [G, A] and values [G] in [−1, 1]."""
    x = jax.nn.relu(convolve(planes, network["first"]))
    for first, second in network["blocks"]:
        x = jax.nn.relu(x + convolve(jax.nn.relu(convolve(x, first)), second))
    kernel, bias = network["heads"]
    heads = jax.nn.relu(x @ kernel + bias)
    policy, value = (part.reshape(len(planes), -1) for part in (heads[..., :HEAD], heads[..., HEAD:]))
    outcomes = jax.nn.softmax(dense(value, network["value"]))
    return dense(policy, network["policy"]), outcomes[:, 0] - outcomes[:, 2]


class SelfPlay:
    """Games that never end: whoever finishes begins anew."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.game = PgxOthello() if args.size == PgxOthello.size else SmallOthello(args.size)
        self.args, self.search = args, POLICIES[args.policy]
        self.network = make_network(args.blocks, args.channels, args.policy_hidden, args.size, self.game.actions)
        self.key, key = jax.random.split(jax.random.PRNGKey(0))
        self.states = self._openings(key)
        self._move = jax.jit(self._play_move, donate_argnums=1)

    def _openings(self, key: Any) -> Any:
        """Return games at plies as many as there are squares, so that they do not end together."""
        games, length = self.args.games, self.game.actions - 5
        first = states = self.game.start(games)
        wanted = jnp.arange(games) * length // games
        play = jax.jit(self.game.play)
        for ply in range(length):
            key, drawn = jax.random.split(key)
            action = jax.random.categorical(drawn, jnp.where(self.game.legal(states), 0.0, -jnp.inf))
            after, over, _ = play(states, action)
            states = chosen(chosen(after, first, ~over), states, ply < wanted)
        return states

    def _evaluate(self, network: Any, states: Any) -> tuple[Any, Any]:
        logits, value = evaluate(network, self.game.planes(states))
        return jnp.where(self.game.legal(states), logits, jnp.finfo(logits.dtype).min), value

    def _recurrent(self, network: Any, key: Any, action: Any, states: Any) -> tuple[Any, Any]:
        del key
        states, over, reward = self.game.play(states, action)
        logits, value = self._evaluate(network, states)
        discount, value = jnp.where(over, 0.0, -1.0), jnp.where(over, 0.0, value)
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), states

    def _play_move(self, network: Any, states: Any, key: Any) -> Any:
        logits, value = self._evaluate(network, states)
        found = self.search(
            params=network,
            rng_key=key,
            root=mctx.RootFnOutput(prior_logits=logits, value=value, embedding=states),
            recurrent_fn=self._recurrent,
            num_simulations=self.args.simulations,
            invalid_actions=~self.game.legal(states),
        )
        after, over, _ = self.game.play(states, found.action)
        return chosen(self.game.start(self.args.games), after, over)

    def play(self) -> dict[str, float]:
        began = time.perf_counter()
        for _ in range(self.args.moves):
            self.key, key = jax.random.split(self.key)
            self.states = self._move(self.network, self.states, key)
        jax.block_until_ready(self.states)
        seconds = time.perf_counter() - began
        leaves = self.args.games * self.args.moves * (self.args.simulations + 1)
        return {"leaf_evaluations": leaves, "network_evaluations": leaves, "seconds": seconds}


def chosen(first: Any, second: Any, which: Any) -> Any:
    """Return a batch of states whose rows are of the first where `which` [G] says so, else of the second."""
    return jax.tree.map(lambda a, b: jnp.where(which.reshape(-1, *[1] * (a.ndim - 1)), a, b), first, second)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", required=True)
    parser.add_argument("--policy", choices=("gumbel", "puct"), required=True)
    for name in ("size", "blocks", "channels", "policy-hidden", "games", "simulations", "moves", "threads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = read_arguments()
    if arguments.game != "othello" or not (4 <= arguments.size <= 5 or arguments.size == PgxOthello.size):
        sys.exit(NOT_PLAYED)
    os.environ["NPROC"] = str(arguments.threads)  # what XLA takes for the number of processors
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import mctx

    POLICIES = {"gumbel": mctx.gumbel_muzero_policy, "puct": mctx.muzero_policy}
    player = SelfPlay(arguments)
    for _ in sys.stdin:
        print(json.dumps(player.play()), flush=True)
