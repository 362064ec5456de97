"""Which requests are passed on to vLLM: what ordinary clients and our own send, and nothing that costs more than it says."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from harness.engines.engine import Sampling
from harness.engines.openai.request_shape import RequestShape
from harness.service.openai_requests import MOST_VALUES, read_fields
from harness.worlds import World
from harness.worlds.minecraft import Structure
from prompts.rendered import Rendered
from serialization.formats import formats_in
from serialization.formats.feasible import Feasible

CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
ASK: dict[str, Any] = {"model": "base", "messages": [{"role": "user", "content": "Hello"}]}
STATE = Feasible("lines", Structure()).to_json()
FETCHED = {"type": "image_url", "image_url": {"url": "http://10.0.0.1/"}}


def chat(**fields: Any) -> bytes:
    return json.dumps({**ASK, **fields}).encode()


def text(**fields: Any) -> bytes:
    return json.dumps({"model": "base", "prompt": "Hello", **fields}).encode()


def held(old: str, new: str) -> bytes:
    return text(vllm_xargs={"feasible": STATE.replace(old, new)})


@pytest.mark.parametrize("fields", json.loads(Path(__file__).with_name("requests.json").read_text()))
def test_what_ordinary_clients_send_is_passed_on_as_it_is(fields: dict[str, Any]) -> None:
    """Fields and conversations as clients and vLLM write them."""
    assert read_fields(CHAT, chat(**fields, vllm_xargs={"feasible": STATE})) == {
        **ASK,
        **fields,
        "vllm_xargs": {"feasible": STATE},
    }


@pytest.mark.parametrize("prompt", ["Hello", ["Hello", "you"], [[1, 2], [3]], [7] * 130_000])
def test_prompts_are_texts_or_tokens(prompt: Any) -> None:
    assert read_fields(TEXT, text(prompt=prompt, echo=True, logprobs=1, max_tokens=1))["prompt"] == prompt


@pytest.mark.parametrize(("world", "name"), [(world, name) for world in get_args(World) for name in formats_in(world)])
def test_our_own_engine_sends_what_is_passed_on(world: World, name: str) -> None:
    prompt = Rendered("id", ({"role": "user", "content": "Hello"},), "Hello", (1, 2), feasible=STATE)
    held: dict[str, Any] = {"constraint": formats_in(world)[name].constraint(), "stop": ("\n",), "stop_token_ids": (2,)}
    sampling = Sampling(max_tokens=8, temperature=1.0, logprobs=True, **held)
    for path, chats in ((CHAT, True), (TEXT, False)):
        shape = RequestShape("base", chat=chats, extra={"chat_template_kwargs": {"thinking": True}} if chats else {}, say=print)
        body = {**shape.body(prompt, sampling), "n": 16}
        assert read_fields(path, json.dumps(body).encode()) == json.loads(json.dumps(body))


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (CHAT, chat(chat_template_kwargs={"padding": "max_length", "max_length": 10**7}), r"chat_template_kwargs\b.*padding"),
        (CHAT, chat(chat_template="{{ 9 }}", kv_transfer_params={}), "^unknown fields: 'chat_template', 'kv_transfer_params'"),
        (CHAT, chat(structured_outputs={"choice": [str(n) for n in range(5_000)]}), "structured_outputs.choice: .* 1000 items"),
        (CHAT, chat(structured_outputs={"regex": "a" * 60_000}), "structured_outputs: more than 50,000 bytes"),
        (CHAT, chat(structured_outputs={"structural_tag": "{}"}), "structured_outputs.structural_tag"),
        (CHAT, chat(vllm_xargs={"other": 1}), r"vllm_xargs\b.*other"),
        (CHAT, chat(n=129), "n: Input should be less than or equal to 128"),
        (CHAT, chat(logit_bias={str(n): 1 for n in range(10_000)}), "logit_bias: more than 1024 keys"),
        (CHAT, chat(temperature=float("inf")), "temperature: Input should be a finite number"),
        (CHAT, chat(messages=[{"role": "user", "content": [FETCHED]}]), "messages.0.content.0.image_url.url"),
        (CHAT, chat(messages=[{}] * 30_000), r"^messages.0.role: Field required$"),
        (CHAT, chat(**{f"{n}": 1 for n in range(30_000)}), "^unknown fields: '0', '1', '2', '3', '4': leave"),
        (CHAT, b"[]", "not a JSON object"),
        (TEXT, held('"pose": null', '"pose": [0, 1, 0, 1e400, 0]'), "vllm_xargs.feasible: .*pose"),
        (TEXT, text(prompt_embeds="gASV"), "'prompt_embeds'"),
        (TEXT, text(prompt=["a"] * 100, n=100), "prompt and n ask for more than 1024 answers"),
        (TEXT, text(prompt=[7] * (MOST_VALUES + 1)), "more than 150,000 values"),
    ],
)  # fmt: skip
def test_what_may_cost_more_than_it_says_is_refused_in_a_line(path: str, body: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        read_fields(path, body)
    assert len(str(refused.value)) <= 1000
    assert "\n" not in str(refused.value)


def test_an_operator_can_allow_further_fields() -> None:
    more = {"documents": [{"text": "a"}], "chat_template_kwargs": {"language": "de"}}
    with pytest.raises(ValueError, match="documents"):
        read_fields(CHAT, chat(**more))
    assert more.items() <= read_fields(CHAT, chat(**more), [*more]).items()
