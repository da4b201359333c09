"""The sections of a configuration: every setting with its range, its default and its meaning."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, ValidationInfo, model_validator

from probzero.arms import ARMS, Arm, offered
from probzero.config.fields import Anchor, Batches, Checkpoint, Distinct, List, Pair, Rising, Section, Words
from probzero.games import registry


class Game(Section):
    """The game: beside its name, its own options."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="which game", json_schema_extra={"enum": list(registry.GAMES)})

    @model_validator(mode="after")
    def _is_known(self, info: ValidationInfo) -> Game:
        registry.entry(self.name, self.options, f"{info.context}: game" if info.context else "game")
        return self

    @property
    def options(self) -> dict[str, registry.Option]:
        return dict(self.model_extra or {})

    @property
    def entry(self) -> registry.Entry:
        """What planning knows of the game."""
        return registry.entry(self.name, self.options)


class Network(Section):
    """The network: a trunk of residual blocks, and heads for policy, value and reward."""

    blocks: int = Field(ge=1, le=64, description="residual blocks")
    channels: int = Field(ge=1, le=1024, description="channels of the trunk")
    policy_hidden: int = Field(
        default=0, ge=0, le=4096, description="units of a hidden layer before the policy; 0: none, as published"
    )
    value: Literal["wdl", "support"] = Field(
        default="wdl", description="value head: win/draw/loss, or a distribution over points from −1 to 1"
    )
    support: int = Field(default=21, ge=2, le=601, description="points of the value head, if it is support")
    reward: bool = Field(default=True, description="whether there is a reward head")


class Search(Section):
    """The search of every move, in self-play and in all measurements."""

    splitting: Literal["systematic", "middle", "multinomial"] = Field(
        description="how a node's particles are divided; middle is systematic without a draw"
    )
    temperature: float = Field(gt=0, le=100, description="τ of winner_prob")
    cache: bool = Field(description="share evaluations of equal positions between games")
    algorithm: Literal[tuple(ARMS)] = Field(  # type: ignore[valid-type]
        default="particle",
        description="ProbZero's particles, AlphaZero's PUCT, Gumbel AlphaZero, or UCB1 with random playouts",
    )
    transpositions: bool = Field(default=True, description="equal positions of a game are one node (a DAG)")
    reuse: bool = Field(default=True, description="keep the graph below the move that was played")
    budget: Literal["simulations", "leaves"] = Field(
        default="simulations",
        description="what particles × batches counts: simulations, or leaf evaluations (at most 4 simulations each)",
    )
    exploration: float = Field(default=1.25, ge=0, le=100, description="c of PUCT and UCB1")
    exploration_growth: Literal["constant", "logarithmic"] = Field(
        default="constant", description="PUCT: logarithmic adds log((N + 19652 + 1) / 19652) to c"
    )
    q_scale: Literal["plain", "minmax"] = Field(
        default="plain", description="PUCT: minmax scales Q to [0, 1] within a search"
    )
    unvisited: Literal["zero", "first", "parent"] = Field(
        default="zero", description="PUCT: Q of a move not yet tried is 0, or its node's; or it goes first"
    )
    first_play_reduction: float = Field(
        default=0.0, ge=0, le=2, description="PUCT: what is taken off its node's Q for a move not yet tried"
    )
    virtual_loss: int = Field(
        default=0, ge=0, le=100, description="PUCT: losses of a simulation on its way, a batch at once; 0: one by one"
    )
    gumbel_moves: int = Field(default=16, ge=1, le=1024, description="Gumbel: most moves considered at the root")
    gumbel_visits: float = Field(default=50.0, ge=0, le=10_000, description="Gumbel: c_visit of σ")
    gumbel_scale: float = Field(default=1.0, ge=0, le=100, description="Gumbel: c_scale of σ, with Q in [−1, 1]")

    @property
    def arm(self) -> Arm:
        """What belongs to the algorithm."""
        return ARMS[self.algorithm]


class _Job(Section):
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="where to compute; auto: CUDA if the machine has it, else cpu"
    )
    threads: int = Field(
        ge=1, le=1024, description="processor threads of one job; network evaluations take one, training two at most"
    )


class _SearchJob(_Job):
    particles: int = Field(ge=1, le=4096, description="particles of one simulation batch")
    capacity: int = Field(ge=1, le=100_000_000, description="most search nodes of one shard, player or measurement")


class SelfPlay(_SearchJob):
    """The games of self-play, which every iteration begins with."""

    shards: int = Field(ge=1, le=10_000, description="self-play jobs of one iteration")
    games: int = Field(ge=1, le=100_000, description="games of one shard, played at once")
    batches: Batches = Field(description="simulation batches of one move")
    random_plies: int = Field(ge=0, le=10_000, description="a game begins after 0 to this many random plies")
    near_end: float = Field(default=0.0, ge=0, le=1, description="share of games that begin near a random game's win")
    near_end_plies: int = Field(default=16, ge=1, le=10_000, description="they begin 1 to this many plies before it")
    longest: int = Field(default=0, ge=0, le=10_000, description="plies after which a game is left unfinished; 0: none")
    exploration: float = Field(ge=0, le=1, description="share of uniform choice among explored moves")
    lag: int = Field(
        default=0,
        ge=0,
        le=10,
        description="how many iterations older than the newest the playing network is; with 1, an iteration is played "
        "while the one before is learned from",
    )
    noise: float = Field(default=0.0, ge=0, le=1, description="share of Dirichlet noise at the root, or Gumbel's")
    noise_concentration: float = Field(default=1.0, gt=0, le=1000, description="α of that noise")
    move_temperatures: List[Pair] = Field(
        default=((0, 1.0),),
        min_length=1,
        description="[ply, τ]: from this ply on, moves are drawn from weight^(1/τ); 0 takes the largest",
    )
    resign_below: float = Field(default=-1.0, ge=-1, le=1, description="resign at a root value below; −1: never")
    play_on: float = Field(default=0.1, ge=0, le=1, description="share of games that never resign")


