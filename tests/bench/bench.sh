#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make bench: makes all runs in interleaved rounds, prints a table, writes bench.json. See tests/bench/README.
#   BENCH_BUILD   the build folder with bin/ and tests/bench/
#   BENCH_OUT     the path of bench.json
#   ROUNDS, ONLY, IDLE_S  as in README
set -u
: "${BENCH_BUILD:?}" "${BENCH_OUT:?}"
ROUNDS=${ROUNDS:-7} ONLY=${ONLY:-} IDLE_S=${IDLE_S:-60}
here=$(dirname "$0")
bin=$BENCH_BUILD/tests/bench satin=$BENCH_BUILD/bin/satin
limit_s=300   # the longest that one run may take
settle_ms=300 # until the other node of a run has joined and is idle
work=$(mktemp -d "${TMPDIR:-/tmp}/satin-bench-XXXXXX")
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
samples=$work/samples figures=$work/figures
: >"$samples" >"$figures" >"$work/warnings"
case $ROUNDS in '' | *[!0-9]* | 0) echo "bench: ROUNDS must be a number from 1 on, not '$ROUNDS'" >&2; exit 2 ;; esac

. "$here/parts.sh"

# TRUE if ONLY names one of these parts or kernels, or is empty.
wanted () # WORD…
{
  local word asked
  [ -z "$ONLY" ] && return 0
  for asked in ${ONLY//,/ }; do
    for word in "$@"; do
      [ "$asked" = "$word" ] && return 0
    done
  done
  return 1
}

# Plans a timed run: plan PART 'BENCH' RUNTIME WORKERS PROCESSES [ROUNDS]. A bench is KERNEL ARGUMENT; parts that plan the
# same run share it.
plans=()
planned ()
{
  local old
  for old in ${plans[@]+"${plans[@]}"}; do
    [ "${old%|*}" = "$1" ] && return 0
  done
  return 1
}
plan ()
{
  local part=$1 bench=$2 runtime=$3 workers=$4 processes=$5 rounds=${6:-$ROUNDS}
  wanted "$part" "${bench%% *}" || return 0
  [ -x "$bin/${runtime%%-*}" ] || return 0
  planned "$bench|$runtime|$workers|$processes" || plans+=("$bench|$runtime|$workers|$processes|$rounds")
}

# Reports a failure at once and again at the end; the other runs go on.
failed () # WORDS
{
  echo "FAILED: $1" >>"$work/warnings"
  say
  echo "bench: $1" >&2
}

# Makes one run and prints the output of the program.
start () # BENCH RUNTIME WORKERS PROCESSES
{
  local kernel=${1%% *} argument=${1#* } runtime=$2 workers=$3 processes=$4
  case $runtime-$processes in
    serial-1) limited "$bin/serial" "$kernel" "$argument" ;;
    serial-twice-*) limited "$bin/serial" "$kernel" "$argument" --twice ;;
    openmp-*) OMP_NUM_THREADS=$workers OMP_STACKSIZE=256M limited "$bin/openmp" "$kernel" "$argument" ;;
    tbb-*) BENCH_WORKERS=$workers limited "$bin/tbb" "$kernel" "$argument" ;;
    satin-1) limited "$bin/satin" "$kernel" "$argument" --workers "$workers" ;;
    satin-*)
      limited "$satin" run -n "$processes" -w "$((workers / processes))" -- "$bin/satin" "$kernel" "$argument" $settle_ms
      ;;
  esac
}
limited () { timeout "$limit_s" "$@"; }

# The results of a bench are the same for all runtimes; spawn and call compute what fib does.
declare -A results
same () # BENCH RESULT
{
  local bench=${1/fibcall/fib}
  [ "${results[$bench]:=$2}" = "$2" ]
}

# What is being done, on a line that the next one replaces; for people only.
say () # [WORDS]
{
  [ ! -t 2 ] || printf '\r%-70s\r%s' '' "${1-}" >&2
}

rounds_of_all ()
{
  local round i bench runtime workers processes rounds line seconds result _
  for ((round = 1; round <= ROUNDS; round++)); do
    for i in "${!plans[@]}"; do
      IFS='|' read -r bench runtime workers processes rounds <<<"${plans[i]}"
      [ "$round" -le "$rounds" ] || continue
      say "round $round of $ROUNDS: $bench, $runtime, $workers, $processes"
      if ! line=$(start "$bench" "$runtime" "$workers" "$processes"); then
        failed "$bench with $runtime, $workers workers, $processes processes"
        unset "plans[i]"
        continue
      fi
      read -r seconds result _ <<<"$line"
      same "$bench" "$result" || failed "$bench with $runtime gives '$result' and not '${results[${bench/fibcall/fib}]}'"
      echo "$bench|$runtime|$workers|$processes|$seconds" >>"$samples"
    done
  done
  say
}

# Warns if the machine is busy, which makes the figures meaningless: repeats the same short work on both cores at once.
calm () # WHEN
{
  local i line spread load
  read -r load _ </proc/loadavg
  for ((i = 0; i < 15; i++)); do
    line=$("$bin/serial" fib 34 --twice) || exit 1
    echo "${line%% *}"
  done >"$work/calm"
  spread=$(sort -n "$work/calm" | awk '{ t[NR] = $1 } END { printf "%.2f", t[int (NR * 0.9) + 1] / t[1] }')
  if awk -v s="$spread" -v l="$load" -v w="$1" 'BEGIN { exit !(s > 1.15 || (w == "before" && l > 0.7)) }'; then
    echo "WARNING: this machine is busy $1 the rounds (load $load; the same work takes up to $spread times as long)." \
      "Do not believe the figures." >>"$work/warnings"
  fi
}

cores=$(nproc)
[ "$cores" -ge 2 ] || echo "WARNING: one core only: nothing with two workers means anything." >>"$work/warnings"
calm before
cat "$work/warnings" >&2
plan_parts
rounds_of_all
other_parts
calm after
awk -f "$here/table.awk" -v json="$BENCH_OUT" -v measures="$here/measures" -v figures="$figures" "$samples"
cat "$work/warnings"
echo "The times are in $BENCH_OUT."
! grep -q '^FAILED' "$work/warnings"
