#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make scale: measures what grows with the number of nodes, in real runs on this machine and in simulated ones, and compares it
# with the bounds. See tests/bench/README.
#   SCALE_BUILD   the build folder with bin/ and tests/sim/
#   SIZES         numbers of real nodes
#   SIM_SIZES     numbers of simulated nodes
set -u
: "${SCALE_BUILD:?}"
SIZES=${SIZES-64 256} SIM_SIZES=${SIM_SIZES-64 256}
satin=$SCALE_BUILD/bin/satin sleep=$SCALE_BUILD/bin/sleep sim=$SCALE_BUILD/tests/sim/sim-scale
limit_s=900    # the longest that one run may take
nodes_max=1024 # the protocol's MESSAGE_MEMBERS_MAX
sim_each=256   # leaves of 10 ms for each simulated node
own_fds=64     # a node's descriptors besides its links, at most
own_kib=16384  # a node's own memory, at least
work=$(mktemp -d "${TMPDIR:-/tmp}/satin-scale-XXXXXX")
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
TIMEFORMAT='%R %U %S'
ulimit -n "$(ulimit -Hn)" 2>/dev/null
: >"$work/figures" >"$work/bad"

for size in $SIZES $SIM_SIZES; do
  case $size in
    '' | *[!0-9]* | 0 | 1) echo "scale: SIZES and SIM_SIZES are numbers from 2 on, not '$size'" >&2; exit 2 ;;
  esac
done

# figure SIZE NAME VALUE
figure () { echo "$*" >>"$work/figures"; }
bad ()
{
  echo "scale: $1" >&2
  echo "$1" >>"$work/bad"
}

