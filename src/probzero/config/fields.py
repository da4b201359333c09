"""What the settings of a configuration are made of: a section, and the types that several settings share."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


class Section(BaseModel):
    """Settings that belong together: unknown keys, wrong types, NaN and infinities are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError
    return values


# Types of several settings; `allowed` is what errors and docs/configuration.md say of them, where it cannot be derived.
# In patterns \z is the end of the text: unlike Python's $ it lets no line break through.
T = TypeVar("T")
List = Annotated[tuple[T, ...], BeforeValidator(_tuple)]
Distinct = Annotated[List[T], AfterValidator(_different), Field(json_schema_extra={"uniqueItems": True})]
Rising = Annotated[Distinct[T], AfterValidator(lambda values: tuple(sorted(values)))]
Pair = Annotated[
    tuple[Annotated[int, Field(ge=0, le=200)], Annotated[float, Field(ge=0, le=1000)]], BeforeValidator(_tuple)
]
Name = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9-]*\z",
        max_length=64,
        json_schema_extra={"allowed": "a name of lower-case letters, digits and hyphens that begins with a letter"},
    ),
]
# A line ends with more than a line feed, and control characters (\p{C}) show nothing.
LINE = r"[^\s\p{C}]([^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?"
Line = Annotated[str, Field(pattern=rf"^{LINE}\z", max_length=200, json_schema_extra={"allowed": "a line of text"})]
Words = Annotated[
    str, Field(pattern=rf"^({LINE})?\z", max_length=200, json_schema_extra={"allowed": "a line of text, or nothing"})
]
Seed = Annotated[int, Field(ge=0, le=9999)]
Checkpoint = Annotated[int, Field(ge=0, le=9999)]
Batches = Annotated[int, Field(ge=1, le=100_000)]
Anchor = Literal["random", "greedy", "mobility", "perfect"]
ANCHORS: tuple[str, ...] = get_args(Anchor)
