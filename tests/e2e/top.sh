#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin top`: in a terminal of 80 x 24 (tmux), with its keys; and with an output that is no terminal.
. "$(dirname "$0")/lib.sh"
choose_heavy
export LC_ALL=C.UTF-8

try "$satin" top
is "without a run there is nothing to show" "$code" 1
begin "$satin" run -n 2 -w 1 --name shown --checkpoint "$work/c.db" -- "${heavy[@]}"
ok "a run on two nodes" wait_for $((20 * slow)) up shown 2

try "$satin" top shown
is "without a terminal one picture is printed" "$code" 0
is "… and the message says so" "$words" "satin: the output is no terminal: this is one picture of run 'shown'"
ok "… with the run" grep -q '^satin top: run shown, ' <<<"$answer"
ok "… with the share done" grep -qE '^\[[#.]{24}\] [0-9.]+ % done' <<<"$answer"
ok "… with both risks" grep -qE '^at risk: .* if one node dies, .* if all do; lost: ' <<<"$answer"
is "… with both nodes" "$(grep -cE '^1\.[12] +local +up +[01]/1 ' <<<"$answer")" 2
ok "… with a running job" grep -qE '^1\.[12] +(running|waiting) .* held \(' <<<"$answer"
ok "… without colour" sh -c "! grep -q '$(printf '\033')' '$work/answer'"
try "$satin" top
is "the only run need not be named" "$code" 0

if ! command -v tmux >/dev/null 2>&1; then
  skip "in a terminal" "there is no tmux"
else
  mux () { tmux -u -L "satin-$$" -f /dev/null "$@"; }
  trap 'mux kill-server 2>/dev/null; leave' EXIT
  screen () { mux capture-pane -p -t top "$@"; }
  shows () { screen | grep -qE -- "$1"; }
  start () { # ENVIRONMENT…
    rm -f "$work/code"
    mux new-session -d -s top -x 80 -y 24 "env $* $(printf '%q' "$satin") top shown; echo \$? >$work/code; sleep 1000"
  }
  mux new-session -d -s stays "sleep 1000" # keeps the tmux server: one that is about to end refuses a new session
  start TERM=screen
  ok "it draws" wait_for $((20 * slow)) shows '^satin top: run shown, '
  ok "… both nodes" wait_for $((20 * slow)) shows '^1\.2 +local +up '
  ok "… the CPU when there were two samples" wait_for $((20 * slow)) shows '^1\.2 +local +up +[01]/1 +[0-9]+% '
  ok "… and jobs a second" wait_for $((20 * slow)) shows '^1\.2 +local +up +[01]/1 +[0-9]+% +[0-9][0-9.e+]* '
  ok "… the role of a node has room" shows ' ROLE$'
  ok "… the keys at the end" shows '^q quit  s sort \(node\)'
  ok "… in colour" sh -c "tmux -L satin-$$ capture-pane -e -p -t top | grep -q '$(printf '\033')\\[1m'"
  mux send-keys -t top f
  ok "f folds the site" wait_for $((20 * slow)) shows '^2 +local +up '
  mux send-keys -t top f s
  ok "s sorts" wait_for $((20 * slow)) shows 's sort \(cpu\)'
  still=$(other_of shown)
  kill -STOP "$still"
  ok "a stopped node is silent" wait_for $((30 * slow)) shows '^1\.2 +local +silent '
  ok "… which is an event" shows 'node 1\.2 does not answer'
  kill -CONT "$still"
  ok "… and is shown again" wait_for $((30 * slow)) shows 'node 1\.2 answers again'
  mux send-keys -t top q
  ok "q leaves" wait_for $((20 * slow)) test -s "$work/code"
  is "… with 0" "$(cat "$work/code")" 0
  ok "… and gives the terminal back" sh -c "! tmux -L satin-$$ capture-pane -p -t top | grep -q 'satin top'"
  mux kill-session -t top

  start TERM=screen NO_COLOR=1
  ok "with NO_COLOR it draws" wait_for $((20 * slow)) shows '^satin top: run shown, '
  ok "… without colour" sh -c "! tmux -L satin-$$ capture-pane -e -p -t top | grep -q '$(printf '\033')\\[1m'"
  mux resize-window -t top -x 40 -y 10
  ok "it follows the size of the window" wait_for $((20 * slow)) shows '^satin top: run shown, .*…$'
  try_freed "$satin" wait shown
  ok "it ends with the run" wait_for $((20 * slow)) test -s "$work/code"
  is "… with 0" "$(cat "$work/code")" 0
fi
finished
is "the answer" "$answer" "$heavy_answer"
finish
