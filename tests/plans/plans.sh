#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make plans: the same crashes, suspensions and calm runs under each plan of protection, with real processes, in turns. Writes
# plans.json, table.md and SVG plots. See tests/plans/README.
#   PLANS_BUILD   the build folder with bin/
#   PLANS_OUT     the folder for the results
#   ROUNDS, ONLY, SIZE, PLANS  as in README
# shellcheck disable=SC1091,SC2030,SC2031,SC2034,SC2154 # sizes.sh and runs.sh share its variables; lanes have their own
set -u
: "${PLANS_BUILD:?}" "${PLANS_OUT:?}"
# All plans, in the order of the tables.
PLANS=${PLANS:-naive orphan checkpoint cut theft buddy mirror auto}
ROUNDS=${ROUNDS:-5} ONLY=${ONLY:-} SIZE=${SIZE:-full}
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
bin=$PLANS_BUILD/bin satin=$PLANS_BUILD/bin/satin
work=$(mktemp -d "${TMPDIR:-/tmp}/satin-plans-XXXXXX")
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
runs=$XDG_STATE_HOME/satin/runs
samples=$work/samples warnings=$work/warnings file=$work/run.satin
touch "$samples" "$warnings" "$work/waits"
limit_s=300 # the longest that one run may take

# The nodes of this script, or of one of its lanes: their environment has a run's folder below $work.
our_nodes () { grep -lsF "SATIN_RUN_FOLDER=$work/" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,'; }
kill_nodes ()
{
  local pids
  pids=$(our_nodes)
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null
}
end_all ()
{
  local lanes
  lanes=$(jobs -rp)
  # shellcheck disable=SC2086
  [ -z "$lanes" ] || kill $lanes 2>/dev/null
  kill_nodes
  rm -rf "$work"
}
trap end_all EXIT
trap 'exit 1' INT TERM

stop () { echo "plans: $1" >&2; exit 2; }
case $ROUNDS in '' | *[!0-9]* | 0) stop "ROUNDS must be a number from 1 on, not '$ROUNDS'" ;; esac
for part in ${ONLY//,/ }; do
  case $part in crash | order | suspend | overhead) ;; *) stop "ONLY names no part '$part'" ;; esac
done

. "$here/sizes.sh"
. "$here/runs.sh"

wanted () # PART
{
  [ -z "$ONLY" ] || [[ " ${ONLY//,/ } " == *" $1 "* ]]
}

# TRUE if the plan needs a checkpoint; its runs then get one.
needs_file () # PLAN
{
  "$satin" run --dry-run -n 2 --protect "$1" -- "$bin/sleep" 1 2>&1 >"$work/dry" | grep -q 'needs --checkpoint'
}
filed=
for plan in $PLANS; do
  words=$("$satin" run --dry-run -n 2 --protect "$plan" -- "$bin/sleep" 1 2>&1 >"$work/dry") && continue
  needs_file "$plan" || stop "no plan '$plan': $words"
  filed="$filed $plan "
done
# Preloaded into the nodes, it denies the founder access to the checkpoint, so that another node is coordinator.
slow_place=$work/slow-place.so
[ -z "$filed" ] || "${CC:-cc}" -shared -fPIC -O1 -o "$slow_place" "$source/tests/e2e/slow-place.c" -ldl 2>"$work/err" || slow_place=
has_file () { [[ $filed == *" $1 "* ]]; }

# Tasks: FUNCTION EACH ARGUMENT…; made in every EACH-th round, and always in the last one.
tasks=()
task () { tasks+=("$*"); }

# Some runs of the part crash are used by the part order, too. For the part order alone only these are planned.
plan_crash ()
{
  local case plan
  for case in calm one master coordinator neighbours half half-master half-coordinator; do
    wanted crash || [[ $case =~ ^half(-master)?$ ]] || continue
    for plan in $PLANS; do
      [[ $case == *coordinator ]] && { ! has_file "$plan" || [ -z "$slow_place" ]; } && continue
      task sleep_run 1 $case "$plan" "$share_middle"
    done
  done
}

