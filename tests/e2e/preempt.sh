#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A site of a real Slurm with `again = yes` loses its jobs: a job of a better partition preempts one; the host of one is set
# down; one is put back into the queue; a host disappears without a report. One node is the launcher's, one that of `satin add`:
# each of the two replaces its node. Time limits: slurm.sh.
slurm_config='PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmdTimeout=10
KillWait=5
PartitionName=first Nodes=n[1-2] PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP'
. "$(dirname "$0")/slurmctld.sh"

state_of () { scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p'; }
host_of () { squeue -h -j "$1" -o %N 2>/dev/null; }
jobs_of () { squeue -h -p few -t "$1" -o %i | sort -n; } # STATE
newest () { jobs_of running,pending | tail -n 1; }
# is_off NODE: the node of the previous job is not listed any more; it may still be when the next job begins.
is_off () { [[ $'\n'$(nodes_of lost) != *$'\n'"$1 "* ]]; }           # NODE
again_of () { grep -c "^satin: another node starts at site 'vu' in [0-9]* s$" "$1"; } # FILE
is_replaced () { up lost 3 && [ "$(jobs_of running | wc -l)" -eq 2 ] && [ "$(newest)" != "$1" ]; } # NEWEST-BEFORE
node_of () # JOB: prints the process id of its node, which is the process that writes to the job's output
{
  local place pid fd
  place=$(scontrol show job "$1" | sed -n 's/^ *StdOut=\(.*\)\/from$/\1/p')
  for pid in $(nodes_of lost | cut -d' ' -f1); do
    for fd in "/proc/$pid"/fd/*; do
      [ "$(readlink "$fd")" != "$place/from" ] || { echo "$pid"; return; }
    done
  done
}

printf '[site here]\nworkers = 1\nlisten = 127.0.0.1\n[site vu]\nlauncher = slurm\nworkers = 1\noptions = --partition=few\nagain = yes\n' \
  >"$work/sites"
choose_heavy
begin "$satin" run --sites "$work/sites" --name lost --heartbeat 0.5 --silence 3 -- "${heavy[@]}"
ok "a node here and one of Slurm's" wait_for 30 up lost 2
ours=$(newest)
"$satin" add lost --site vu >"$work/adder.answer" 2>"$work/adder.words" &
adder=$!
ok "another node of Slurm's is added" wait_for 30 up lost 3
theirs=$(newest)
ok "two jobs on two hosts" eval '[ "$ours" != "$theirs" ] && [ "$(host_of "$ours")" != "$(host_of "$theirs")" ]'

# A job of a better partition needs the host of the added node.
node=$(node_of "$theirs")
ok "its node is known" [ -n "$node" ]
srun --quiet --partition=first --nodes=1 --ntasks=1 --nodelist="$(host_of "$theirs")" sleep 600 &
better=$!
ok "the added node is preempted" wait_for 60 is_off "$node"
ok "… Slurm agrees" wait_for 30 eval '[ "$(state_of "$theirs")" = PREEMPTED ]'
ok "… another job waits in the queue" wait_for 30 eval '[ -n "$(jobs_of pending)" ]'
is "… started by satin add, not by the launcher" "$(again_of "$work/adder.words"):$(again_of "$work/begun.words")" 1:0
kill "$better"
wait "$better" 2>/dev/null
ok "… its node joins when the other job is gone" wait_for 60 is_replaced "$theirs"
theirs=$(newest)

# The administrator takes a host away.
node=$(node_of "$ours") host=$(host_of "$ours")
ok "the launcher's node is known" [ -n "$node" ]
scontrol update "NodeName=$host" State=DOWN Reason=test
ok "a host is set down: its node is lost" wait_for 60 is_off "$node"
ok "… Slurm agrees" wait_for 30 eval '[ "$(state_of "$ours")" = NODE_FAIL ]'
ok "… the launcher starts another node" wait_for 30 eval '[ "$(again_of "$work/begun.words")" -eq 1 ]'
scontrol update "NodeName=$host" State=RESUME 2>/dev/null # the host may be back already (ReturnToService)
ok "… it joins when the host is back" wait_for 60 is_replaced "$theirs"
ours=$(newest)

# Such a job cannot be put back into the queue: the node that it would start knows nothing of the run.
try scontrol requeue "$ours"
ok "a job cannot be put back into the queue" eval '[ "$code" -ne 0 ] && [ "$(state_of "$ours")" = RUNNING ]'

finished
is "the answer" "$code:$answer" "0:$heavy_answer"
wait "$adder"
is "satin add ends with the run" "$?" 0
is "… and has named two nodes" "$(grep -c "^node [0-9.]* has joined run 'lost' at site 'vu'$" "$work/adder.answer")" 2
is "… and has replaced one node, like the launcher" "$(again_of "$work/adder.words"):$(again_of "$work/begun.words")" 1:1
ok "nothing is left in Slurm" wait_for 20 queued pending,running 0
sed 's/^/# launcher: /' "$work/begun.words"
sed 's/^/# adder: /' "$work/adder.words"

if ! is_long; then
  skip "what takes minutes" "SATIN_LONG is not set (make check-long)"
  finish
  exit
fi

# A power cut: slurmd and all processes that it started are gone without a report.
begin "$satin" run --sites "$work/sites" --name lost --heartbeat 0.5 --silence 3 -- "${heavy[@]}"
ok "a node here and one of Slurm's once more" wait_for 30 up lost 2
ours=$(newest)
node=$(node_of "$ours") host=$(host_of "$ours")
# shellcheck disable=SC2046
tree_of () { local pid; for pid in "$@"; do echo "$pid"; tree_of $(children_of "$pid"); done; }
# shellcheck disable=SC2046
kill -9 $(cat "$work/slurmd.$host.pid") $(tree_of $(said_by "slurmstepd: [$ours."))
ok "a host is gone: its node is lost" eval '[ -n "$node" ] && wait_for 60 is_off "$node"'
ok "… Slurm finds out" wait_for 90 eval '[ "$(state_of "$ours")" = NODE_FAIL ]'
ok "… another node starts on the other host" wait_for 60 eval 'up lost 2 && [ "$(jobs_of running)" -gt "$ours" ]'
ok "… which is a different host" [ "$(host_of "$(newest)")" != "$host" ]
slurmd -N "$host" >/dev/null 2>&1
finished
is "… the answer" "$code:$answer" "0:$heavy_answer"
ok "… the host is back" wait_for 60 eval '[ "$(sinfo -h -p few -t idle -o %D)" = 2 ]'

# A site whose jobs may go back into the queue: the node that starts there again knows nothing of the run, and is replaced.
sed 's/^options = .*/& --requeue/' "$work/sites" >"$work/requeued"
begin "$satin" run --sites "$work/requeued" --name lost --heartbeat 0.5 --silence 3 -- "${heavy[@]}"
ok "a node here and one whose job may go back" wait_for 30 up lost 2
job=$(newest) node=$(node_of "$job")
scontrol requeue "$job"
ok "its job goes back into the queue" wait_for 60 is_off "$node"
ok "… a new one runs in its place" wait_for 120 eval 'up lost 2 && [ "$(jobs_of running)" != "$job" ]'
finished
is "… the answer" "$code:$answer" "0:$heavy_answer"
ok "… nothing is left in Slurm" wait_for 60 queued pending,running 0

# A node waits in the queue for longer than a started node may take to join.
srun --quiet --partition=first --nodes=2 --ntasks=2 sleep 600 &
better=$!
ok "all hosts are busy" wait_for 20 queued running 1
begin "$satin" run -n 1 -w 1 --name lost --listen 127.0.0.1 -- "${heavy[@]}"
ok "a node here" wait_for 30 up lost 1
sed '/^\[site vu/,$!d' "$work/sites" >"$work/vu"
"$satin" add lost --sites "$work/vu" 2>"$work/adder.words" &
adder=$!
ok "the added node waits in the queue" wait_for 30 queued pending 1
sleep 50
ok "… still" queued pending 1
kill "$better"
wait "$better" 2>/dev/null
ok "… and joins when its turn comes" wait_for 60 up lost 2
finished
is "… the answer" "$code:$answer" "0:$heavy_answer"
wait "$adder"
is "… satin add prints no message" "$?:$(cat "$work/adder.words")" "0:"

# All members die while a node of the launcher and one of `satin add` wait in the queue: no node can join, and neither process
# waits for ever.
srun --quiet --partition=first --nodes=2 --ntasks=2 sleep 600 &
better=$!
ok "all hosts are busy again" wait_for 20 queued running 1
begin "$satin" run --sites "$work/sites" --name lost -- "${heavy[@]}"
ok "a node here, one in the queue" wait_for 30 eval 'up lost 1 && queued pending 1'
"$satin" add lost --sites "$work/vu" 2>"$work/adder.words" &
adder=$!
ok "another node in the queue" wait_for 30 queued pending 2
kill -9 "$(master_of lost)"
wait_for 120 gone "$begun"
ended
is "no member is left: the launcher ends" "$code:$(grep -c '^satin: no member of the run is left$' "$work/begun.words")" 1:1
wait "$adder"
is "… satin add ends, too" "$?:$(grep -c '^satin: no member of the run is left$' "$work/adder.words")" 1:1
ok "… their jobs have left the queue" wait_for 30 queued pending 0
kill "$better"
wait "$better" 2>/dev/null
finish
