#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The matrix of faults: real processes on five hosts (namespaces) with a wide-area network between them, and faults of
# processes, links, disks, clocks and stores. Each row states what the user must see. A row that another test covers in more
# detail runs that test. Usage: chaos.sh [ROW…]; `make chaos ROWS='2 9'`. SECONDS_LONG: the length of the rows that wait and
# expect that nothing happens (default 60).
. "$(dirname "$0")/netns.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
trap 'stop_servers; leave' EXIT
here=$(dirname "$0")
long=${SECONDS_LONG:-60}
chosen=" $* "
program=$SATIN_BIN/sleep
holder=$SATIN_BIN/../tests/e2e/held
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# ---- the sites: one node on host 1, where the launcher is; two on each other host; host 3 by ssh ----

make_sites ()
{
  local i
  wan_begin 5 || return
  wan "delay * * 10 2" || return
  printf '[site one]\nnodes = 1\nworkers = 1\nlisten = 10.9.1.1\n' >"$work/sites"
  SERVE_ON=10.9.3.1 SERVE_BY="nsenter --net=/run/netns/s3 --" start_sftp "$work/ssh" || echo "# host 3 without ssh: $why"
  for i in 2 3 4 5; do
    printf '[site host%d]\nhosts = h%d:2\nworkers = 1\n' "$i" "$i"
    if [ "$i" -eq 3 ] && [ -n "${uri-}" ]; then
      printf 'launcher = ssh\noptions = -F %s\nsetup = TMPDIR=%s; export TMPDIR\n' "$work/ssh.conf" "$work/host3"
    else
      printf 'command = %s\n' "$(away "$i")"
    fi
  done >>"$work/sites"
  cat >"$work/ssh.conf" <<END
Host h3
  HostName 10.9.3.1
  Port $(sed -n 's/^Port //p' "$work/ssh/config" 2>/dev/null)
  IdentityFile $work/ssh/home/.ssh/id_ed25519
  UserKnownHostsFile $work/ssh/home/.ssh/known_hosts
END
  store=${uri-}
}

