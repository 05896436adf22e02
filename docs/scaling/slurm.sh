#!/bin/bash
# A Ray cluster on the nodes of one Slurm job, and a run of sayso on it: sbatch slurm.sh
#SBATCH --job-name=sayso
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --gpus-per-node=8
#SBATCH --time=08:00:00
set -euo pipefail

# A folder that every node sees: replies are found again there when the job is repeated.
export SAYSO_CACHE=${SAYSO_CACHE:-$SLURM_SUBMIT_DIR/sayso-cache}
export RAY_USAGE_STATS_ENABLED=0
export RAY_AUTH_MODE=token  # nobody else on these nodes may use the cluster
source "${SAYSO_VENV:-$SLURM_SUBMIT_DIR/.venv}/bin/activate"

ray get-auth-token --generate > /dev/null  # in ~/.ray, which every node sees

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
port=$((20000 + SLURM_JOB_ID % 20000))  # two jobs may share a node
address=$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | awk '{print $1}')

# The head waits with --block; the step ends with the job.
srun --nodes=1 --ntasks=1 --nodelist="$head" \
  ray start --head --block --node-ip-address="$address" --port="$port" --include-dashboard=false &
until srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" ray status --address="$address:$port" \
  > /dev/null 2>&1; do sleep 2; done
if ((SLURM_JOB_NUM_NODES > 1)); then
  srun --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --exclude="$head" \
    ray start --block --address="$address:$port" &
fi

# The same command again, in another job, goes on where this one ended.
srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" \
  sayso run uncle --model hf:Qwen/Qwen3-4B --limit 0 --out runs/qwen \
  --set engine=ray --set "ray_address=$address:$port"