# Prints why this machine cannot run so many nodes; nothing if it can.
obstacle () # NODES
{
  local n=$1 most free
  [ "$n" -gt $nodes_max ] && echo "a run has $nodes_max nodes at most" && return
  most=$(ulimit -n)
  [ "$most" != unlimited ] && [ "$most" -lt $((n + own_fds)) ] \
    && echo "a process may have $most open files, and a node with $((n - 1)) links needs $((n + own_fds))" && return
  most=$(cat /proc/sys/fs/file-max)
  [ ${#most} -lt 10 ] && [ "$most" -lt $((n * (n + own_fds))) ] \
    && echo "the system may have $most open files, and $n nodes need $((n * (n + own_fds)))" && return
  most=$(ulimit -u)
  [ "$most" != unlimited ] && [ "$most" -lt $((n * 5)) ] \
    && echo "a user may have $most threads, and $n nodes need $((n * 5))" && return
  most=$(cat /proc/sys/kernel/pid_max)
  [ "$most" -lt $((n * 5)) ] && echo "the system may have $most threads, and $n nodes need $((n * 5))" && return
  free=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
  [ "$free" -lt $((n * own_kib)) ] \
    && echo "$((free / 1024)) MiB of memory are free, and $n nodes need $((n * own_kib / 1024)) MiB"
}

# Leaves sleep, so they need no core: a tree of 2^depth leaves. As in the bounds: 64 leaves of 100 ms for each node, and from
# 257 nodes on about 8 of 1 s.
plan_of () # NODES
{
  local n=$1 each=64 depth=0 leaves=1
  leaf_ms=${LEAF:-100}
  [ "$n" -gt 256 ] && each=8 && leaf_ms=${LEAF:-1000}
  while [ $leaves -lt $((n * each)) ]; do
    leaves=$((leaves * 2)) depth=$((depth + 1))
  done
  command=("$sleep" "$leaf_ms" --depth "$depth")
  answer="leaves $leaves"
  ideal_s=$(awk "BEGIN { printf \"%.3f\", $leaves * $leaf_ms / 1000 / $n }")
}

now () { date +%s.%N; }
addresses () { compgen -G "$XDG_STATE_HOME/satin/runs/$1/node-*.address"; }

# Records the memory (PSS), descriptors and sockets of a node, as means over all living nodes.
look () # SIZE PIDS…
{
  local size=$1 pid key value rest n=0 pss=0 fds=0 most=0 sockets folders=()
  shift
  for pid; do
    folders+=("/proc/$pid/fd")
    local all=(/proc/"$pid"/fd/*)
    [ -e "${all[0]}" ] || [ -L "${all[0]}" ] || continue
    n=$((n + 1)) fds=$((fds + ${#all[@]}))
    [ ${#all[@]} -gt $most ] && most=${#all[@]}
    while read -r key value rest; do
      [ "$key" = Pss: ] && pss=$((pss + value))
    done 2>/dev/null <"/proc/$pid/smaps_rollup"
  done
  [ $n -gt 0 ] || return
  sockets=$(find "${folders[@]}" -lname 'socket:*' 2>/dev/null | wc -l)
  figure "$size" pss_mib "$(awk "BEGIN { printf \"%.1f\", $pss / 1024 / $n }")"
  figure "$size" fds "$(awk "BEGIN { printf \"%.0f\", $fds / $n }")"
  figure "$size" fds_all $fds
  figure "$size" fds_most $most
  figure "$size" sockets "$(awk "BEGIN { printf \"%.1f\", $sockets / $n }")"
}

# Makes one run; with `crash` one node is killed in the middle. FALSE if the run failed.
run () # SIZE crash|calm
{
  local size=$1 kind=$2 name=scale-$$-$1-$2 start pids n=0 prefix=
  [ "$kind" = crash ] && prefix=crash_
  start=$(now)
  { time timeout -k 10 $limit_s "$satin" run -n "$size" -w 1 --name "$name" --stats "$work/stats" -- "${command[@]}" \
    >"$work/out" 2>"$work/err"; } 2>"$work/time" &
  local job=$!
  while kill -0 $job 2>/dev/null; do
    mapfile -t pids < <(addresses "$name" | sed 's/.*node-//; s/\.address//')
    n=${#pids[@]}
    [ "$n" -ge "$size" ] && break
    sleep 0.2
  done
  if [ "$n" -ge "$size" ]; then
    figure "$size" "${prefix}joined_s" "$(awk "BEGIN { printf \"%.2f\", $(now) - $start }")"
    [ "$kind" = calm ] && look "$size" "${pids[@]}"
    if [ "$kind" = crash ]; then
      sleep "$(awk "BEGIN { print $ideal_s / 2 }")"
      kill -9 "$(victim "$name" "${pids[@]}")" 2>/dev/null
    fi
  fi
  wait $job
  if [ "$(cat "$work/out")" != "$answer" ]; then
    bad "$size nodes ($kind): no answer: $(tail -n 1 "$work/err")"
    return 1
  fi
  [ "$n" -ge "$size" ] || bad "$size nodes ($kind): the run was over before all had joined"
  read -r wall user system <"$work/time"
  figure "$size" "${prefix}wall_s" "$wall"
  figure "$size" "${prefix}cpu_s" "$(awk "BEGIN { printf \"%.2f\", $user + $system }")"
  figure "$size" "${prefix}run_s" "$(sed 's/.*"wall_s": *\([0-9.]*\).*/\1/' "$work/stats")"
}

# Prints a node that is not the master.
victim () # RUN PIDS…
{
  local name=$1 log pid
  shift
  for pid; do
    log=$XDG_STATE_HOME/satin/runs/$name/node-$pid.log
    grep -qs 'this node is master' "$log" || { echo "$pid"; return; }
  done
}

measure () # SIZE
{
  local size=$1 why
  why=$(obstacle "$size")
  if [ -n "$why" ]; then
    echo "$size nodes cannot be run here: $why."
    return
  fi
  plan_of "$size"
  figure "$size" ideal_s "$ideal_s"
  echo "# $size nodes, ${command[*]##*/}: ideally $ideal_s s" >&2
  run "$size" calm && run "$size" crash
}

simulate () # SIZE
{
  echo "# $1 simulated nodes" >&2
  nice -n 5 "$sim" --scale "$1" --sites 5 --rtt 50 --leaves $(($1 * sim_each)) --kill-one --kill-site --figures \
    >"$work/sim" || bad "$1 simulated nodes"
  sed "s/^/sim-$1 /" "$work/sim" >>"$work/figures"
}

echo "$(uname -m), $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), $(awk '/^MemTotal/ {
  printf "%.0f", $2 / 1048576 }' /proc/meminfo) GiB, Linux $(uname -r), $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
for size in $SIZES; do
  measure "$size"
done
for size in $SIM_SIZES; do
  simulate "$size"
done
awk -f "$(dirname "$0")/scale.awk" "$work/figures"
[ ! -s "$work/bad" ]
