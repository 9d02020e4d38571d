# SPDX-License-Identifier: BSD-3-Clause
# A real Slurm for tests: munged, slurmctld and two slurmd on this host, in namespaces of this test, with room for one job each.
# Sourced by bash in place of lib.sh, which it sources. slurm_config has further lines for slurm.conf. Without Slurm, root or
# namespaces the test is skipped.
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
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin
export TMPDIR=$work/tmp SLURM_CONF=$work/slurm.conf
unset SLURM_JOB_ID
# Slurm needs a host with an address that is not a loopback address.
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
    # A requeued job waits until credentials have expired: by default two minutes.
    echo "AuthInfo=socket=$work/munge/socket,cred_expire=5"
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
    echo "${slurm_config-}"
  } >"$SLURM_CONF"
  slurmctld >/dev/null 2>&1 || return
  for i in 1 2; do
    mkdir "$work/spool.n$i"
    slurmd -N n$i >/dev/null 2>&1 || return
  done
  wait_for 30 eval '[ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]'
}
queued () { local ids; mapfile -t ids < <(squeue -h -t "$1" -o %i); [ ${#ids[@]} -eq "$2" ]; } # STATE NUMBER

if ! start_slurm; then
  tail -n 3 "$work"/slurm*.log 2>/dev/null | sed 's/^/# /'
  echo "1..0 # SKIP Slurm does not run here"
  exit 0
fi
