#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How little idle nodes send: one node works, the others have nothing to do. The kernel counts what each node sends.
. "$(dirname "$0")/lib.sh"
nodes=${1:-16} seconds=${2:-20}
command -v ss >/dev/null || { skip "idle nodes" "no ss here"; finish; }

begin "$satin" run -n "$nodes" -w 1 --tcp --name idle -- "$SATIN_BIN/sleep" $(((seconds + 30) * 1000)) --depth 0
ok "$nodes nodes are up" wait_for $((20 * slow)) up idle "$nodes"
sleep 5 # idle nodes ask for work at longer and longer intervals
sent () # the data segments that each node except the master has sent, one number a line
{
  local pid
  for pid in $(nodes_of idle | awk '!/"master"/ { print $1 }'); do
    ss -tinp | grep -A 1 "pid=$pid," | grep -o 'data_segs_out:[0-9]*' | awk -F: '{ n += $2 } END { print n + 0 }'
  done
}
sent >"$work/before"
start=$(date +%s%N)
sleep "$seconds"
sent >"$work/after"
span_ms=$((($(date +%s%N) - start) / 1000000))
rate=$(paste "$work/before" "$work/after" | awk -v ms=$span_ms '{ r = ($2 - $1) * 1000 / ms; if (r > most) most = r } END { printf "%.2f", most }')
echo "# $nodes nodes, $seconds s: $rate frames a second at most from an idle one"
ok "fewer than 5 frames a second each" awk "BEGIN { exit !($rate > 0 && $rate < 5) }"
kill -9 "$begun" 2>/dev/null
finish
