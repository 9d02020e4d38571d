# SPDX-License-Identifier: BSD-3-Clause
# The parts of the benchmark: what is run. Sourced by bench.sh; the measures that are made of it stand in `measures`.

plan_parts ()
{
  local bench

  # one: one worker against plain C.
  for bench in "fib 40" "nqueens 13" "uts T1" "uts T3"; do
    plan one "$bench" serial 1 1
    plan one "$bench" satin 1 1
  done
  plan one "fibcall 40" satin 1 1

  # peers: the runtimes that other people use, on the same kernels. Their fib 40 takes ten seconds.
  for bench in "fib 32" "nqueens 12" "uts T1" "uts T3"; do
    plan peers "$bench" serial 1 1
    plan peers "$bench" satin 1 1
    plan peers "$bench" satin 2 1
    plan peers "$bench" openmp 1 1
    plan peers "$bench" openmp 2 1
    plan peers "$bench" tbb 1 1
    plan peers "$bench" tbb 2 1
  done
  plan peers "nqueens 13" openmp 1 1
  plan peers "nqueens 13" tbb 1 1
  plan peers "fib 40" openmp 1 1 1
  plan peers "fib 40" tbb 1 1 1

  # two: two workers in one process. nodes: two processes of one worker. Against the ceiling: what plain C run twice at
  # once gives here.
  for bench in "fib 42" "nqueens 14" "uts T1" "uts T3"; do
    plan two "$bench" serial 1 1
    plan two "$bench" serial-twice 2 2
    plan two "$bench" satin 1 1
    plan two "$bench" satin 2 1
  done
  for bench in "fib 44" "nqueens 14" "integrate 1e-10" "uts T3L"; do
    plan nodes "$bench" serial 1 1
    plan nodes "$bench" serial-twice 2 2
    plan nodes "$bench" satin 1 1
    plan nodes "$bench" satin 2 2
  done
}

other_parts ()
{
  :
}