# start RUN MS DEPTH: nine nodes run 2^DEPTH leaves that sleep for MS milliseconds each.
start ()
{
  wanted="0:leaves $((1 << $3))"
  begin_on_sites "$1" "$program" "$2" --depth "$3"
}
# start_held RUN MS: the same with 2^15 leaves, which end at once after let_go. For rows that wait for an event: the run must
# not end before it. With MS = 100 nine nodes take six minutes.
start_held ()
{
  hold
  wanted="0:32768"
  begin_on_sites "$1" "$holder" "$work/go" 15 "$2"
}
begin_on_sites () # RUN PROGRAM ARG…
{
  local run=$1
  shift
  file=$work/$run.satin
  begin "$satin" run --sites "${sites:-$work/sites}" --name "$run" --checkpoint "$file" --interval 1 \
    --stats "$work/$run.stats" -- "$@"
  ok "$run: ${nodes:-nine} nodes are up" wait_for 30 up "$run" "${nodes:-9}"
}
answered ()
{
  let_go
  ended_within 240
  is "$1: the answer, once" "$code:$answer" "$wanted"
}
ended_within ()
{
  wait_for "$1" gone "$begun" || kill -9 "$begun" 2>/dev/null
  ended
}
on () { nodes_on "$1" "$program"; nodes_on "$1" "$holder"; }
one_on () { on "$1" | head -n 1; }
figure () { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" "$work/$2.stats"; }
# The number of nodes that were believed dead, from the checkpoint's ledger; so it is known only at the end.
deaths () { sqlite3 "$file" "SELECT count (*) FROM event WHERE kind = 'left' AND detail = 'gone'"; }
pids_of () { nodes_of "$1" | awk '{ print $1 }'; }
lists () { pids_of "$1" | grep -qx "$2"; }
unlisted () { [ -n "$(pids_of "$1")" ] && ! lists "$1" "$2"; }
few () # RUN NUMBER: the run goes on with at most NUMBER nodes
{
  local n
  n=$(pids_of "$1" | wc -l)
  [ "$n" -gt 0 ] && [ "$n" -le "$2" ]
}
coordinator_of () { nodes_of "$1" | awk '/"coordinator"/ { print $1; exit }'; }
another_master () { local now; now=$(master_of "$1"); [ -n "$now" ] && [ "$now" != "$2" ]; }

# within NAME LIMIT COMMAND…: the command succeeds within LIMIT seconds; prints after how many milliseconds.
within ()
{
  local name=$1 limit=$2 before
  shift 2
  before=$(date +%s%N)
  wait_for $((limit + 5)) "$@"
  before=$((($(date +%s%N) - before) / 1000000))
  echo "# $name: after $before ms"
  gone "$begun" && echo "# the run is over"
  ok "$name within $limit s" [ "$before" -le $((limit * 1000)) ]
}

# walked NAME SCRIPT [ARG…]: runs another end-to-end test, which covers this row.
walked ()
{
  local name=$1 script=$2 counts
  shift 2
  timeout 600 bash "$here/$script" "$@" >"$work/walked" 2>&1
  counts=$(grep -c '^ok' "$work/walked")
  if grep -q '^1\.\.0 # SKIP' "$work/walked"; then
    skip "$name" "$script: $(sed 's/.*SKIP //' "$work/walked")"
    return
  fi
  ok "$name ($script, $counts checks)" eval '[ "$counts" -gt 0 ] && grep -q "^1\.\." "$work/walked" && ! grep -q "^not ok" "$work/walked"'
  grep -A 5 '^not ok' "$work/walked" | sed 's/^/# /'
}
unit () # NAME PROGRAM
{
  local test=$SATIN_BIN/../tests/unit/$2
  [ -x "$test" ] || { skip "$1" "$2 is not built (make check does it)"; return; }
  (cd "$SATIN_BIN/.." && timeout 300 "tests/unit/$2" >"$work/walked" 2>&1)
  is "$1 ($2)" $? 0
}
# The simulator covers this row at every event: make sim.
simulated () { skip "$1" "the simulator covers it: make check, make sim"; }

# ---- the rows ----

row_1 () # kill -9 of a worker
{
  start_held worker 100
  local victim
  victim=$(one_on 4)
  kill -9 "$victim"
  within "1: a killed node leaves the roster" 3 unlisted worker "$victim"
  answered "1: kill -9 of a node"
  is "1: one message reports it" "$(grep -c 'died (signal 9)\|ended' <<<"$words")" 1
  is "1: one death is counted" "$(figure crashes worker)" 1
}

row_2 () # kill -9 of the master
{
  start_held master 100
  local first
  first=$(master_of master)
  kill -9 "$first"
  within "2: another master" 3 another_master master "$first"
  answered "2: kill -9 of the master"
}

row_3 () # kill -9 of the coordinator
{
  start_held scribe 100
  ok "3: rows are saved" wait_for 20 has_rows "$work/scribe.satin"
  kill -9 "$(coordinator_of scribe)"
  ok "3: the file is whole" integrity "$work/scribe.satin"
  ok "3: another coordinator saves more" wait_for 20 has_rows "$work/scribe.satin" $(($(rows "$work/scribe.satin") + 1))
  answered "3: kill -9 of the coordinator"
  walked "3: at each step of a write" crash.sh
}

row_4 () # a whole site
{
  start site 100 9
  # shellcheck disable=SC2046
  kill -9 $(on 4) $(on 5)
  answered "4: two sites die"
}

row_5 () # everything
{
  start_held all 100
  ok "5: rows are saved" wait_for 20 has_rows "$work/all.satin" 20
  # shellcheck disable=SC2046
  kill -9 $(pids_of all) "$begun"
  ended
  let_go
  try timeout 60 "$satin" resume "$work/all.satin" -n 3 -w 2 --stats "$work/all.stats"
  is "5: all are killed; resumed on three nodes of one host" "$code:$answer" "$wanted"
  ok "5: what was saved was used" [ "$(figure jobs_reused all)" -gt 0 ]
}

row_6 () # suspend
{
  start_held pause 100
  ok "6: rows are saved" wait_for 20 has_rows "$work/pause.satin" 5
  try timeout 60 "$satin" suspend pause
  ended_within 60
  is "6: suspended" "$code" 75
  let_go
  try timeout 60 "$satin" resume "$work/pause.satin" -n 2 -w 4 --stats "$work/pause.stats"
  is "6: resumed on two nodes" "$code:$answer" "$wanted"
  walked "6: by signals, on other numbers of nodes" suspend.sh
}

row_7 () # SIGSTOP
{
  start_held stop 200
  local victim
  victim=$(one_on 2)
  kill -STOP "$victim"
  sleep 5
  kill -CONT "$victim"
  sleep 3
  ok "7: a node that was stopped for 5 s is still a member" lists stop "$victim"
  kill -STOP "$victim"
  within "7: a node that is stopped for longer is evicted" 30 unlisted stop "$victim"
  kill -CONT "$victim"
  within "7: and joins again when it continues" 30 lists stop "$victim"
  kill -STOP "$(one_on 4)"
  answered "7: a node stays stopped to the end"
  # shellcheck disable=SC2046
  kill -9 $(on 4) 2>/dev/null
}

row_8 () # a slow node
{
  sed -n '1,/^listen/p; /host2/,/^command/p' "$work/sites" >"$work/few"
  sites=$work/few nodes=3 start slow 200 8
  local victim wall before=$SECONDS
  victim=$(one_on 2)
  while ! gone "$begun" && [ $((SECONDS - before)) -lt 120 ]; do
    kill -STOP "$victim"
    sleep 0.95
    kill -CONT "$victim"
    sleep 0.05
  done
  answered "8: a node that runs a twentieth of the time"
  wall=$(figure wall_s slow)
  echo "# wall $wall s; two nodes alone take $((256 / 2 * 200 / 1000)) s, a leaf of the slow one up to 4 s"
  ok "8: the slow node delays the run by at most one of its jobs" awk -v w="$wall" 'BEGIN { exit !(w < 256 / 2 * 0.2 + 4 + 3) }'
}

row_9 () # splits
{
  start_held split 200
  wan "cut 4 1" "cut 1 4" "cut 4 2" "cut 2 4" "cut 4 3" "cut 3 4" "cut 5 1" "cut 1 5" "cut 5 2" "cut 2 5" "cut 5 3" "cut 3 5"
  sleep 8
  wan "join * *"
  sleep 4
  is "9: a split of 8 s costs no node" "$(pids_of split | sort | uniq | wc -l)" 9
  wan "cut 4 1" "cut 1 4" "cut 4 2" "cut 2 4" "cut 4 3" "cut 3 4" "cut 5 1" "cut 1 5" "cut 5 2" "cut 2 5" "cut 5 3" "cut 3 5"
  within "9: in a lasting split each side goes on alone" 40 few split 5
  sleep 5
  wan "join * *"
  within "9: and the sides merge again" 60 up split 9
  wan "cut 2 *"
  within "9: a host that can receive but not send is evicted" 40 few split 7
  wan "join 2 *"
  within "9: and joins again" 60 up split 9
  answered "9: one answer in spite of splits"
}

row_10 () # bad lines
{
  wan "delay * * 150" "loss * * 2"
  start lossy 200 $((long > 300 ? 14 : 12))
  sleep "$long"
  is "10: $long s with 2 % loss and 300 ms round trip: no node is believed dead" "$(deaths)" 0
  wan "delay * * 10 2" "loss * * 0"
  answered "10: 2 % of loss"
  is "10: no node was believed dead to the end" "$(deaths)" 0
  start worse 100 9
  wan "loss * * 20"
  sleep 15
  wan "loss * * 0"
  answered "10: 20 % of loss"
  wan "rate * * 1000" "queue * * 64"
  start narrow 100 9
  answered "10: 1 Mbit/s"
  wan "rate * * 0"
}

row_11 () # half-open connections
{
  start_held half 200
  local victim
  victim=$(one_on 5)
  wan_cut 5
  within "11: a silent node is evicted" 30 unlisted half "$victim"
  answered "11: half-open connections"
  wan_join 5
}

row_12 () # connections that break
{
  at 4 ss --help 2>&1 | grep -q -- --kill || { skip "12" "ss cannot close sockets"; return; }
  start_held reset 100
  local i before
  before=$(at 4 ss -Htn | wc -l)
  for i in 1 2 3 4 5 6; do
    at 4 ss -HtnK dst 10.9.0.0/16 >/dev/null 2>&1
    sleep 0.7
  done
  [ "$before" -gt 0 ] && ok "12: there were connections" true
  answered "12: all connections of a host break, six times"
  simulated "12: at every byte of every frame"
}

row_13 () { walked "13: a full disk" full.sh; }

row_14 () # a disk with errors
{
  unit "14: the n-th read, write, sync and allocation fails" test-torture
  command -v fiu-run >/dev/null || { skip "14: a bad disk in a run" "fiu-run is not installed (package fiu-utils)"; return; }
  local setup
  setup="LD_PRELOAD='$(fiu-run -x -c 'enable name=satin/none' env | sed -n 's/^LD_PRELOAD=//p')'; FIU_ENABLE='enable_random name=posix/io/rw/pwrite*,probability=0.2';"
  printf '[site bad]\nhosts = h2\nworkers = 1\ncommand = %s\nsetup = %s export LD_PRELOAD FIU_ENABLE\n' "$(away 2)" "$setup" >"$work/bad"
  printf '[site good]\nhosts = h4:2\nworkers = 1\ncommand = %s\n' "$(away 4)" >>"$work/bad"
  sites=$work/bad nodes=2 start eio 200 8
  answered "14: the first coordinator's disk has errors"
  ok "14: the file is whole" integrity "$file"
}

row_15 () # the store goes away and comes back
{
  [ -n "$store" ] || { skip "15" "no sshd"; return; }
  export HOME=$work/ssh/home
  file=$work/ssh/files/far.satin wanted="0:32768"
  hold
  begin "$satin" run -n 3 -w 1 --name far --checkpoint "$store/far.satin" --interval 1 -- "$holder" "$work/go" 15 200
  ok "15: rows stand at the store" wait_for 60 has_rows "$file"
  wan_cut 3
  ok "15: the launcher reports that the store is away" wait_for 60 grep -q "^satin: checkpoint 'sftp" "$work/begun.words"
  wan_join 3
  answered "15: the store was away"
  ok "15: the file at the store is whole at the end" integrity "$file"
  walked "15: stores that are down, hang, refuse" uri.sh
}
row_16 () { walked "16: refused at the start, without a password in the words" uri.sh; }
row_17 () { unit "17: damaged files" test-salvage; unit "17: files made to do harm" test-hostile; }
row_18 () { unit "18: files that are cut off" test-storage; }
row_19 () { walked "19 and 20: foreign files and future versions stay untouched" refuse.sh; }
row_20 () { row_19; }

row_21 () # clocks
{
  local library
  library=$(find /usr/lib -name libfaketime.so.1 2>/dev/null | head -n 1)
  [ -n "$library" ] || { skip "21" "libfaketime is not installed (package faketime)"; return; }
  echo "+0" >"$work/clock"
  sed "/host2/,/^command/s|^command.*|&\nsetup = LD_PRELOAD=$library; FAKETIME=+1y; FAKETIME_DONT_FAKE_MONOTONIC=1; export LD_PRELOAD FAKETIME FAKETIME_DONT_FAKE_MONOTONIC|
       /host4/,/^command/s|^command.*|&\nsetup = LD_PRELOAD=$library; FAKETIME_TIMESTAMP_FILE=$work/clock; FAKETIME_NO_CACHE=1; FAKETIME_DONT_FAKE_MONOTONIC=1; export LD_PRELOAD FAKETIME_TIMESTAMP_FILE FAKETIME_NO_CACHE FAKETIME_DONT_FAKE_MONOTONIC|" \
    "$work/sites" >"$work/clocks"
  sites=$work/clocks start_held clock 100
  local jump
  for jump in +1h -1h +1y -1y; do
    echo "$jump" >"$work/clock"
    sleep 1
  done
  answered "21: clocks a year ahead, and clocks that jump"
  is "21: no node was believed dead" "$(deaths)" 0
}

memory_group () { echo "/sys/fs/cgroup/memory/satin-chaos-$$"; }
row_22 () # out of memory
{
  local group victim
  group=$(memory_group)
  if ! mkdir "$group" 2>/dev/null; then
    skip "22" "no memory cgroup can be made here"
    return
  fi
  start_held memory 100
  victim=$(one_on 4)
  echo "$victim" >"$group/cgroup.procs"
  echo 1000 >"/proc/$victim/oom_score_adj"
  echo $((40 << 20)) >"$group/memory.limit_in_bytes"
  # Another process in the same group uses all its memory. The kernel then kills the node, whose oom_score_adj is higher.
  (echo -1000 >/proc/self/oom_score_adj; echo 0 >"$group/cgroup.procs"
   exec timeout 20 head -c 60m /dev/zero) 2>/dev/null | (echo 0 >"$group/cgroup.procs"; exec timeout 20 tail -n 1) >/dev/null 2>&1 &
  within "22: the kernel kills a node for its memory" 20 gone "$victim"
  answered "22: out of memory"
  wait_for 25 rmdir "$group" 2>/dev/null
}

row_23 () # no more descriptors
{
  local victim
  start_held files 200
  victim=$(one_on 2)
  prlimit --pid "$victim" --nofile=$(($(ls "/proc/$victim/fd" | wc -l) + 1))
  # The victim cannot accept connections of the nodes that join now.
  sed -n '/host5/,$p' "$work/sites" >"$work/more"
  timeout 200 "$satin" add files --sites "$work/more" >"$work/added" 2>&1 &
  ok "23: other nodes join all the same" wait_for 30 up files 11
  ok "23: the node without descriptors goes on" lists files "$victim"
  ok "23: and does not spin" idle "$victim"
  answered "23: no descriptors"
}
idle () # PID: it uses less than a fifth of a processor for two seconds
{
  local before after
  before=$(awk '{ print $14 + $15 }' "/proc/$1/stat")
  sleep 2
  after=$(awk '{ print $14 + $15 }' "/proc/$1/stat")
  [ $((after - before)) -lt 40 ]
}

row_24 () # two runs at one checkpoint
{
  start_held owner 100
  ok "24: rows are saved" wait_for 20 has_rows "$work/owner.satin"
  try timeout 60 "$satin" run -n 1 --checkpoint "$work/owner.satin" -- "$holder" "$work/go" 15 100
  is "24: another run is refused" "$code" 5
  answered "24: the first goes on"
}

row_25 () # strangers
{
  local address port i
  start_held strange 100
  address=$(sed -n 's/^tcp://p' "$runs"/strange/node-*.address | grep '^10.9.4.1' | head -n 1)
  port=${address##*:}
  for ((i = 0; i < 1000; i++)); do
    timeout 2 bash -c "exec 3<>/dev/tcp/10.9.4.1/$port; head -c 300 /dev/urandom >&3" 2>/dev/null &
    [ $((i % 25)) -eq 24 ] && sleep 0.2
  done
  answered "25: a thousand strangers at a port"
  is "25: no node was believed dead" "$(deaths)" 0
  walked "25 and 26: garbage, half a greeting, wrong or no credential" garbage.sh
}
row_26 () { row_25; }
row_27 () { [ -x "$here/poison.sh" ] && walked "27: a job that crashes" poison.sh || skip "27" "no test of jobs that crash"; }
row_28 () { walked "28: the output and the resources of main and jobs" solo.sh; }
row_29 () { walked "29: jobs that break the laws" laws.sh; }

row_30 () # around the end
{
  local i
  sed "/host5/,\$s|^command.*|command = sh -c 'sleep 15; exec \"\$@\"' - $(away 5)|" "$work/sites" >"$work/late"
  sites=$work/late nodes=7 start late 100 8
  answered "30: a host that comes after the end"
  for i in 1 2 3; do
    start "end$i" 100 8
    local victim
    victim=$(one_on 2)
    wait_for 30 test -e "$runs/end$i/end"
    # shellcheck disable=SC2086
    kill -9 $victim 2>/dev/null
    answered "30: a node dies when the run has ended"
  done
}

row_31 () { unit "31: large checkpoints at stores" test-delta; unit "31: their files" test-delta-files; }
row_32 () { unit "32: greetings of other versions" test-wire; }

ok "five hosts" make_sites || finish
for ((row = 1; row <= 32; row++)); do
  [ "$chosen" = "  " ] || [[ $chosen == *" $row "* ]] || continue
  # These rows run the same test as another row.
  [ "$chosen" = "  " ] && [[ $row == 20 || $row == 26 || $row == 16 ]] && continue
  echo "# row $row: $(declare -f "row_$row" | sed -n '1s/ .*//p')"
  began=$SECONDS
  "row_$row"
  echo "# row $row took $((SECONDS - began)) s"
  wan "delay * * 10 2" "loss * * 0" "rate * * 0" "join * *" "open * *"
  # shellcheck disable=SC2046
  kill -9 $(jobs -p | grep -vx "${server_pids[0]:-0}") 2>/dev/null
  for host in 2 3 4 5; do
    # shellcheck disable=SC2046
    kill -9 $(on $host) 2>/dev/null
  done
  rm -rf "${runs:?}"/*
done
echo "# $count checks, $failures failed"
finish
