#!/usr/bin/env bash
# A fine-tuning on two machines with eight GPUs each: sbatch docs/examples/slurm.sh, from the checkout, on a file system that both share.
# Killed and submitted again, it resumes from its last checkpoint.
#SBATCH --job-name=harness
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=32
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --output=runs/slurm-%j.log
set -euo pipefail

export HARNESS_DATA="${HARNESS_DATA:?the folder of the corpora}"
export HF_HUB_OFFLINE=1 # The base was fetched before, with `hf download`.
nodes="${SLURM_JOB_NUM_NODES:-1}"
first="$(scontrol show hostnames "${SLURM_JOB_NODELIST:?run this with sbatch}" | head -n 1)"

# A task on each machine, which starts a process for each of its GPUs. A step has as many packs as there are processes.
srun .venv/bin/torchrun --nnodes "$nodes" --nproc-per-node 8 \
    --rdzv-backend c10d --rdzv-endpoint "$first:29500" --rdzv-id "${SLURM_JOB_ID:?}" \
    -m harness.cli finetune llama-lora --task minecraft --base meta-llama/Meta-Llama-3-8B --name llama-lora-slurm \
    --set training.accumulation="$((8 * nodes))"

# Dev answers on the first machine, with a copy of vLLM on each of its GPUs.
srun --nodes 1 --ntasks 1 --nodelist "$first" .venv/bin/harness prompt --adapter llama-lora-slurm --name llama-lora-slurm/dev
