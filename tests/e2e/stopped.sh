#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A stopped store does not slow down the workers. Measures the finished jobs for each second of the nodes' processor time, with
# the store running and with it stopped in turns, so that other load of the machine affects both alike.
#   stopped.sh [SECONDS [TURNS [PERCENT]]]   how long the store is stopped each time, how often, and the allowed loss
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
# If workers waited for the store, nearly all work would stop. So a short measurement may allow a large loss.
is_long && usual=(3 2 10) || usual=(1 1 50)
seconds=${1:-${usual[0]}} turns=${2:-${usual[1]}} percent=${3:-${usual[2]}}
trap 'stop_servers; leave' EXIT
export NAPS_HASTE=$work/haste NAPS_LOG=$work/leaves

stands () { "$satin" inspect "$1" >/dev/null 2>&1; }
# The leaves that remain after the measurement only append to a file, but a million of them take seconds of processor time.
is_long || [ $# -gt 0 ] && depth=20 || depth=18
# leaves: the number of finished leaves. ticks: the processor time of all nodes, in clock ticks.
leaves () { stat -c %s "$NAPS_LOG"; }
ticks () { cat $(printf '/proc/%s/stat ' "${nodes[@]}") | sed 's/.*) //' | awk '{ n += $12 + $13 } END { print n }'; }

window () { # NAME: adds to NAME_leaves and NAME_ticks
  local leaves_before ticks_before
  leaves_before=$(leaves) ticks_before=$(ticks)
  sleep "$seconds"
  printf -v "$1_leaves" %s $(($1_leaves + $(leaves) - leaves_before))
  printf -v "$1_ticks" %s $(($1_ticks + $(ticks) - ticks_before))
}

measure () { # NAME
  local name=$1 file=$uri/stopped.db on_leaves=0 on_ticks=0 off_leaves=0 off_ticks=0 turn nodes per_mille
  : >"$NAPS_LOG"
  rm -f "$NAPS_HASTE"
  begin "$satin" run -n 2 --workers 1 --name stopped --interval 0.2 --checkpoint "$file" -- "$SATIN_BIN/../tests/e2e/naps" -1000 $depth
  ok "$name: a run begins" wait_for $((20 * slow)) stands "$file"
  ok "$name: on two nodes" wait_for $((20 * slow)) up stopped 2
  mapfile -t nodes < <(our_nodes)
  sleep 1
  for turn in $(seq "$turns"); do
    window on
    signal_server STOP
    window off
    signal_server CONT
    sleep 0.5
  done
  touch "$NAPS_HASTE"
  per_mille=$((off_leaves * on_ticks * 1000 / (off_ticks * on_leaves)))
  echo "# $name: $((on_leaves * 100 / on_ticks)) jobs each second of a processor with the store, $((off_leaves * 100 / off_ticks)) without: $per_mille per mille"
  ok "$name: … and as many jobs are done with the store stopped" [ $per_mille -ge $((1000 - percent * 10)) ]
  ended
  is "$name: the answer" "$answer" $((1 << depth))
}

if start_sftp "$work/sftp"; then export HOME=$work/sftp/home; measure sftp; else skip sftp "$why"; fi
finish
