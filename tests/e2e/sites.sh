#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs over several sites: processes that share only the loopback, a real sshd, a fake srun, a fake Slurm.
. "$(dirname "$0")/lib.sh"
export TMPDIR=$work/tmp
mkdir "$TMPDIR" "$work/far"
# A node that plays another host has another temporary folder and an empty environment.
away=$(bare "$work/far")

# Nodes of other hosts are found by their temporary folder; they do not have the state folder of this test.
kill_far ()
{
  local pids
  pids=$(grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,')
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null
}
trap 'kill_far; leave' EXIT
no_far () { [ -z "$(ls "$work/far")" ]; }
listening () { [ "$(grep -hs '^tcp:' "$runs/$1"/node-*.address | grep -c .)" -eq "$2" ]; }

cat >"$work/two" <<EOF
[site here]
nodes = 2
workers = 1
[site there]
hosts = a b:2
workers = 1
command = $away sh -c
EOF
sed -n '/there/,$p' "$work/two" >"$work/away"
# A host on which no node starts. That is noticed after half a minute, and checked at the end of this script.
printf '[site mute]\nhosts = x\ncommand = sh -c "sleep 900 & wait"\n[site there]\nhosts = y\ncommand = %s sh -c\n' \
  "$(bare "$work/far2")" >"$work/mute"
mkdir "$work/far2"
"$satin" run --sites "$work/mute" --name mute -- "$SATIN_BIN/fib" 25 >"$work/mute.answer" 2>"$work/mute.words" &
mute=$!
choose_heavy
begin "$satin" run --sites "$work/two" --name two -- "${heavy[@]}"
ok "five nodes of two sites are up" wait_for $((20 * slow)) up two 5
ok "all listen at TCP ports" wait_for 5 listening two 5
finished
is "two sites: the answer" "$code:$answer" "0:$heavy_answer"
is "two sites: no messages" "$words" ""
ok "nothing is left on the other hosts" wait_for 10 no_far

try "$satin" run --sites "$work/away" -- "$SATIN_BIN/fib" 25
is "no node on this host: the answer" "$code:$answer" "0:75025"

begin "$satin" run --sites "$work/two" --name left -- "${heavy[@]}"
ok "five nodes are up again" wait_for $((20 * slow)) up left 5
kill -9 "$(master_of left)"
finished
is "the master dies: the answer" "$code:$answer" "0:$heavy_answer"

# The launcher and all nodes on this host are killed. The other site's record of the end is fetched when a command asks for it.
orphaned () # NAME
{
  begin "$satin" run --sites "$work/two" --name "$1" -- "${heavy[@]}"
  ok "$1: five nodes are up" wait_for $((20 * slow)) up "$1" 5
  # shellcheck disable=SC2046
  kill -9 "$begun" $(our_nodes)
  wait "$begun" 2>/dev/null
  ok "$1: three nodes go on" wait_for $((20 * slow)) eval 'up '"$1"' 3 && ! up '"$1"' 4'
}
orphaned waits
try_freed "$satin" wait waits
is "… whose answer is shown by satin wait" "$code:$answer" "0:$heavy_answer"
ok "… and nothing is left on the other hosts" wait_for 10 no_far
ok "… nor on this host" wait_for 10 [ ! -e "$runs/waits" ]
orphaned stops
try "$satin" cancel stops
is "… and can be cancelled" "$code:$words" "0:satin: run 'stops' is cancelled"
ok "… nothing is left on the other hosts" wait_for 10 no_far

begin "$satin" run --sites "$work/away" --name lone -- "${heavy[@]}"
ok "three nodes are up, none on this host" wait_for $((20 * slow)) up lone 3
kill -INT "$begun"
ended
is "Ctrl-C suspends nodes of other hosts" "$code" 75
ok "and the nodes end" wait_for 10 no_far

# A killed node leaves its folder. The next node of the same user on that host removes it.
begin "$satin" run --sites "$work/away" --name killed -- "$SATIN_BIN/../tests/e2e/bomb" stay 255 20 10
ok "three nodes are up once more" wait_for $((20 * slow)) up killed 3
rm "$runs"/killed/node-*.address
ok "… also when their addresses are removed" wait_for $((5 * slow)) up killed 3
# A process that a job has forked stays, but does not keep the folder locked.
find_parent () # sets victim to the node that has a child
{
  local child
  for victim in $(nodes_of killed | cut -d' ' -f1); do
    for child in $(children_of "$victim"); do
      [ "$(cat "/proc/$child/comm")" != bomb ] || return 0
    done
  done
  return 1
}
ok "… and one whose job has forked" wait_for $((20 * slow)) find_parent
kill -9 "$victim"
ended
is "a node there is killed: the answer" "$code:$answer" "0:1024"
one_left () { [ "$(ls "$work/far" | wc -l)" -eq 1 ]; }
ok "… its folder stays" wait_for 10 one_left
mkdir "$work/far/satin-node-living" "$work/far/satin-node-ours"
touch -d '5 minutes ago' "$work/far"/*
exec 8<"$work/far/satin-node-living"
flock -n 8
try "$satin" run --sites "$work/away" -- "$SATIN_BIN/fib" 25
is "the next run: the answer" "$code:$answer" "0:75025"
only_held () { [ "$(cd "$work/far" && echo *)" = 'satin-node-living satin-node-ours' ]; }
ok "… the killed node's folder is removed, a locked one is not" wait_for 10 only_held
exec 8<&-
rmdir "$work/far"/*

# The settings of stores in this environment reach nodes on other hosts, but secrets do not.
. "$(dirname "$0")/servers.sh"
trap 'stop_servers; kill_far; leave' EXIT
if TLS=yes start_dav "$work/dav"; then
  CURL_CA_BUNDLE=$work/dav/ca.pem AWS_REGION=somewhere AWS_SECRET_ACCESS_KEY=a-secret-word begin "$satin" run \
    --sites "$work/away" --name trusts --checkpoint "$uri/far.satin" --interval 0.5 -- "${heavy[@]}"
  ok "nodes on other hosts trust the same authority" wait_for $((20 * slow)) up trusts 3
  # shellcheck disable=SC2046
  all () { cat $(grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ) $(our_far | sed 's,.*,/proc/&/cmdline,') 2>/dev/null; }
  our_far () { grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,'; }
  ok "… and have not received secrets" [ "$(all | grep -c a-secret-word)" -eq 0 ]
  finished
  is "… and the answer is at the store" "$code:$answer:$(sqlite3 "$work/dav/root/files/far.satin" \
    "SELECT count(*) FROM run WHERE key = 'answer'")" "0:$heavy_answer:1"
  try "$satin" run --sites "$work/away" --checkpoint "$uri/none.satin" -- "$SATIN_BIN/fib" 20
  is "without the setting they do not" "$code" 4
else skip "a store with an authority of its own" "$why"; fi

# A host that does not answer is left out.
cat >"$work/broken" <<EOF
[site gone]
hosts = x
command = sh -c 'echo no route to it >&2; exit 255' {node}
[site there]
hosts = a
command = $away sh -c
EOF
try "$satin" run --sites "$work/broken" -- "$SATIN_BIN/fib" 25
is "a host that does not answer: the answer" "$code:$answer" "0:75025"
is "a host that does not answer is reported" "$words" \
  "satin: host 'x' of site 'gone' is left out: no route to it"
if command -v ssh >/dev/null; then
  printf '[site here]\nlauncher = local\n[site gone]\nhosts = nobody.invalid:3\n' >"$work/nobody"
  try "$satin" run --sites "$work/nobody" -- "$SATIN_BIN/sleep" 50
  is "an unknown host name: the answer" "$code:$answer" "0:leaves 64"
  is "… is reported once for all its nodes" "$(grep -c "^satin: host 'nobody.invalid' of site 'gone' is left out: ssh: " <<<"$words")" 1
  ok "… and the message says how other hosts can reach this one" grep -q '^satin: other hosts may not reach this one .* --listen ADDRESS' <<<"$words"
fi

# Output of shells before the node's own, and processes that a command leaves running.
cat >"$work/chatty" <<EOF
[site chatty]
hosts = a
setup = echo ready
command = sh -c 'echo welcome; seq 1000; exec $away sh -c "\$1"' - {run}
EOF
try "$satin" run --sites "$work/chatty" -- "$SATIN_BIN/fib" 25
is "greetings on the way to a host: the answer" "$code:$answer:$words" "0:75025:"
printf '[site here]\nlauncher = local\n[site stuck]\nhosts = x\ncommand = sh -c "sleep 9%s & wait"\n' $$ >"$work/stuck"
try "$satin" run --sites "$work/stuck" -- "$SATIN_BIN/fib" 25
is "a host that is never reached: the answer" "$code:$answer" "0:75025"
is_asleep () { cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -q "sleep 9$$ "; }
no_sleeper () { ! is_asleep; }
ok "… and no process of its command is left" wait_for 5 no_sleeper
sed -n '1,/^command/p' "$work/broken" >"$work/none"
try "$satin" run --sites "$work/none" -- "$SATIN_BIN/fib" 25
is "no host answers" "$code" 1
ok "the message says so" grep -q "^satin: no host started a node" <<<"$words"

# --copy: the program does not exist on the other host.
cp "$SATIN_BIN/fib" "$work/fib copy"
cat >"$work/copy" <<EOF
[site there]
hosts = a
program = /nowhere/fib
command = $away sh -c
EOF
try "$satin" run --sites "$work/copy" -- "$work/fib copy" 25
is "a program that is not there" "$code" 1
try "$satin" run --sites "$work/copy" --copy -- "$work/fib copy" 25
is "--copy sends it" "$code:$answer" "0:75025"
ok "the copy is gone" wait_for 10 no_far

# A fake srun that starts the command on this host.
mkdir "$work/bin"
cat >"$work/bin/srun" <<EOF
#!/bin/sh
echo "\$*" >>$work/srun.words
while [ "\${1#--}" != "\$1" ]; do shift; done
exec $away "\$@"
EOF
chmod +x "$work/bin/srun"
printf '[site vu]\nlauncher = slurm\nnodes = 2\nworkers = 1\noptions = --time=30\n' >"$work/slurm"
try env SLURM_JOB_ID=1 PATH="$work/bin:$PATH" "$satin" run --sites "$work/slurm" -- "$SATIN_BIN/fib" 25
is "srun: the answer" "$code:$answer" "0:75025"
ok "srun: its options" grep -q -- "^--nodes=1 --ntasks=1 --quiet --overlap --time=30 sh -c " "$work/srun.words"

# A fake Slurm: its jobs are processes on this host, which wait in the queue while the file `busy` exists.
cat >"$work/bin/sbatch" <<EOF
#!/bin/bash
echo "\$*" >>$work/sbatch.words
[ ! -e $work/closed ] || { echo "sbatch: error: Access denied" >&2; exit 1; }
for word; do
  case \$word in
    --input=*) in=\${word#*=} ;;
    --output=*) out=\${word#*=} ;;
    --error=*) err=\${word#*=} ;;
  esac
done
cat >"$work/job.\$\$" <<END
while [ -e $work/busy ]; do sleep 0.1; done
exec $away sh "\${!#}" <"\$in" >>"\$out" 2>>"\$err"
END
setsid sh "$work/job.\$\$" </dev/null >/dev/null 2>&1 &
echo \$!
EOF
cat >"$work/bin/squeue" <<EOF
#!/bin/bash
[ ! -d "/proc/\${!#}" ] || echo R
EOF
cat >"$work/bin/scancel" <<EOF
#!/bin/sh
echo "\$*" >>$work/scancel.words
kill -- "-\$1"
EOF
chmod +x "$work"/bin/*
batch=(env -u SLURM_JOB_ID PATH="$work/bin:$PATH")
try "${batch[@]}" "$satin" run --sites "$work/slurm" -- "$SATIN_BIN/fib" 25
is "sbatch: the answer" "$code:$answer" "0:75025"
ok "sbatch: its options" grep -q -- " --time=30 /" "$work/sbatch.words"
try "${batch[@]}" "$satin" run --copy --sites "$work/slurm" -- "$work/fib copy" 25
is "sbatch: --copy" "$code:$answer" "0:75025"
no_batch () { [ -z "$(find "$XDG_STATE_HOME" -name 'batch-*' 2>/dev/null)" ]; }
has_key () { grep -qsr "PRIVATE KEY" "$runs"/*/batch-*; }
ok "sbatch: no file is left" wait_for 10 no_batch
printf '[site here]\nworkers = 1\nlisten = 127.0.0.1\n' | cat - "$work/slurm" >"$work/both"
: >"$work/busy"
: >"$work/sbatch.words"
two_in_queue () { [ "$(wc -l <"$work/sbatch.words")" -eq 2 ]; }
begin "${batch[@]}" "$satin" run --sites "$work/both" --name batch -- "${heavy[@]}"
ok "sbatch: a node begins while two jobs wait" wait_for $((20 * slow)) up batch 1
ok "sbatch: both are in the queue" wait_for $((20 * slow)) two_in_queue
ok "sbatch: both wait" eval '! up batch 2'
ok "sbatch: no key lies on the shared disk while they wait" eval '! has_key'
rm "$work/busy"
ok "sbatch: they join when their turn comes" wait_for $((20 * slow)) up batch 3
ok "sbatch: … nor after they have joined" wait_for 5 eval '! has_key'
finished
is "sbatch: the answer of three" "$code:$answer:$words" "0:$heavy_answer:"
# A node of the previous run may end slowly; scancel then cancels its job, which would be counted below.
ok "sbatch: no file of the three is left" wait_for 10 no_batch
: >"$work/busy"
: >"$work/sbatch.words"
: >"$work/scancel.words"
begin "${batch[@]}" "$satin" run --sites "$work/both" -- "${heavy[@]}"
ok "sbatch: two jobs wait" wait_for $((20 * slow)) two_in_queue
finished
is "sbatch: the answer before their turn" "$code:$answer:$words" "0:$heavy_answer:"
ok "sbatch: both jobs are removed from the queue" wait_for 10 eval '[ "$(wc -l <"$work/scancel.words")" -eq 2 ]'
ok "sbatch: no file of the two is left" wait_for 10 no_batch
# Only the launcher is killed: the processes that lead to the nodes fetch their answer.
rm -f "$work/busy"
begin "${batch[@]}" "$satin" run --sites "$work/slurm" --name brought -- "${heavy[@]}"
ok "sbatch: two nodes of a launcher that dies" wait_for $((20 * slow)) up brought 2
kill -9 "$begun"
wait "$begun" 2>/dev/null
try_freed "$satin" wait brought
is "sbatch: satin wait shows their answer" "$code:$answer" "0:$heavy_answer"
ok "sbatch: no file of that run is left" wait_for 10 no_batch
: >"$work/busy"
# The launcher and the processes that lead to the nodes are killed: the next run of that name removes their files.
rm "$work/busy"
begin "${batch[@]}" "$satin" run --sites "$work/slurm" --name left -- "$SATIN_BIN/sleep" $((600 * 1000)) --depth 0
ok "sbatch: two nodes" wait_for $((20 * slow)) up left 2
ok "sbatch: whose key is gone" wait_for 5 eval '! has_key'
mapfile -t leaders < <(said_by " batch-node $runs/left ")
kill -9 "$begun" "${leaders[@]}"
wait "$begun" 2>/dev/null
# Only the nodes of this test: tests that run in parallel have such processes, too.
nodes_there ()
{
  local pid
  for pid in $(grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,'); do
    [ "/proc/$pid/exe" -ef "$SATIN_BIN/sleep" ] && echo "$pid"
  done
}
is "sbatch: the nodes are there" "$(nodes_there | wc -l)" 2
# shellcheck disable=SC2046
kill -9 $(nodes_there)
ok "sbatch: the nodes are killed" wait_for $((10 * slow)) eval '[ -z "$(nodes_there)" ]'
ok "sbatch: their files are left" eval '! no_batch'
ok "sbatch: … without a key" eval '! has_key'
try "$satin" run --name left -- "$SATIN_BIN/fib" 10
is "sbatch: the next run of that name begins" "$code:$answer" "0:55"
ok "sbatch: … and no file is left" no_batch
: >"$work/closed"
try "${batch[@]}" "$satin" run --sites "$work/slurm" -- "$SATIN_BIN/fib" 25
is "sbatch: refused" "$code" 1
ok "sbatch: its own message is shown" grep -q "^satin: host '1' of site 'vu' is left out: .*Access denied" <<<"$words"

# Three tasks of one step of Slurm, started at once; the first task starts last.
task=(env SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 TMPDIR="$work/far")
asleep () # PID…: TRUE if all processes run a program of Satin and sleep
{
  local pid
  for pid in "$@"; do
    [[ $(readlink "/proc/$pid/exe") = $(realpath "$SATIN_BIN/..")/* ]] && grep -q '^State:[[:space:]]*S' "/proc/$pid/status" || return
  done
}
step () # COMMAND…
{
  "${task[@]}" SLURM_PROCID=1 "$@" >"$work/task1" 2>&1 &
  tasks=$!
  "${task[@]}" SLURM_PROCID=2 "$@" >"$work/task2" 2>&1 &
  tasks="$tasks $!"
  # shellcheck disable=SC2086
  wait_for $((10 * slow)) asleep $tasks
  begin "${task[@]}" SLURM_PROCID=0 "$@"
}
tasks_ended ()
{
  local codes='' one
  finished
  for one in $tasks; do
    wait_for $((10 * slow)) gone "$one"
    wait "$one"
    codes="$codes $?"
  done
  is "$1" "$code:$answer:$words$(cat "$work/task1" "$work/task2")$codes" "$2"
}
no_tasks () { [ -z "$(ls -d "$XDG_STATE_HOME"/satin/tasks-* 2>/dev/null)" ]; }
step "$satin" run -w 1 --name step -- "${heavy[@]}"
ok "tasks: three nodes are up" wait_for $((20 * slow)) up step 3
tasks_ended "tasks: the answer, once" "0:$heavy_answer: 0 0"
step env PATH="$SATIN_BIN:$PATH" "${heavy[@]}" --workers 1
three_up () { [ "$("$satin" status 2>/dev/null | awk '$4 == "up"' | wc -l)" -eq 3 ]; }
ok "tasks: three nodes of a program by itself" wait_for $((20 * slow)) three_up
tasks_ended "tasks: of a program by itself" "0:$heavy_answer: 0 0"
step "$satin" run -w 1 --name stops --checkpoint "$work/step.satin" -- "${heavy[@]}"
ok "tasks: three nodes are up, with a checkpoint" wait_for $((20 * slow)) up stops 3
"$satin" suspend stops >"$work/suspend" 2>&1
tasks_ended "tasks: suspended" "75::satin: suspended: \`satin resume $work/step.satin\` goes on 0 0"
step "$satin" resume "$work/step.satin" -w 1 --name resumes
ok "tasks: a resume is one run as well" wait_for $((20 * slow)) up resumes 3
tasks_ended "tasks: the answer of the resume" "0:$heavy_answer: 0 0"
try "${task[@]}" SLURM_PROCID=1 "$satin" resume "$work/step.satin" -n 2
is "tasks: resume -n" "$code" 2
try_freed "${task[@]}" SLURM_PROCID=0 "$satin" resume "$work/step.satin"
is "tasks: a resume of what is done gives the answer again" "$code:$answer" "0:$heavy_answer"
for other in 1 2; do # the end holds for these tasks, too
  try "${task[@]}" SLURM_PROCID=$other "$satin" resume "$work/step.satin"
  is "tasks: task $other of a run that is over ends at once" "$code:$answer" "0:"
done
try "${task[@]}" SLURM_PROCID=1 "$satin" run -n 2 -- "${heavy[@]}"
is "tasks: -n" "$code" 2
begin "${task[@]}" SLURM_PROCID=0 "$satin" run -w 1 --name words -- "${heavy[@]}"
try "${task[@]}" SLURM_PROCID=1 "$satin" run -w 1 -- "$SATIN_BIN/fib" 3
is "tasks: another command line" "$code:$words" \
  "2:satin: the tasks of one step are one run: start all with the same command line, or each by its own srun or mpirun"
finished
is "tasks: the first task ends without the others" "$code:$answer" "0:$heavy_answer"
try "${task[@]}" SLURM_PROCID=2 "$satin" run -w 1 -- "${heavy[@]}"
is "tasks: a task that starts late ends at once" "$code:$answer" "0:"
ok "tasks: no file is left" wait_for 10 no_tasks

# Wrong usage is refused before anything starts.
printf '[site a]\nhost = x\n' >"$work/wrong"
try "$satin" run --sites "$work/wrong" -- "$SATIN_BIN/fib" 25
is "a wrong site file" "$code:$words" "2:satin: '$work/wrong': site 'a': unknown key 'host'"
try "$satin" run --sites "$work/two" -n 2 -- "$SATIN_BIN/fib" 25
is "-n and --sites" "$code" 2
try "$satin" run --copy -- "$SATIN_BIN/fib" 25
is "--copy without --sites" "$code" 2

# ssh to a server of this test.
. "$(dirname "$0")/servers.sh"
trap 'kill_far; stop_servers; leave' EXIT
rm -rf "$work/far"/* # folders that killed nodes of batch jobs left
if start_sftp "$work/ssh"; then
  cat >"$work/ssh.conf" <<EOF
Host other
  HostName 127.0.0.1
  Port $(sed -n 's/^Port //p' "$work/ssh/config")
  IdentityFile $work/ssh/home/.ssh/id_ed25519
  UserKnownHostsFile $work/ssh/home/.ssh/known_hosts
EOF
  cat >"$work/ssh.sites" <<EOF
[site here]
nodes = 1
workers = 1
listen = 127.0.0.1
[site ssh]
hosts = other:2
workers = 1
options = -F $work/ssh.conf
setup = TMPDIR=$work/far; export TMPDIR
EOF
  sed -n '/site ssh/,$p' "$work/ssh.sites" >"$work/ssh.only"
  begin "$satin" run --sites "$work/ssh.sites" --name ssh -- "${heavy[@]}"
  ok "ssh: three nodes are up" wait_for $((20 * slow)) up ssh 3
  finished
  is "ssh: the answer" "$code:$answer" "0:$heavy_answer"
  is "ssh: no messages" "$words" ""
  ok "ssh: nothing is left on the other host" wait_for 10 no_far
  begin "$satin" run --sites "$work/ssh.only" --name dead -- "${heavy[@]}"
  ok "ssh: two nodes are up" wait_for $((20 * slow)) up dead 2
  kill -9 "$begun"
  wait "$begun" 2>/dev/null
  try_freed "$satin" wait dead
  is "ssh: the run goes on after the launcher's death" "$code:$answer" "0:$heavy_answer"
  ok "ssh: nothing is left of that run, either" wait_for 10 no_far
  sed 's/Port .*/Port 1/' "$work/ssh.conf" >"$work/ssh.wrong"
  printf '[site ssh]\nhosts = other\noptions = -F %s\n' "$work/ssh.wrong" >"$work/ssh.sites"
  try "$satin" run --sites "$work/ssh.sites" -- "$SATIN_BIN/fib" 25
  is "ssh: no server answers: exit code" "$code" 1
  ok "ssh: its own message is shown" grep -q "^satin: host 'other' of site 'ssh' is left out: ssh: connect" <<<"$words"
else
  skip "ssh" "${why:-no sshd}"
fi
wait_for 30 gone "$mute"
wait "$mute"
is "the silent host's site does not found the run: the answer" "$?:$(cat "$work/mute.answer")" "0:75025"
is "… and is left out" "$(head -n 1 "$work/mute.words")" \
  "satin: host 'x' of site 'mute' has said nothing for 30 s: another node founds the run"
finish
