# SPDX-License-Identifier: BSD-3-Clause
# Computes medians and ratios. Reads samples, BENCH|RUNTIME|WORKERS|PROCESSES|SECONDS a line, and the files `measures` and
# `figures`; writes the file `json`; prints both tables.
#   measures: WHAT|over|RUN|RUN, WHAT|ceiling|BENCH|WORKERS,PROCESSES or WHAT|figure|NAME|UNIT, then |MUST|AIM, each with
#   < for "at most" or > for "at least"; `= TEXT` is a heading. A RUN is BENCH,RUNTIME,WORKERS,PROCESSES.
#   figures: NAME|VALUE a line; several lines of one name are samples.

BEGIN { FS = "|"; CEILING_MAX = 1.06 }

{
  run = $1 "," $2 "," $3 "," $4
  if (!(run in count))
    {
      order[++runs] = run
      fields[run] = $1 FS $2 FS $3 FS $4
    }
  sample[run, ++count[run]] = $5
}

# Sorts the samples of a run by insertion; there are few.
function sorted(run,    i, j, value)
{
  for (i = 2; i <= count[run]; i++)
    {
      value = sample[run, i]
      for (j = i - 1; j >= 1 && sample[run, j] > value; j--)
        sample[run, j + 1] = sample[run, j]
      sample[run, j + 1] = value
    }
  low[run] = sample[run, 1]
  high[run] = sample[run, count[run]]
  i = int((count[run] + 1) / 2)
  middle[run] = count[run] % 2 ? sample[run, i] : (sample[run, i] + sample[run, i + 1]) / 2
}

function write_json(    i, f, run)
{
  printf "[" > json
  for (i = 1; i <= runs; i++)
    {
      run = order[i]
      split(fields[run], f, FS)
      printf "%s\n  {\"bench\": \"%s\", \"runtime\": \"%s\", \"workers\": %d, \"processes\": %d, " \
             "\"median_s\": %.6f, \"min_s\": %.6f, \"max_s\": %.6f, \"rounds\": %d}", \
             (i > 1 ? "," : ""), f[1], f[2], f[3], f[4], middle[run], low[run], high[run], count[run] > json
    }
  printf "\n]\n" > json
  close(json)
}

function print_times(    i, f, run, serial)
{
  printf "%-16s %-13s %7s %9s %10s %10s %10s %10s\n", "bench", "runtime", "workers", "processes", "median s", "min s", \
         "max s", "/ plain C"
  for (i = 1; i <= runs; i++)
    {
      run = order[i]
      split(fields[run], f, FS)
      serial = f[1] ",serial,1,1"
      sub(/^fibcall/, "fib", serial)
      printf "%-16s %-13s %7d %9d %10.4f %10.4f %10.4f %10s\n", f[1], f[2], f[3], f[4], middle[run], low[run], high[run], \
             (serial in middle ? sprintf("%.2f", middle[run] / middle[serial]) : "-")
    }
}

# The speed-up as a share of the ceiling: (T1 / T2) / (2 x plain C once / plain C twice at once).
function over_ceiling(time, bench, place,    one, many, serial, twice)
{
  one = bench ",satin,1,1"
  many = bench ",satin," place
  serial = bench ",serial,1,1"
  twice = bench ",serial-twice,2,2"
  return time[one] / time[many] / (2 * time[serial] / time[twice])
}

function reached(value, bound)
{
  return substr(bound, 1, 1) == "<" ? value <= substr(bound, 2) + 0 : value >= substr(bound, 2) + 0
}

function shown(bound)
{
  return (substr(bound, 1, 1) == "<" ? "<= " : ">= ") substr(bound, 2)
}

# Above the ceiling by more than noise: other programs delayed the two processes of plain C.
function verdict(value, must, aim, most)
{
  if (most != "" && value > most)
    return "not believed: above the ceiling"
  return reached(value, aim) ? "reaches the aim" : reached(value, must) ? "ok" : "MISSED"
}

# Prints the heading before the first line below it.
function print_line(what, value, best, must, aim, most)
{
  if (heading != "")
    print heading
  heading = ""
  printf "  %-44s %9.4g %9s %9s %9s   %s\n", what, value, best, shown(must), shown(aim), verdict(value, must, aim, most)
}

function print_measure(m,    run)
{
  if (m[2] == "over" && m[3] in middle && m[4] in middle)
    print_line(m[1], middle[m[3]] / middle[m[4]], sprintf("%.4g", low[m[3]] / low[m[4]]), m[5], m[6])
  if (m[2] == "ceiling" && (m[3] ",satin," m[4]) in middle && (m[3] ",serial-twice,2,2") in middle)
    print_line(m[1], over_ceiling(middle, m[3], m[4]), sprintf("%.4g", over_ceiling(low, m[3], m[4])), m[5], m[6], CEILING_MAX)
  run = "figure " m[3]
  if (m[2] == "figure" && run in middle)
    print_line(m[1] ", " m[4], middle[run], \
               sprintf("%.4g", (substr(m[5], 1, 1) == "<" ? low[run] : high[run])), m[5], m[6])
}

END {
  for (i = 1; i <= runs; i++)
    sorted(order[i])
  write_json()
  if (runs > 0)
    print_times()
  while ((getline line < figures) > 0)
    {
      split(line, f, FS)
      run = "figure " f[1]
      if (!(run in count))
        names[++n_names] = run
      sample[run, ++count[run]] = f[2]
    }
  for (i = 1; i <= n_names; i++)
    sorted(names[i])
  printf "\n%-46s %9s %9s %9s %9s\n", "", "medians", "best", "must", "aim"
  while ((getline line < measures) > 0)
    {
      if (line ~ /^= /)
        heading = substr(line, 3)
      else if (split(line, m, FS) == 6)
        print_measure(m)
    }
}
