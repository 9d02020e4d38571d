# SPDX-License-Identifier: BSD-3-Clause
# Shared by the end-to-end tests: TAP output, a state folder for each test, functions that wait for a condition instead of
# sleeping, and an exit that leaves no process behind. Sourced by bash.
set -u
: "${SATIN_BIN:?the folder with satin and the apps}" "${SATIN_SOURCE:?the source folder}"
satin=$SATIN_BIN/satin
work=$(mktemp -d "${TMPDIR:-/tmp}/satin-e2e-XXXXXX")
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
runs=$XDG_STATE_HOME/satin/runs
# SEED=N repeats the random choices, though not at the same moments.
seed=${SEED:-$RANDOM}
RANDOM=$((seed % 32768))
echo "# SEED=$seed"
count=0 failures=0 answer='' words='' code=0
# Sanitized programs are several times slower.
slow=1
[ -n "${SATIN_SANITIZED-}" ] && slow=6
cores=$(nproc)

# The settings of sanitizers, for processes whose environment is otherwise empty.
sanitizer_words () { echo ${SATIN_SANITIZED:+$(env | grep -E '^(LD_PRELOAD|(A|T|UB)SAN_OPTIONS)=.')}; }

# The beginning of a command that plays another host: its environment is empty but for these, its folders are in FOLDER.
bare () { echo "env -i PATH=$PATH HOME=$1 TMPDIR=$1 $(sanitizer_words)"; }

# Process ids of the nodes of this test's runs: their environment names the state folder of this test.
our_nodes ()
{
  local file
  grep -lsF "SATIN_RUN_FOLDER=$runs/" /proc/[0-9]*/environ | while IFS=/ read -r _ _ file _; do echo "$file"; done
}

