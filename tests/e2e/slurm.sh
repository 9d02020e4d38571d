#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A site of a real Slurm (slurmctld.sh). Nodes that wait in the queue join when their turn comes. If the run ends before that,
# they leave the queue.
. "$(dirname "$0")/slurmctld.sh"

sleeping=("$SATIN_BIN/sleep" 100 --depth)

printf '[site here]\nworkers = 1\nlisten = 127.0.0.1\n[site vu]\nlauncher = slurm\nnodes = 2\nworkers = 1\noptions = --partition=few --job-name=satin-test\n' >"$work/two"
begin "$satin" run --sites "$work/two" --name slurm -- "${sleeping[@]}" 7
ok "a node here and two of Slurm's" wait_for 30 up slurm 3
is "the options are passed" "$(squeue -h -o %j | sort -u)" satin-test
ended
is "the answer" "$code:$answer" "0:leaves 128"
ok "nothing is left in Slurm" wait_for 20 queued pending,running 0

# Another job occupies the second host for some seconds.
srun --quiet --nodes=1 --ntasks=1 --nodelist=n2 sleep 8 &
ok "another job runs" wait_for 20 queued running 1
begin "$satin" run --sites "$work/two" --name waits -- "${sleeping[@]}" 8
ok "one node begins, the other waits in the queue" wait_for 30 eval 'up waits 2 && queued pending 1'
ok "it joins when its turn comes" wait_for 40 up waits 3
ended
is "the answer of all three" "$code:$answer" "0:leaves 256"
is "no messages" "$words" ""

# The run ends before the turn of its node comes.
srun --quiet --nodes=1 --ntasks=1 --nodelist=n2 sleep 300 &
stranger=$!
ok "another job runs for long" wait_for 20 queued running 1
begin "$satin" run --sites "$work/two" --name early -- "${sleeping[@]}" 6
ok "the other node waits" wait_for 30 eval 'up early 2 && queued pending 1'
ended
is "the answer without it" "$code:$answer" "0:leaves 64"
ok "it has left the queue" wait_for 20 queued pending 0
ok "only the other job is left" wait_for 20 queued running 1
# again = yes: Slurm ends the job of a node before the run ends.
kill "$stranger"; wait "$stranger" 2>/dev/null
ok "Slurm is free" wait_for 20 queued running 0
printf '[site here]\nworkers = 1\nlisten = 127.0.0.1\n[site vu]\nlauncher = slurm\nworkers = 1\noptions = --partition=few --time=1\nagain = yes\n' >"$work/again"
job () { squeue -h -t running -o %i | tail -n 1; } # the number of the running job
state_of () { scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p'; }
# The node of the previous job may still be listed when the next job begins.
replaced () # JOB NODE
{
  local now
  now=$(job)
  [ -n "$now" ] && [ "$now" != "$1" ] && up again 2 && [[ $'\n'$(nodes_of again) != *$'\n'"$2 "* ]]
}
choose_heavy
# The launcher's own program file may be removed meanwhile.
cp "$satin" "$work/satin"
begin "$work/satin" run --sites "$work/again" --name again -- "${heavy[@]}"
ok "a node here and one of Slurm's, for one minute" wait_for 30 up again 2
rm "$work/satin"
first=$(job) node=$(other_of again)
scancel "$first"
ok "its job is cancelled: another node starts" wait_for 60 replaced "$first" "$node"
second=$(job) node=$(other_of again)
# Slurm checks time limits twice a minute.
ok "its time is over: another node starts" wait_for 180 replaced "$second" "$node"
is "… since it had reached its limit" "$(state_of "$second")" TIMEOUT
third=$(job)
finished
is "the answer" "$code:$answer" "0:$heavy_answer"
is "… with two nodes started anew" "$(grep -c "^satin: another node starts at site 'vu' in [0-9]* s$" <<<"$words")" 2
is "… in place of two that had handed over their work" "$(grep -c "^satin: node [0-9]* left; 1 goes on$" <<<"$words")" 2
ok "… and no job after the end" wait_for 20 eval 'queued pending,running 0 && [ "$(state_of "$third")" = COMPLETED ]'
printf '%s\n' "$words" | sed 's/^/# /'
# Several tasks of one srun are one run, with `satin run` or with the program alone.
begin srun --quiet --nodes=2 --ntasks=2 "$satin" run -w 1 --name step -- "${sleeping[@]}" 7
ok "srun satin run: two tasks are two nodes" wait_for 30 up step 2
ended
is "srun satin run: one answer" "$code:$answer:$words" "0:leaves 128:"
try srun --quiet --nodes=2 --ntasks=2 "${sleeping[@]}" 5 --workers 1
is "srun PROGRAM: one answer" "$code:$answer:$words" "0:leaves 32:"
try srun --quiet --nodes=2 --ntasks=2 "$satin" run -n 2 -- "${sleeping[@]}" 5
is "srun satin run -n" "$code" 2
ok "no file is left" eval '[ -z "$(ls -d "$XDG_STATE_HOME"/satin/tasks-* 2>/dev/null)" ]'
finish
