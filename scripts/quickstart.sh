#!/usr/bin/env bash
# From a fresh clone to a table: packages, build, model, a small run, the comparison.
#   scripts/quickstart.sh [--pair smollm2|qwen-coder] [--budget MINUTES]
# Everything that is there already is kept, so a second start is quick and a stopped run goes on.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

usage() {
  echo "quickstart: $1" >&2
  echo "usage: scripts/quickstart.sh [--pair smollm2|qwen-coder] [--budget MINUTES]" >&2
  exit 2
}

pair=smollm2
budget=()
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage "$1: unknown option or no value"
  case $1 in
    --pair) pair=$2 ;;
    --budget) budget=(--budget "$2") ;;
    *) usage "unknown option $1" ;;
  esac
  shift 2
done
case $pair in
  smollm2)
    models=(smollm2-135m-instruct-q4_1)
    config=experiments/configs/quickstart.json ;;
  qwen-coder)
    models=(qwen2.5-coder-0.5b-instruct-q4_k_m qwen2.5-coder-1.5b-instruct-q4_k_m)
    config=experiments/configs/quickstart-qwen-coder.json ;;
  *) usage "unknown pair $pair: expected smollm2 or qwen-coder" ;;
esac

echo "[1/4] packages"
scripts/install_dependencies.sh
echo "[2/4] build (Release, CPU) into build/"
fresh=()
[ -f build/build.ninja ] || fresh=(-DCMAKE_BUILD_TYPE=Release -DFORERUN_TESTS=OFF)
scripts/build.sh build "${fresh[@]}" -- forerun
echo "[3/4] models: ${models[*]}"
scripts/fetch_models.py "${models[@]}"
echo "[4/4] run $config"
build/forerun run "$config" --resume "${budget[@]}"  # ends with the comparison
