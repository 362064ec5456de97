"""What dev and test hold, so that none of it is trained on or shown as an example."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from harness.corpora import SPLITS, load
from harness.corpora.item import Item, new_turns
from harness.errors import UsageError
from harness.tasks.registry import tasks_in, world_of

Content = tuple[str, bytes, bytes]
"""What is asked for, in lower case and with single spaces, and the states before and after."""

_NAMED = 3
"""The most ids that a refusal names."""


class HeldOut:
    """The dev and test items of all tasks of a world, by id, content and target: three look-ups decide about an item.

    A content or a target that a corpus's train split shares with its own dev or test does not count: it was published that way.
    """

    def __init__(self, task: str) -> None:
        """Raises UsageError for an unknown task and DataError as `harness.corpora.load` does."""
        self.sizes: dict[str, int] = {}
        """By task, how many items dev and test have."""
        self._ids: set[str] = set()
        self._contents: dict[Content, str] = {}
        self._published: set[Content] = set()
        self._targets: set[tuple[str, str]] = set()
        self._test_targets: dict[str, Counter[str]] = {}
        for one in tasks_in(world_of(task)):
            items = load(one)
            train = [item for item in items if item.split == "train"]
            held = [item for item in items if item.split != "train"]
            known = {target(item) for item in train}
            self.sizes[one] = len(held)
            self._ids.update(item.id for item in held)
            own = {content(item): item.id for item in held}
            self._published |= own.keys() & {content(item) for item in train}
            self._contents |= {key: own[key] for key in own.keys() - self._published}
            self._targets |= {(one, target(item)) for item in held} - {(one, name) for name in known}
            self._test_targets[one] = Counter(target(item) for item in held if item.split == "test")

    def match(self, item: Item) -> str | None:
        """Why the item counts as one of dev or test; None if it does not."""
        if item.id in self._ids:
            return "its id"
        if held := self._contents.get(content(item)):
            return f"the content of {held}"
        return f"the target of {target(item)}" if (item.task, target(item)) in self._targets else None

    def refuse(self, where: str, items: Iterable[Item]) -> None:
        """Raises UsageError, with their count and the first ids, if any items are in dev or test. `where` names their source."""
        matches = [f"{item.id} ({why})" for item in items if (why := self.match(item))]
        if matches:
            first = ", ".join([*matches[:_NAMED], *(["..."] if len(matches) > _NAMED else [])])
            raise UsageError(f"{where}: {len(matches)} of its items are in dev or test: {first}; leave them out")

    def shared_targets(self, items: Iterable[Item]) -> dict[str, tuple[int, int]]:
        """By task, the number of its test items whose target some of the items have too, and the number of all its test items;
        only tasks that share a target."""
        known = {name for targets in self._test_targets.values() for name in targets}
        names = {name for item in items if (name := target(item)) in known}
        shared = {
            task: (sum(count for name, count in targets.items() if name in names), targets.total())
            for task, targets in self._test_targets.items()
        }
        return {task: counts for task, counts in shared.items() if counts[0]}

    def compared(self, items: Sequence[Item]) -> dict[str, Any]:
        """What an adapter records about its train items, none of which is in dev or test. `published_alike` counts the items that
        say and do the same as an item of dev or test, because the corpora were published that way."""
        alike = sum(content(item) in self._published for item in items)
        return {"items": self.sizes, "published_alike": alike, "shared_targets": self.shared_targets(items)}


def content(item: Item) -> Content:
    """What is said and done in an item, whatever its id."""
    said = " ".join(turn.text for turn in new_turns(item))
    return " ".join(said.lower().split()), item.before.cells.tobytes(), item.after.cells.tobytes()


def target(item: Item) -> str:
    """The name of an item's image or target structure, spelled alike in all corpora."""
    return item.group.upper()


def not_asked(pool: Sequence[Item], items: Sequence[Item]) -> list[Item]:
    """The pool of examples without items that say and do, under another id, the same as one of `items`."""
    asked, ids = {content(item) for item in items}, {item.id for item in items}
    return [item for item in pool if item.id in ids or content(item) not in asked]


def train_targets(tasks: Collection[str]) -> frozenset[str]:
    """The names of the targets in the train splits of some tasks."""
    return frozenset(target(item) for task in tasks if "train" in SPLITS[task] for item in load(task, "train"))
