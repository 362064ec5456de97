from dataclasses import replace
from itertools import pairwise, zip_longest
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora import load
from harness.corpora.item import Utterance
from harness.errors import EngineError
from harness.worlds.minecraft import Action, Pose, Structure
from prompts.messages import conversation, gold_answer, item_view, read_answer
from prompts.probe import PROBES, format_hash
from prompts.render import PromptTooLongError, Renderer
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from serialization.contexts import CONTEXTS, from_frame, in_frame, started_with
from serialization.formats import formats_in
from tests.helpers.goldens import FOLDER, baseline_texts, golden, golden_path, specs, thought_texts
from tests.helpers.scored import built_probe

LONG = tuple(Utterance("Architect", f"put a red block on number {n}") for n in range(50))


@pytest.mark.parametrize("spec", specs(), ids=lambda s: s.name)
def test_golden_prompts(spec: PromptSpec) -> None:
    assert golden(spec) == golden_path(spec).read_text(), "if the change is meant: make golden, and say why in the commit"


def test_what_baselines_read_and_thoughts_are_golden_and_nothing_golden_is_left_over() -> None:
    texts = baseline_texts() | thought_texts()
    for path, text in texts.items():
        assert text == path.read_text(), path
    assert {*FOLDER.rglob("*.txt")} == {*map(golden_path, specs()), *texts}


@given(
    yaw=st.floats(-360, 360),
    color=st.sampled_from(["red", "blue"]),
    x=st.integers(-5, 5),
    y=st.integers(1, 9),
    z=st.integers(-5, 5),
)
def test_the_builders_frame_round_trips_at_every_yaw(yaw: float, color: str, x: int, y: int, z: int) -> None:
    actions = (Action("place", color, x, y, z), Action("remove", None, z, y, x))
    turned = built_probe(pose=Pose(0.5, 1.0, -2.5, yaw, 0.0), actions=actions)
    for frame in ("world", "builder"):
        assert from_frame(in_frame(turned, frame).actions, turned, frame) == actions
        # A program is run in the item's structure, so it asks only for what can be done there.
        for name in (name for name, fmt in formats_in("minecraft").items() if not fmt.is_program):
            spec = PromptSpec.make("minecraft", format=name, frame=frame)
            assert read_answer(gold_answer(turned, spec), turned, spec) == (actions, ())


def test_no_two_formats_have_the_same_hash() -> None:
    hashes = [format_hash(spec) for spec in specs()]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("context", ["conversation", "full-dialogue", "full-dialogue+mission"])
def test_a_dialogue_that_begins_among_blocks_lists_them_first(context: str) -> None:
    spec = PromptSpec.make("minecraft", context)
    item = built_probe()
    assert "Blocks:" not in str(conversation(item, spec)), "the game began on empty ground"
    stood = Structure.of([(4, 1, 4, "purple"), (4, 2, 4, "purple")])
    among = replace(item, before=Structure.of([*stood.blocks(), *item.before.blocks()]))
    assert started_with(among) == stood
    first = str(conversation(among, spec)[1]["content"]).removeprefix("### Input").strip()
    assert first.startswith("Blocks: purple 4 1 4, 4 2 4\n")


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
@pytest.mark.parametrize("context", ["conversation", "full-history", "full-dialogue", "context-rich"])
def test_the_prompts_of_one_chat_share_a_prefix(task: str, context: str) -> None:
    """This lets training and vLLM's cache compute the shared prefix once."""
    if context not in CONTEXTS[task]:
        return
    spec = PromptSpec.make(task, context)
    items = load(task, "train")
    chat = [item for item in items if item.cluster == items[0].cluster]
    texts = [Renderer(spec, None, 100_000, 1).render(item).text for item in chat]
    for one, following in pairwise(texts):
        same = next(n for n, pair in enumerate(zip_longest(one, following)) if pair[0] != pair[1])
        tail = len(one) - same
        assert tail < 60 or (context == "context-rich" and "Blocks:" in one[same - 60 :]), one[same:]


@given(st.integers(0, 12))
def test_a_cut_view_never_begins_with_an_answer_and_counts_on(keep: int) -> None:
    item = PROBES["hexagons"][0]
    whole = item_view(item, PromptSpec.make("hexagons", "conversation"))
    cut = whole.cut(keep)
    assert cut.pieces == whole.pieces[len(whole.pieces) - len(cut.pieces) :]
    assert not cut.pieces[0].done
    assert len(cut.pieces) <= max(1, keep)
    assert cut.first == 1 + sum(not piece.done for piece in whole.pieces[: len(whole.pieces) - len(cut.pieces)])


@given(st.integers(300, 2000))
def test_examples_lose_turns_and_go_before_the_items_own_dialogue_is_cut(context_length: int) -> None:
    shot, item = (replace(probe, history=(*LONG, *probe.history)) for probe in PROBES["minecraft"])
    item = replace(item, history=(*item.history, Utterance("Architect", "THE LAST WORD")))
    renderer = Renderer(PromptSpec.make("minecraft", "full-dialogue"), None, context_length, 50)
    rendered = renderer.render(item, [shot])
    shown = rendered.messages[-1]["content"]
    assert len(rendered.text) <= 3 * renderer.budget
    assert shown.endswith("THE LAST WORD")
    kept = [u.text for u in LONG if f"> {u.text}\n" in shown]
    assert kept == [u.text for u in LONG[len(LONG) - len(kept) :]]
    assert rendered.dropped_shots == (0 if len(rendered.messages) == 4 else 1)
    whole = len(kept) == len(LONG)
    assert whole or rendered.dropped_shots == 1, "the item was cut while an example was there"
    if rendered.dropped_shots:
        assert (rendered.dropped_history == 0) == whole
    assert rendered.dropped_history >= len(LONG) - len(kept)


def test_what_cannot_fit_is_an_error_that_names_the_flags() -> None:
    item = PROBES["minecraft"][0]
    with pytest.raises(PromptTooLongError, match="--context-length"):
        Renderer(PromptSpec.make("minecraft"), None, 60, 10).render(item)
    with pytest.raises(EngineError, match="--max-new-tokens 512 leaves no room"):
        Renderer(PromptSpec.make("minecraft"), None, 512, 512)


def test_shots_follow_the_seed_and_never_share_the_items_target() -> None:
    item = PROBES["hexagons"][0]
    pool = [replace(item, id=f"{n}", group=f"{n % 7}") for n in range(70)]
    for asked in pool[:14]:
        chosen = ShotPool(pool, 3).choose(asked, 5)
        assert len({shot.group for shot in chosen} | {asked.group}) == 6
        assert chosen == ShotPool(list(reversed(pool)), 3).choose(asked, 5)
    assert ShotPool(pool, 3).choose(item, 5) != ShotPool(pool, 4).choose(item, 5)
    few = ShotPool(pool, 3).choose(pool[0], 100)
    assert len({shot.id for shot in few}) == len(few) == 60
    assert [shot.group for shot in few].count(pool[0].group) == 0
    assert len({shot.group for shot in few[:6]}) == 6


def test_two_bos_tokens_are_refused() -> None:
    class Doubler(SimpleNamespace):
        def __call__(self, text: str, **_: object) -> SimpleNamespace:
            return SimpleNamespace(input_ids=[1, 1, 5])

    with pytest.raises(EngineError, match="BOS token twice"):
        Renderer(PromptSpec.make("hexagons"), Doubler(bos_token_id=1), 4096, 512).token_ids("<s><s>a")
