#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# satin submit: a run longer than the time limit of its job, with a real Slurm and a limit of one minute. Slurm warns it; it is
# suspended; its own script puts it back into the queue, where it is resumed. There is one checkpoint and one answer.
. "$(dirname "$0")/slurmctld.sh"
mkdir "$work/there" && cd "$work/there" || exit 1

refused () # NAME CODE WORDS ARG…
{
  local name=$1 wanted=$2 sentence=$3
  shift 3
  try "$satin" submit "$@"
  is "$name is refused" "$code" "$wanted"
  ok "… with the reason" grep -qF -- "$sentence" <<<"$words"
}
fib=$SATIN_BIN/fib
refused "no program" 2 "missing program" -n 2
refused "no number of nodes" 2 "-n takes a number" -n 0 -- "$fib" 20
refused "a time that is no number" 2 "--time takes minutes" --time soon -- "$fib" 20
refused "a time that is too short for the warning" 2 "not longer than --warning" --time 2 -- "$fib" 20
refused "a number of nodes for run" 2 "--run conflicts" --run '-n 3' -- "$fib" 20
refused "an option that run does not have" 2 "nonsense" --run '--nonsense' -- "$fib" 20
refused "two lines for sbatch" 2 "one line" --sbatch $'--a\n--b' -- "$fib" 20
refused "a program that is not there" 1 "no such program" -- fibb 20
refused "a missing folder for the checkpoint" 4 "no/c.db" --checkpoint no/c.db -- "$fib" 20
echo "my notes" >fib.sbatch
refused "a file that is no script" 1 "is not a script of" -- "$fib" 20
is "… and is not changed" "$(cat fib.sbatch)" "my notes"
refused "what sbatch refuses" 1 "sbatch: " --script a --sbatch --partition=none -- "$fib" 20
rm fib.sbatch
try env PATH=/nowhere "$satin" submit -- "$fib" 20
is "a host without Slurm is refused" "$code" 1
ok "… with the reason" grep -q "is this a host of Slurm" <<<"$words"
rm -f fib.sbatch
try "$satin" submit --print -n 2 -- "$fib" 20
printed=$answer
is "--print submits nothing" "$code:$words:$(squeue -h | wc -l):$(ls fib.sbatch 2>/dev/null)" "0::0:"

state_of () { scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p'; }
in_state () { [ "$(state_of "$1")" = "$2" ]; }
short_run=("$satin" submit -n 2 -w 1 --checkpoint c.db)

# The whole run fits into one job.
try "${short_run[@]}" --name quick -- "$fib" 20
job=$answer
ok "a short run: one line with the job's number" grep -qx '[0-9][0-9]*' <<<"$job"
ok "… it is completed" wait_for 60 in_state "$job" COMPLETED
is "… the answer" "$(cat "quick-$job.out")" 6765
ok "… the log ends with a summary" grep -qF "ended with exit code 0 after 0 restarts; the checkpoint is '$PWD/c.db'" "quick-$job.log"
try "$satin" submit --print -n 2 -- "$fib" 20
is "the same arguments print the same script" "$answer" "$printed"

# A batch system's warning when no restart is left.
try "$satin" submit -w 1 --max-restarts 0 --name last --run '--interval 0.5' -- "$SATIN_BIN/sleep" 100 --depth 12
job=$answer
ok "a run with no restart begins" wait_for 60 has_rows "last-$job.satin"
scancel --batch --signal=USR1 "$job"
ok "… when its time is over it is suspended and fails" wait_for 60 in_state "$job" FAILED
ok "… with 75, and the log says so" grep -q "ended with exit code 75 after 0 restarts" "last-$job.log"
is "… there is no answer" "$(cat "last-$job.out")" ""
try "$satin" inspect --json "last-$job.satin"
is "… its checkpoint is sound" "$code" 0

# A limit of a minute, with the warning 55 s before its end: Slurm checks every half minute whether a job's time is over.
try "$satin" submit -n 2 -w 1 --time 1 --warning 55 --name chain --run "--stats '$work/stats'" -- "$SATIN_BIN/sleep" 100 --depth 10
job=$answer
ok "a run of 51 s begins" wait_for 60 in_state "$job" RUNNING
ok "… it is soon in the queue again" wait_for 60 grep -qs "goes on: restart 1 of at most 1000" "chain-$job.log"
is "… there is no answer yet" "$(cat "chain-$job.out")" ""
ok "… it is completed by the next job, or the one after that" wait_for 180 in_state "$job" COMPLETED
is "… one answer" "$(cat "chain-$job.out")" "leaves 1024"
restarts=$(scontrol show job "$job" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p')
ok "… Slurm has counted its restarts" [ "$restarts" -ge 1 ]
is "… the log has each restart" "$(grep -c 'goes on: restart' "chain-$job.log")" "$restarts"
ok "… and a summary" grep -qF "job $job ended with exit code 0 after $restarts restarts" "chain-$job.log"
is "… one checkpoint" "$(ls "chain-$job".satin*)" "chain-$job.satin"
# The last job did only what the earlier ones had left: they saved at least one of the 102 s of sleep.
ok "… whose results were used" awk -v all=102.4 '{ if (match ($0, /"work_s": *[0-9.]+/)) { split (substr ($0, RSTART, RLENGTH), a, ":"); work = a[2] } }
  END { exit !(work > 0 && work < all - 1) }' "$work/stats"
finish