# pgrep is not installed everywhere.
children_of () { cat /proc/"$1"/task/*/children 2>/dev/null; } # PID
# Process ids of the processes whose command line contains WORDS. Each of its arguments is followed by a space.
said_by () # WORDS
{
  local file words word
  for file in /proc/[0-9]*/cmdline; do
    words=''
    while IFS= read -r -d '' word || [ -n "$word" ]; do words+="$word "; done 2>/dev/null <"$file"
    [[ $words != *"$1"* ]] || { file=${file#/proc/}; echo "${file%/cmdline}"; }
  done
}

leave ()
{
  local pids
  pids="$(our_nodes) $(jobs -p)"
  # shellcheck disable=SC2086
  kill -9 $pids 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
trap leave EXIT
trap 'exit 1' INT TERM

ok () # NAME COMMAND…: the command succeeds
{
  local name=$1
  shift
  count=$((count + 1))
  if "$@"; then
    echo "ok $count - $name"
  else
    failures=$((failures + 1))
    echo "not ok $count - $name"
    echo "# failed: $*"
    [ -n "$words" ] && printf '%s\n' "$words" | head -n 20 | sed 's/^/# stderr: /'
    show_logs
  fi
}

show_logs ()
{
  local log
  for log in "$runs"/*/node-*.log; do
    [ -s "$log" ] && { echo "# $log"; tail -n 15 "$log" | sed 's/^/# | /'; }
  done
}

is () # NAME GOT WANTED
{
  ok "$1" [ "$2" = "$3" ]
  [ "$2" = "$3" ] || { echo "# got:    '$2'"; echo "# wanted: '$3'"; }
}

skip () # NAME REASON
{
  count=$((count + 1))
  echo "ok $count - $1 # SKIP $2"
}

# The TAP plan comes last: a script that stops early has no plan, which is an error.
finish ()
{
  echo "1..$count"
  [ "$failures" -eq 0 ]
  exit
}

# Runs a command to its end. $answer is its stdout, $words its stderr, $code its exit code. $code is 124 after a timeout: two
# minutes, up to five on a busy machine. To show that a command does not wait for a condition, a test keeps that condition away
# for longer than that, or until the test itself ends it.
try ()
{
  local busy
  look_around
  timeout $((60 * slow * (busy < 200 ? 200 : busy > 500 ? 500 : busy) / 100)) "$@" >"$work/answer" 2>"$work/words" </dev/null
  code=$?
  was_said "$work/answer" "$work/words"
}

# Starting processes takes most of the time of these tests, so functions that are called often start none.
whole () # NAME FILE: sets the variable NAME to the text of FILE, like $(cat FILE)
{
  local text=''
  IFS= read -r -d '' text <"$2"
  while [[ $text == *$'\n' ]]; do text=${text%$'\n'}; done
  printf -v "$1" %s "$text"
}
one_line () { [ -n "$words" ] && [[ $words != *$'\n'* ]]; }

# Sets $answer and $words from the two files of a command. Drops Satin's message that publishing takes long: other programs may
# keep the disk busy.
was_said ()
{
  whole answer "$1"
  whole words "$2"
  [[ $words != *': publishing takes '* ]] \
    || words=$(sed '/^satin: checkpoint .*: publishing takes .* s, so it is done every .* s, not every .* s$/d' "$2")
}

# Starts a command in the background. `ended` waits for it and sets $answer, $words and $code as `try` does.
begin ()
{
  "$@" >"$work/begun.answer" 2>"$work/begun.words" </dev/null &
  begun=$!
}

ended ()
{
  wait_for $((60 * slow)) gone "$begun" || kill -9 "$begun" 2>/dev/null
  wait "$begun" 2>/dev/null
  code=$?
  was_said "$work/begun.answer" "$work/begun.words"
}

# Reads the file to its end at once. If the process ends meanwhile, bash cannot seek back in the file, and bytes that `read` has
# left over would appear in the next file that is read.
gone () # PID: no such process, or a zombie
{
  local text=''
  { IFS= read -r -d '' text <"/proc/$1/status"; } 2>/dev/null
  text=${text#*State:?}
  [[ -z $text || $text == [ZX]* ]]
}

# wait_for SECONDS COMMAND…: TRUE as soon as the command succeeds. The limit only ends a test that fails. It holds for an idle
# machine: where N programs want each core, N seconds count as one, and one check counts as at most one second. The wait ends
# after five times the limit at the latest.
wait_for ()
{
  local limit=$(($1 * 1000000)) counted=0 since=${EPOCHREALTIME/[.,]/} last now busy rest least
  shift
  last=$since
  until "$@"; do
    look_around
    now=${EPOCHREALTIME/[.,]/}
    # The pause is twice as long as the check, after the first second four times as long, but 50 to 400 ms; and at least a tenth
    # of the wait so far, up to 1 s, so that long waits start few processes.
    rest=$(((now - last) * (now - since > 1000000 ? 4 : 2)))
    least=$(((now - since) / 10))
    least=$((least < 50000 ? 50000 : least > 1000000 ? 1000000 : least))
    rest=$((rest > 400000 ? 400000 : rest))
    counted=$((counted + (now - last > 1000000 ? 1000000 : now - last) * 100 / busy))
    [ $counted -ge $limit ] || [ $((now - since)) -ge $((5 * limit)) ] && return 1
    rest_us $((rest < least ? least : rest))
    last=${EPOCHREALTIME/[.,]/}
    counted=$((counted + (last - now) * 100 / busy))
  done
}
# rest_us sleeps without starting a process: nothing is ever written to this pipe. (A pipe made by <(:) has a child process, for
# which `wait` waits. In a process 1, which inherits the daemons, that `wait` would never return.)
mkfifo "$work/quiet"
rest_us () { local s; printf -v s '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)); read -r -t "$s" <>"$work/quiet"; }
# Sets busy: the load average for each core in hundredths, at least 100.
look_around ()
{
  read -r busy _ </proc/loadavg
  busy=$((10#${busy/./} / cores))
  [ $busy -ge 100 ] || busy=100
}

# TRUE in `make check-long`, which runs the tests that take minutes in full (tests/README).
is_long () { [ -n "${SATIN_LONG-}" ]; }

# The nodes of RUN, one a line: PID [ROLES] STATE.
nodes_of ()
{
  local json line
  json=$("$satin" status "$1" --json 2>/dev/null)
  json=${json//[ $'\n']/}
  json=${json#*'"nodes":['}
  while read -r line; do
    [[ $line =~ .*'"pid":'([0-9]*).*'"roles":['([^]]*)'],'.*'"state":"'([a-z]*)'"' ]] \
      && echo "${BASH_REMATCH[1]} [${BASH_REMATCH[2]}] ${BASH_REMATCH[3]}"
  done <<<"${json//'},{'/$'}\n{'}"
}
no_nodes () { [ -z "$(our_nodes)" ]; }
up () # RUN NUMBER
{
  local n=0 line
  while read -r line; do [[ $line != *' up' ]] || n=$((n + 1)); done <<<"$(nodes_of "$1")"
  [ $n -ge "$2" ]
}
master_of () { nodes_of "$1" | awk '/"master"/ { print $1; exit }'; }
other_of () { nodes_of "$1" | awk '!/"master"/ { print $1; exit }'; }

# has_worked RUN SECONDS [PID]: at least SECONDS of work would be lost if all nodes died now, or if the node PID died.
# Unfinished jobs count, too.
has_worked ()
{
  local figure=at_risk_all_s json line
  json=$("$satin" status "$1" --json 2>/dev/null)
  json=${json//[ $'\n']/}
  line=${json%%'"nodes":['*}
  if [ -n "${3-}" ]; then
    figure=at_risk_s
    while read -r line; do [[ $line != *"\"pid\":$3,"* ]] || break; done <<<"${json//'},{'/$'}\n{'}"
  fi
  [[ $line == *"${3:+\"pid\":$3,}"* && $line =~ .*\"$figure\":([0-9.]+) ]] && at_least "${BASH_REMATCH[1]}" "$2"
}
at_least () # NUMBER NUMBER: compares thousandths, without a process
{
  local a b
  [[ $1 == *.* ]] && a=${1#*.}000 || a=000
  [[ $2 == *.* ]] && b=${2#*.}000 || b=000
  [ $((10#0${1%%.*} * 1000 + 10#${a:0:3})) -ge $((10#0${2%%.*} * 1000 + 10#${b:0:3})) ]
}

# A URI with mode=rw: sqlite3 would create a missing file.
integrity () { [ "$(sqlite3 "file:$1?mode=rw" 'PRAGMA integrity_check' 2>&1)" = ok ]; }
rows () { sqlite3 "file:$1?mode=rw" 'SELECT count (*) FROM result' 2>/dev/null || echo 0; }
has_rows () { [ "$(rows "$1")" -ge "${2:-1}" ]; }

queens=(1 1 0 0 2 10 4 40 92 352 724 2680 14200 73712 365596 2279184 14772512 95815104)

fibonacci ()
{
  local a=0 b=1 i
  for ((i = 0; i < $1; i++)); do
    ((b += a, a = b - a))
  done
  echo $a
}

# Chooses a program whose jobs last until let_go is called (held.c has the limit) and use no processor time. Its command line is
# ${heavy[@]}, its answer $heavy_answer.
choose_heavy ()
{
  heavy=("$SATIN_BIN/../tests/e2e/held" "$work/go")
  heavy_answer=32768
  hold
}
hold () { rm -f "$work/go"; }
let_go () { : >"$work/go"; }
finished () { let_go; ended; hold; }       # lets the jobs of the begun command end, and waits for the command
try_freed () { let_go; try "$@"; hold; }   # a command whose jobs are not held

# Chooses a program that keeps the processors busy for about 4 seconds, or that many times as long: sets ${heavy[@]} and
# $heavy_answer. fib N + 1 takes 1.618 times as long as fib N. Other programs lengthen the measured wall time, so there is a
# minimum for the processor time, too.
choose_busy ()
{
  local n=24 ms=0 cpu_ms=0 now _
  while [ $ms -lt 250 ] && [ $n -lt 80 ]; do
    n=$((n + 2)) ms=1000000 cpu_ms=1000000
    # The shorter of two measurements.
    for _ in 1 2; do
      now=$({ TIMEFORMAT='%3R %3U'; time "$SATIN_BIN/fib" $n >/dev/null 2>&1; } 2>&1 | tr -d .,)
      [ $((10#${now% *})) -lt $ms ] && ms=$((10#${now% *} + 1))
      [ $((10#${now#* })) -lt $cpu_ms ] && cpu_ms=$((10#${now#* } + 1))
    done
  done
  while [ $ms -lt $((4000 * ${1:-1})) ] || [ $cpu_ms -lt $((3000 * ${1:-1})) ]; do
    n=$((n + 1)) ms=$((ms * 1618 / 1000 + 1)) cpu_ms=$((cpu_ms * 1618 / 1000 + 1)) # + 1, so that a time of 1 grows, too
  done
  heavy=("$SATIN_BIN/fib" "$n")
  heavy_answer=$(fibonacci $n)
}

# The path of a TSPLIB instance in apps/; empty if there is none of that name.
instance () { find "$SATIN_SOURCE/apps" -name "$1" 2>/dev/null | head -n 1; }

# suspended NAME FILE PROGRAM ARG…: starts a run with the new checkpoint FILE and suspends it when rows are saved. $code is 75
# on success.
suspended ()
{
  local name=$1 file=$2 i
  shift 2
  for i in 1 2 3; do # on a busy machine the run may end before the suspension
    begin "$satin" run --name "$name" -w 2 --checkpoint "$file" --interval 0.1 -- "$@"
    wait_for $((20 * slow)) has_rows "$file" 3
    "$satin" suspend "$name" 2>/dev/null
    ended
    [ "$code" -eq 75 ] && break
    rm -f "$file"
  done
}
