#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tasks of mpirun form one run, like those of srun: with Open MPI and MPICH, as far as they are installed. There is one
# answer. The death of a node costs only its work, even if mpirun ends all tasks when one dies.
. "$(dirname "$0")/lib.sh"
launchers=()
for mpirun in mpirun.openmpi mpirun.mpich; do
  command -v $mpirun >/dev/null && launchers+=("$mpirun")
done
if [ ${#launchers[@]} -eq 0 ]; then
  echo "1..0 # SKIP there is no mpirun (packages openmpi-bin, mpich)"
  exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
words_of_satin () { grep '^satin: ' <<<"$words"; }
no_tasks () { [ -z "$(ls -d "$XDG_STATE_HOME"/satin/tasks-* 2>/dev/null)" ]; }
choose_heavy

for mpirun in "${launchers[@]}"; do
  start=("$mpirun") advice=''
  if [ "$mpirun" = mpirun.openmpi ]; then
    start+=(--oversubscribe)
    advice='satin: mpirun ends all tasks when one dies; `mpirun --enable-recovery` prevents that'
  fi
  try "${start[@]}" -n 4 "$satin" run -w 1 -- "$SATIN_BIN/fib" 20
  is "$mpirun satin run: the answer" "$code:$answer" "0:6765"
  is "… the advice comes once, if there is any" "$(words_of_satin)" "$advice"
  try "${start[@]}" -n 3 "$satin" run -w 1 --verify 0.5 --protect buddy -- "$SATIN_BIN/fib" 20
  is "… with options that need two nodes" "$code:$answer" "0:6765"
  try "${start[@]}" -n 3 "$SATIN_BIN/fib" 21 --workers 1
  is "$mpirun PROGRAM: the answer" "$code:$answer" "0:10946"
  if [ "$mpirun" = mpirun.openmpi ]; then
    try "${start[@]}" --enable-recovery -n 2 "$SATIN_BIN/fib" 20
    is "… with --enable-recovery: the answer, and no advice" "$code:$answer:$(words_of_satin)" "0:6765:"
  fi
  try "${start[@]}" -n 2 "$satin" run -n 2 -- "$SATIN_BIN/fib" 20
  is "… -n is refused" "$code" 2

  begin "${start[@]}" -n 3 "$satin" run -w 1 --name one -- "${heavy[@]}"
  ok "… three tasks are three nodes of one run" wait_for $((30 * slow)) up one 3
  kill -9 "$(other_of one)"
  ok "… one is killed, two go on" wait_for $((30 * slow)) eval 'up one 2 && ! up one 3'
  finished
  ok "… the answer comes" [ "$code:$answer" = "0:$heavy_answer" ]

  # The same with the master, which is the node of the first task, whose launcher stays.
  begin "${start[@]}" -n 3 "$satin" run -w 1 --name master -- "${heavy[@]}"
  ok "… three nodes again" wait_for $((30 * slow)) up master 3
  kill -9 "$(master_of master)"
  finished
  is "… the master is killed: the answer" "$code:$answer" "0:$heavy_answer"

  begin "${start[@]}" -n 2 "$satin" run -w 1 --name stops --checkpoint "$work/$mpirun.db" -- "$SATIN_BIN/sleep" 50 --depth 12
  ok "… a long run has rows" wait_for $((30 * slow)) has_rows "$work/$mpirun.db"
  try "$satin" suspend stops
  is "… satin suspend succeeds" "$code" 0
  ended
  is "… its exit code is 75" "$code" 75
  ok "… the checkpoint is whole" integrity "$work/$mpirun.db"
  ok "… nothing is left" wait_for 10 no_tasks
done
finish
