#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A site of a real Slurm: munged, slurmctld and two slurmd of this test on this host, with room for one job each. Nodes that
# have to wait in the queue join when their turn comes; when the run ends before that, they leave the queue.
if [ -z "${SATIN_TEST_SPACE-}" ]; then
  for need in munged:munge slurmctld:slurm-wlm slurmd:slurm-wlm srun:slurm-wlm; do
    PATH=$PATH:/usr/sbin command -v "${need%:*}" >/dev/null && continue
    echo "1..0 # SKIP ${need%:*} is not installed (package ${need#*:})"
    exit 0
  done
  if [ "$(id -u)" -ne 0 ] || ! unshare --mount --net --pid --fork --mount-proc ip link set lo up 2>/dev/null; then
    echo "1..0 # SKIP Slurm's daemons need root, and namespaces of their own"
    exit 0
  fi
  SATIN_TEST_SPACE=1 exec unshare --mount --net --pid --fork --mount-proc --kill-child bash "$0"
fi
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin
export TMPDIR=$work/tmp SLURM_CONF=$work/slurm.conf
unset SLURM_JOB_ID
# Slurm takes no host for one that has loopback addresses only.
ip link set lo up && ip address add 10.9.0.1/32 dev lo
mkdir "$TMPDIR"

start_slurm ()
{
  local host i
  host=$(hostname -s)
  mkdir "$work/munge" "$work/state.slurm"
  chmod 755 "$work" && chmod 711 "$work/munge"
  dd if=/dev/urandom bs=128 count=1 of="$work/munge.key" 2>/dev/null
  chmod 400 "$work/munge.key"
  munged --key-file="$work/munge.key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --log-file="$work/munge/log" --seed-file="$work/munge/seed" --force >/dev/null 2>&1 || return
  {
    echo "ClusterName=satin"
    echo "SlurmctldHost=$host(127.0.0.1)"
    echo "SlurmUser=root"
    echo "SlurmctldPort=6817"
    echo "AuthType=auth/munge"
    echo "AuthInfo=socket=$work/munge/socket"
    echo "CredType=cred/munge"
    echo "StateSaveLocation=$work/state.slurm"
    echo "SlurmdSpoolDir=$work/spool.%n"
    echo "SlurmctldPidFile=$work/slurmctld.pid"
    echo "SlurmdPidFile=$work/slurmd.%n.pid"
    echo "SlurmctldLogFile=$work/slurmctld.log"
    echo "SlurmdLogFile=$work/slurmd.%n.log"
    echo "ProctrackType=proctrack/pgid"
    echo "TaskPlugin=task/none"
    echo "SelectType=select/linear"
    echo "SchedulerType=sched/builtin"
    echo "SchedulerParameters=sched_interval=1"
    echo "MpiDefault=none"
    echo "ReturnToService=2"
    for i in 1 2; do
      echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((7000 + i))"
    done
    echo "PartitionName=few Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP"
  } >"$SLURM_CONF"
  slurmctld >/dev/null 2>&1 || return
  for i in 1 2; do
    mkdir "$work/spool.n$i"
    slurmd -N n$i >/dev/null 2>&1 || return
  done
  wait_for 30 eval '[ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]'
}
queued () { [ "$(squeue -h -t "$1" -o %i | wc -l)" -eq "$2" ]; } # STATE NUMBER

if ! start_slurm; then
  tail -n 3 "$work"/slurm*.log 2>/dev/null | sed 's/^/# /'
  echo "1..0 # SKIP Slurm does not run here"
  exit 0
fi
sleeping=("$SATIN_BIN/sleep" 100 --depth)

printf '[site here]\nworkers = 1\nlisten = 127.0.0.1\n[site vu]\nlauncher = slurm\nnodes = 2\nworkers = 1\noptions = --partition=few --job-name=satin-test\n' >"$work/two"
begin "$satin" run --sites "$work/two" --name slurm -- "${sleeping[@]}" 7
ok "a node here and two of Slurm's" wait_for 30 up slurm 3
is "the options are passed" "$(squeue -h -o %j | sort -u)" satin-test
ended
is "the answer" "$code:$answer" "0:leaves 128"
ok "nothing is left in Slurm" wait_for 20 queued pending,running 0

# A stranger's job has the second place for some seconds.
srun --quiet --nodes=1 --ntasks=1 --nodelist=n2 sleep 8 &
ok "another job runs" wait_for 20 queued running 1
begin "$satin" run --sites "$work/two" --name waits -- "${sleeping[@]}" 8
ok "one node begins, the other waits in the queue" wait_for 30 eval 'up waits 2 && queued pending 1'
ok "it joins when its turn comes" wait_for 40 up waits 3
ended
is "the answer of all three" "$code:$answer" "0:leaves 256"
is "no words" "$words" ""

# The run is over before its turn comes.
srun --quiet --nodes=1 --ntasks=1 --nodelist=n2 sleep 300 &
stranger=$!
ok "another job runs for long" wait_for 20 queued running 1
begin "$satin" run --sites "$work/two" --name early -- "${sleeping[@]}" 6
ok "the other node waits" wait_for 30 eval 'up early 2 && queued pending 1'
ended
is "the answer without it" "$code:$answer" "0:leaves 64"
ok "it has left the queue" wait_for 20 queued pending 0
ok "only the stranger is left" wait_for 20 queued running 1
# Several tasks of one srun are one run, be the program started by `satin run` or by itself.
kill "$stranger"; wait "$stranger" 2>/dev/null
ok "Slurm is free" wait_for 20 queued running 0
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
