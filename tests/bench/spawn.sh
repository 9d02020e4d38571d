#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make bench-spawn: instructions for a node of fib, counted by callgrind: the difference between fib 24 and fib 18, divided by
# the difference of their numbers of nodes with children. It does not depend on how busy the machine is.
set -u
: "${BENCH_BUILD:?}"
satin=$BENCH_BUILD/tests/bench/satin serial=$BENCH_BUILD/tests/bench/serial
work=$(mktemp -d "${TMPDIR:-/tmp}/satin-bench-XXXXXX")
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
trap 'rm -rf "$work"' EXIT
command -v valgrind >/dev/null || { echo "bench-spawn: valgrind is missing" >&2; exit 1; }

# Prints the instructions of all threads of a command.
instructions () # COMMAND…
{
  valgrind --tool=callgrind --callgrind-out-file="$work/out" "$@" >"$work/answer" 2>"$work/words" </dev/null || {
    cat "$work/words" >&2
    exit 1
  }
  sed -n 's/^\(summary\|totals\): *//p' "$work/out" | head -n 1
}

# fib n has F (n + 1) - 1 nodes that have children.
nodes=$((75025 - 4181))
per_node () # NAME MUST AIM COMMAND KERNEL [OPTIONS…]
{
  local name=$1 must=$2 aim=$3 command=$4 kernel=$5 large small
  shift 5
  large=$(instructions "$command" "$kernel" 24 "$@") || exit 1
  small=$(instructions "$command" "$kernel" 18 "$@") || exit 1
  awk -v n="$name" -v m="$must" -v a="$aim" -v d=$((large - small)) -v k=$nodes 'BEGIN {
    v = d / k
    printf "%-24s %6.1f %9s %9s   %s\n", n, v, m != "" ? "<= " m : "", a != "" ? "<= " a : "",
      m == "" ? "" : v <= a + 0.5 ? "reaches the aim" : v <= m + 0.5 ? "ok" : "MISSED"
  }'
}

printf '%-24s %6s %9s %9s\n' "instructions a node" "" must aim
per_node "plain C" "" "" "$serial" fib
per_node "two spawns" 54 49 "$satin" fib --workers 1
per_node "spawn and call" 48 43 "$satin" fibcall --workers 1