plan_order ()
{
  local half share plan
  for half in half half-master; do
    for plan in $filed; do
      for share in $share_often $share_seldom; do
        task sleep_run 1 $half "$plan" "$share"
      done
    done
    task sleep_run 1 "${half/half/leave}" orphan "$share_middle"
  done
  task sleep_run 1 fewer orphan "$share_middle"
}

plan_suspend ()
{
  local i
  for i in "${!suspend_commands[@]}"; do
    task suspend_run "${suspend_every[$i]}" "$i"
  done
}

plan_overhead ()
{
  local i plan seconds
  for i in "${!overhead_commands[@]}"; do
    for plan in $PLANS; do
      task overhead_run "$few" "$i" "$plan" auto
    done
    [ "$i" -eq "$interval_command" ] || continue
    for plan in $filed; do
      for seconds in $interval_others; do
        task overhead_run "$few" "$i" "$plan" "$seconds"
      done
    done
  done
}

few=3 # runs whose figures hardly change are made in every third round, and in the last
if wanted crash || wanted order; then plan_crash; fi
if wanted order; then plan_order; fi
if wanted suspend; then plan_suspend; fi
if wanted overhead; then plan_overhead; fi

say () { [ ! -t 2 ] || printf '\r%-76s\r%s' '' "${1-}" >&2; }
load () { cut -d' ' -f1 /proc/loadavg; }

# Records the time of a short piece of work divided by its CPU time: 1.0 on a machine with a free core.
measure_wait ()
{
  local TIMEFORMAT='%R %U'
  { time awk 'BEGIN { for (i = 0; i < 3000000; i++) x += i }'; } 2>&1 | awk '{ printf "%.2f\n", $1 / ($2 > 0 ? $2 : 1) }' \
    >>"$work/waits"
}

# The state of the source when the runs begin.
commit=$(git -C "$source" rev-parse --short=12 HEAD 2>/dev/null || "$satin" version)
[ -z "$(git -C "$source" status --porcelain --untracked-files=no 2>/dev/null)" ] || commit="$commit and changes"
began=$(date +%s) load_before=$(load)
for ((round = 1; round <= ROUNDS; round++)); do
  measure_wait
  for i in "${!tasks[@]}"; do
    read -r function each arguments <<<"${tasks[i]}"
    [ $(((ROUNDS - round) % each)) -eq 0 ] || continue
    say "round $round of $ROUNDS, run $((i + 1)) of ${#tasks[@]}: $function $arguments"
    # shellcheck disable=SC2086
    case $function in
      sleep_run) run_in_lane "$i" $arguments ;;
      *) end_lanes; $function $arguments ;;
    esac
  done
  end_lanes
done
measure_wait
say

# What was measured, and on which machine.
mkdir -p "$PLANS_OUT" || exit 1
{
  echo "machine|$(uname -m), $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), $(awk '/^MemTotal/ {
    printf "%.0f", $2 / 1048576 }' /proc/meminfo) GiB, Linux"
  echo "date|$(date -u +'%F %R') UTC"
  echo "commit|$commit"
  echo "size|$SIZE"
  echo "rounds|$ROUNDS"
  echo "minutes|$(((($(date +%s) - began) + 30) / 60))"
  echo "load|$load_before before, $(load) after"
  echo "wait|$(sort -n "$work/waits" | awk '{ v[NR] = $1 } END { printf "%.2f", v[int ((NR + 1) / 2)] }')"
  echo "sleep|$sleep_nodes nodes of $sleep_workers workers at two sites, sleep $sleep_ms --depth $sleep_depth, $work_s s of work"
} >"$work/about"
lists=(-v papers="$here/papers" -v bounds="$here/bounds" -v plans="$PLANS" -v out="$PLANS_OUT")
awk -f "$here/stats.awk" -f "$here/table.awk" "${lists[@]}" -v about="$work/about" -v warnings="$warnings" "$samples" || exit 1
awk -f "$here/stats.awk" -f "$here/plot.awk" "${lists[@]}" "$samples" || exit 1
cat "$PLANS_OUT/table.md"
echo "The figures are in $PLANS_OUT."
[ ! -s "$warnings" ]