class Targets(Section):
    """What the network learns from a search; may be left out."""

    nodes: Literal[offered("nodes")] = Field(  # type: ignore[valid-type]
        default="tree", description="samples of the whole graph, or of positions played"
    )
    policy: Literal[offered("policy")] = Field(  # type: ignore[valid-type]
        default="winner", description="policy target: winner_prob, shares of visits, or Gumbel's improved policy"
    )
    value: Literal[offered("value")] = Field(  # type: ignore[valid-type]
        default="bootstrap",
        description="value target: leaves' reward head; the search's value; the outcome; the root's value some plies "
        "later; outcome and root's value mixed",
    )
    least_moves: int = Field(
        default=1,
        ge=1,
        le=2,
        description="fewest explored moves of a sample; one alone says nothing of the policy",
    )
    steps: int = Field(default=5, ge=1, le=10_000, description="plies ahead for steps")
    root_share: float = Field(default=0.5, ge=0, le=1, description="share of the root's value for mixed")


class Training(_Job):
    """Learning from the newest games, which every iteration ends with."""

    iterations: int = Field(ge=1, le=9999, description="iterations of self-play and training")
    batch_size: int = Field(ge=1, le=1_000_000, description="samples of one step")
    samples: int = Field(
        ge=0, le=1_000_000_000, description="samples drawn an iteration; 0 passes once over the window"
    )
    learning_rate: float = Field(gt=0, le=1, description="learning rate of the first iteration")
    final_learning_rate: float = Field(gt=0, le=1, description="that of the last; a half cosine between")
    warm_up: int = Field(default=0, ge=0, le=1_000_000, description="first steps of a run, over which the rate rises")
    weight_decay: float = Field(ge=0, le=1, description="weight decay, decoupled")
    gradient_clip: float = Field(gt=0, le=1_000_000, description="largest gradient norm")
    symmetries: bool = Field(description="turn each sample by a random symmetry")
    replay_window: int = Field(ge=1, le=9999, description="newest iterations to learn from")
    visit_exponent: float = Field(ge=0, le=1, description="sample weight = visits^exponent; published: 1")
    recency: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="weight of an iteration's samples beside those of the next one, if samples are drawn",
    )
    policy_moves: Literal["explored", "legal"] = Field(
        default="explored", description="moves of the policy's loss; of legal ones those not explored have the target 0"
    )
    policy_sharpness: float = Field(
        default=1.0, ge=1, le=100, description="policy target = what the search says to this power, normalised"
    )
    undecided_draw: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="how often a sample with a uniform policy target is drawn beside one with a single best move",
    )
    phase_balance: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="draws of samples of one phase ∝ (their number)^(1 − this): 0 draws all samples alike, 1 all "
        "phases alike",
    )
    policy_weight: float = Field(
        default=1.0, gt=0, le=100, description="weight of the policy's loss beside those of value and reward"
    )


class Arena(_SearchJob):
    """The tournament of checkpoints and players without a network."""

    checkpoints: Rising[Checkpoint] = Field(min_length=2, description="iterations that meet in the tournament")
    anchors: Distinct[Anchor] = Field(description="players without a network that join the tournament")
    openings: int = Field(ge=1, le=100_000, description="distinct openings of a pairing; each is played twice")
    opening_plies: int = Field(ge=0, le=10_000, description="random plies of an opening")
    batches: Batches = Field(description="simulation batches of one move")


class Truth(_SearchJob):
    """Measurements against exact solutions, for games that are solved."""

    per_stratum: int = Field(ge=1, le=100_000, description="evaluated positions of each phase and source")
    batches: Rising[Batches] = Field(min_length=1, description="simulation batches of each measured search budget")
    openings: int = Field(ge=1, le=100_000, description="openings played against the perfect player")
    opening_plies: int = Field(ge=0, le=10_000, description="random plies of an opening")
    games_from_start: int = Field(ge=0, le=100_000, description="games against it from the start")
    positions: Words = Field(
        default="",
        description="file of a fixed evaluation set, seen from the Snakefile's folder: moves are judged on it, "
        "random play serves calibration alone; nothing: both on positions of random play and of self-play",
    )
    curve_share: int = Field(
        default=1, ge=1, le=1000, description="checkpoints but the last meet one in this many of the fixed set"
    )
    ceiling: Words = Field(default="", description="file of a trained ceiling, found likewise; nothing: train one")
    ceiling_per_stratum: int = Field(default=5000, ge=1, le=1_000_000, description="labelled positions of each phase")
    ceiling_samples: int = Field(default=600_000, ge=10, le=1_000_000_000, description="samples a new ceiling sees")


class Certify(Section):
    """Exact best responses to the checkpoints of the tournament, for games that are solved; may be left out.

    Every checkpoint is certified raw from the start. Particles, capacity and threads are those of `truth`."""

    batches: Rising[Batches] = Field(default=(), description="further budgets, in batches, of what has learned")
    last_batches: Rising[Batches] = Field(default=(), description="those of the last checkpoint, from the start")
    won_batches: Rising[Batches] = Field(
        default=(), description="those of the last checkpoint from every won position, beside raw"
    )
    won_phase: int = Field(
        default=0, ge=0, le=1000, description="the won positions are those of at most this phase; 0: none"
    )
    keys: int = Field(
        default=0,
        ge=0,
        le=64,
        description="keys of random draws under which the last checkpoint is certified too, with `batches`",
    )
