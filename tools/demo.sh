#!/usr/bin/env bash
# The whole pipeline in a few minutes, on the sample corpora: fine-tune, prompt, compare, draw, serve, ask. Every step is a
# `harness` command, printed before it runs, so that each can be repeated by hand.
set -euo pipefail

export HF_HUB_OFFLINE="${HF_HUB_OFFLINE:-1}"
unset HARNESS_DATA # The same demo everywhere, whatever data this machine has.
port=8377
patience=300

run() {
    printf '\n\033[1m$ harness %s\033[0m\n' "$*"
    harness "$@"
}

rm -rf runs/demo-training runs/demo-base runs/demo-adapter runs/demo-parser runs/demo-served
run data list

# A minute or two on two cores: enough to see the loss fall, not enough to learn the task.
settings=()
for setting in tokens=1024 accumulation=1 max_steps=6 evaluations=1 dev_loss_items=6 dev_f1_items=1 max_new_tokens=16; do
    settings+=(--set "training.$setting")
done
run finetune llama-lora --name demo-training "${settings[@]}"

run prompt --max-new-tokens 48 --name demo-base
run prompt --adapter hexagons --max-new-tokens 128 --name demo-adapter
run baseline predict parser --name demo-parser
run compare demo-base demo-adapter demo-parser

# The answer with the longest record draws most.
longest=$(awk 'length > most { most = length; line = $0 } END { print line }' runs/demo-adapter/predictions.jsonl)
item=${longest#*\"id\": \"}
item=${item%%\"*}
run show "$item" --run demo-adapter --png runs/demo-adapter/picture.png

log=$(mktemp)
printf '\n\033[1m$ harness serve --adapter hexagons --port %s &\033[0m\n' "$port"
harness serve --adapter hexagons --port "$port" >"$log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; cat "$log"; rm "$log"' EXIT
for ((waited = 0; waited < patience; waited++)); do
    if grep -q '^curl' "$log" || ! kill -0 "$server"; then break; fi
    sleep 1
done
run prompt --engine openai --base-url "http://127.0.0.1:$port/v1" --model hexagons --adapter hexagons --limit 1 --name demo-served
sed 's/.*"text": \("[^"]*"\).*/It answered: \1/' runs/demo-served/predictions.jsonl
printf '\nA picture of one answer: runs/demo-adapter/picture.png (%s seconds in all)\n' "$SECONDS"
