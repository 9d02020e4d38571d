/* SPDX-License-Identifier: BSD-3-Clause */
/* Satin: divide-and-conquer programs in C (and C++) on machines that come and go.
 *
 * A job is a function of its arguments that may spawn other jobs and wait for them. A spawned job
 * may run on another thread or another machine, and may run twice if a machine is lost. Hence the
 * five laws. (1) A job is pure. (2) It is steady: child k of the same job is always the same job.
 * (3) A job that prunes returns the whole best value. (4) Main may run again elsewhere. (5) Across
 * a spawn, sync or poll a job owns nothing but plain locals, since an abort may end it there.
 *
 * Members, arguments and results: int8_t … uint64_t, double, SatinBytes, SatinShared, SatinText,
 * any SATIN_RECORD or SATIN_LIST, and (as members and arguments) fixed arrays of them, written
 * (type, name, COUNT). int, long and the like differ between machines and do not compile.
 * satin-frame.h says how the words work; nothing there is meant to be used by name. */
#pragma once

#include "satin-type.h"

G_BEGIN_DECLS
#pragma GCC visibility push(default)

typedef struct SatinRun SatinRun; /* one run of a program; main gets it */
typedef struct SatinJob SatinJob; /* a job: its name, types and code; `name_job` is the object */

/* SATIN_RECORD (Name, (type, member), (type, member, COUNT) …)
 * A struct of 1 to 32 members together with its portable encoding. At file scope, in any file. */
#define SATIN_RECORD(Name, ...) SATIN_RECORD_ (Name, __VA_ARGS__)

/* SATIN_JOB (name, Result, (type, argument) …) { body }
 * A job of 0 to 8 arguments, passed by value; an array argument comes as a const pointer to the
 * job's own copy. The body returns Result, and does not call setjmp itself (a function that it
 * calls may). It must sync all that it spawned before it returns; otherwise the run ends with a
 * message that names the job. Defines the object `name_job`. */
#define SATIN_JOB(name, ...) SATIN_JOB_ (name, __VA_ARGS__)

/* The same in two halves, for headers and mutual recursion: SATIN_JOB_DECLARE (name, Result, …);
 * once before use, in any file; SATIN_JOB_DEFINE (name, Result, …) { body }, once, as declared. */
#define SATIN_JOB_DECLARE(name, ...) SATIN_JOB_DECLARE_ (name, __VA_ARGS__)
#define SATIN_JOB_DEFINE(name, ...) SATIN_DEFINE_ (name, __VA_ARGS__)

/* Inside a job: starts `job` with these arguments. It may run elsewhere. *dest (of exactly the
 * job's result type) is filled by the next satin_sync, not before. SatinBytes in the arguments are
 * borrowed: the spawn takes its own reference. */
#define satin_spawn(job, ...) SATIN_SPAWN_ (job, __VA_ARGS__)

/* Inside a job: returns when all that it spawned is done and every dest is filled. SatinBytes that
 * come with the results are borrowed until the job returns. */
#define satin_sync() satin_sync_ (satin_frame_)

/* Inside a job: waits until one more of the spawned jobs has finished, fills its dest and returns
 * its number (int32_t): 0 for the first spawned since the last satin_sync …; a satin_call is not
 * counted. -1: none is left. The order may differ between two runs: spawn nothing, and return
 * nothing, that depends on it. satin_sync fills what has not been handed out. A child that this
 * thread runs is not interrupted: others that finish meanwhile are handed out after it. */
#define satin_sync_next() satin_sync_next_ (satin_frame_)

/* Inside a job: drops all spawned jobs whose dest is not filled; it never will be. Those that run,
 * here or elsewhere, end at their next sync or poll, and their later satin_improve does not count.
 * The job goes on, may spawn again, and the next satin_sync_next numbers from 0 again. */
#define satin_abort() satin_abort_ (satin_frame_)

/* Inside a long job without spawns: a poll. Call it every millisecond or so; it costs a load and a
 * compare. Here the job can be aborted, suspended and saved. Returns FALSE (gboolean); in a job
 * that was aborted it does not return. */
#define satin_aborted() satin_aborted_ (satin_frame_)

/* Inside a job: runs `job` here and now and returns its result: satin_call (job, args…). It counts
 * as a child like any spawned one, and its result is kept like theirs. */
#define satin_call(job, ...) SATIN_CALL_ (job, __VA_ARGS__)

/* For functions that a job calls, a recursive search for example: the job says
 * `SatinHere here = satin_here ();` and passes it to them, by value. It is valid until the job's
 * next spawn, call, sync or keep, on the job's own thread. There satin_poll (here) and
 * satin_fail_here (here, "…", …) are satin_aborted and satin_fail. Law 5 holds there, too. */
#define satin_here() satin_here_ (satin_frame_)
#define satin_poll(here) satin_poll_here_ (here)
#define satin_fail_here(here, ...) satin_fail_ ((here).stack, (here).self, (here).head, __VA_ARGS__)

/* satin_fail ("…", …), as printf. Inside a job that cannot have a result: ends the run with exit
 * code 6, and a message that names the job's path and arguments. The checkpoint stays. Does not
 * return. In a job that was aborted it does not end the run. */
#define satin_fail(...) satin_fail_now_ (satin_frame_, __VA_ARGS__)

/* For a long sequence of phases in one job, an iterated simulation for example:
 *
 *   SATIN_KEEPS (State);
 *   State state = { initial }; satin_recall (&state);
 *   for (; state.step < steps; satin_keep (&state))
 *     {
 *       spawn what the state says; satin_sync ();
 *       state = what came of it; state.step++;
 *     }
 *
 * SATIN_KEEPS (Type); stands in the job before the other two and says what it keeps: a SATIN_RECORD
 * or any other type that may travel. */
#define SATIN_KEEPS(Type) SATIN_KEEPS_ (Type)

/* Before the job's first spawn or call. TRUE: this job was lost in the middle and runs again;
 * *state (Type *) is what it kept last. FALSE: nothing was kept, and *state is as it was. May wait
 * for another node. SatinBytes in *state are borrowed until satin_keep or the job's end. */
#define satin_recall(state) SATIN_RECALL_ (state)

/* satin_keep (state). After a sync, with nothing spawned since: *state (const Type *, copied)
 * replaces all that the finished phases computed, which is released. From now on only the
 * SatinBytes and SatinShared in the state and in the job's arguments are valid. Costs little more
 * than the copy, so keep after each phase. It is a poll too, like satin_aborted. */
#define satin_keep(...) SATIN_KEEP_ (__VA_ARGS__)

/* Hands fresh bytes, (transfer full), to the running job, which owns them until it returns; outside
 * a job, in main, they live until the process ends. Returns them, now borrowed. Any thread. */
SatinBytes satin_bytes (GBytes *fresh);

/* SATIN_LIST (Name, Type)
 * A list: an array of any length (up to 2^32-1) of a type that may travel. A list may travel
 * itself: struct { const Type *at; uint64_t n; GBytes *held; }. Borrowed like SatinBytes. `held`
 * owns the items, and a part of a list is a list too: (Name){ list.at + 10, 5, list.held }. If
 * `held` is NULL the items are the program's own, as in (Name){ array, 3 }: a spawn, satin_root,
 * satin_keep or satin_improve copies them. A result must not be such a list. File scope. */
#define SATIN_LIST(Name, Type) SATIN_LIST_ (Name, Type)

/* satin_list (Name, items, n): a copy of `n` items at `items` (const Type *; NULL: they are zero),
 * owned by the running job until it returns; outside a job until the process ends. Any thread.
 * satin_join (Name, a, b): a list of the items of both, owned likewise. satin_items (Name, list) ->
 * Type *: the items of a list that satin_list made; write them before you pass the list on. */
#define satin_list(Name, items, n) satin_list_##Name (items, n)
#define satin_join(Name, a, b) satin_join_##Name (a, b)
#define satin_items(Name, list) satin_items_##Name (list)

/* SatinText: text in UTF-8 of any length; a struct with `text`, const char *, that ends with a NUL,
 * and `held`, as in a list. satin_text makes one as printf does, owned like satin_list's; what is
 * not UTF-8 is replaced. Any thread. */
SatinText satin_text (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* For large bytes that many jobs read, such as the plane of a simulation: gives *bytes (transfer
 * none) a name, so that the bytes need not travel with each job. The name, a SatinShared, is a
 * small value that may travel, but not in a SATIN_CONST or SATIN_BEST. Equal bytes have equal
 * names. The name is borrowed, like SatinBytes, until the running job returns; outside a job it
 * lives until the process ends. Any thread; takes the time of a SHA-256 of the bytes. */
SatinShared satin_share (SatinBytes bytes);

/* Inside a job: the bytes of a SatinShared, borrowed until the job returns or keeps a state. May
 * wait for another node that has them; a job that was aborted ends here. NULL for NULL. A result
 * for main holds such bytes as SatinBytes. */
#define satin_shared(shared) satin_shared_ (satin_frame_, shared)

/* Loops. Both words define a job (int64_t from, int64_t to, int64_t grain, …) that cuts the range
 * [from, to) into halves down to `grain` and runs the halves as jobs. Up to five arguments of your
 * own follow. Spawn it, call it, make it the root. A grain of 0: about 2,048 pieces, whatever the
 * machine (law 2); give a larger one if an item takes less than a microsecond, or 1 if few items
 * take long.
 *
 * SATIN_REDUCE (name, Result, MERGE, (type, argument) …) { body }
 * The body returns the result of the piece [from, to), which may be empty. Result MERGE (Result a,
 * Result b) is associative and unites two neighbours, a before b. The pieces depend only on the
 * range and the grain, so a sum of doubles is the same to the last bit on any nodes.
 *
 * SATIN_FOR (name, List, Type, (type, argument) …) { body }
 * The body returns the Type for the index `i`; the job's result is the List of them, in order,
 * where SATIN_LIST (List, Type). Each index is a poll.
 *
 * Both bodies are plain functions, so they spawn nothing and follow no SatinShared; large values go
 * to them as lists or by a SATIN_CONST. */
#define SATIN_REDUCE(name, Result, ...) SATIN_REDUCE_ (name, Result, __VA_ARGS__)
#define SATIN_FOR(name, List, ...) SATIN_FOR_EACH_ (name, List, __VA_ARGS__)

/* Inside a job: runs such a loop now and returns its result: (name, from, to, grain, args…). */
#define satin_for(job, ...) SATIN_CALL_ (job, __VA_ARGS__)
#define satin_reduce(job, ...) SATIN_CALL_ (job, __VA_ARGS__)

/* SATIN_CONST (Type, name): one immutable value that every node has before any job starts. At file
 * scope. SATIN_CONST_DECLARE (Type, name); declares one that another file defines. */
#define SATIN_CONST(Type, name) SATIN_CONST_ (Type, name)
#define SATIN_CONST_DECLARE(Type, name) SATIN_CONST_DECLARE_ (Type, name)

/* satin_publish (run, name, value). In main, before the first satin_root: gives the constant its
 * value, const Type *value (copied). Publishing the same value again does nothing. */
#define satin_publish(run, name, ...) SATIN_PUBLISH_ (run, name, __VA_ARGS__)

/* The published value: const Type *, valid until the process ends. Any thread. If it is not
 * published yet, the program ends with a message that names the constant. */
#define satin_const(name) ((const satin_const_##name *)satin_const_value_ (&name##_const))

/* SATIN_BEST (Type, name, MERGE, initial…)
 * One improving value, replicated to all nodes; `initial` is an initialiser. const Type *MERGE
 * (const Type *a, const Type *b) returns the better of the two: a total order (equal cost: the
 * smaller solution). What a job reads may lag behind and never goes back; it is a hint, never the
 * answer. At file scope. */
#define SATIN_BEST(Type, name, MERGE, ...) SATIN_BEST_ (Type, name, MERGE, __VA_ARGS__)
#define SATIN_BEST_DECLARE(Type, name) SATIN_BEST_DECLARE_ (Type, name)

/* SATIN_BEST_SHOW (name, function)
 * How people see the best value, in `satin status` for example: char *function (const Type *value)
 * returns a short text in UTF-8 for g_free; NULL: there is nothing to show yet. A thread of Satin
 * calls it now and then; it must change nothing. At file scope. */
#define SATIN_BEST_SHOW(name, function) SATIN_BEST_SHOW_ (name, function)

/* The best value known here, by value. Any thread. SatinBytes in it live until the process ends. */
#define satin_best(name) (*(const satin_best_##name *)satin_best_value_ (&name##_best))

/* satin_improve (name, value): merges *value (const Type *, copied) into the best. Any thread. */
#define satin_improve(name, ...) SATIN_IMPROVE_ (name, __VA_ARGS__)

/* satin_root (run, job, &result, args…) -> gboolean. In main, any number of times, one after the
 * other: runs the job with all below it and fills result; SatinBytes in it are borrowed until main
 * returns. A main that runs again gets the results of finished roots at once. So root k must always
 * be the same: it may depend only on main's arguments, its inputs and the results before. FALSE:
 * the run was suspended or ended elsewhere, and main must return satin_stopped (run) at once. */
#define satin_root(run, job, ...) SATIN_ROOT_ (run, job, __VA_ARGS__)

/* The exit code that main has to return after satin_root gave FALSE. */
int satin_stopped (SatinRun *run);

/* In main, before the first satin_root: reads a file once for the whole run; every later main, on
 * any machine, gets the same bytes. Returns them, (transfer none), until the run ends; NULL and
 * `error` when the file cannot be read, or is no regular file and this is a run of nodes. */
GBytes *satin_input (SatinRun *run, const char *path, GError **error);

/* SATIN_APP ("name", "USAGE", main_function)
 * Defines main (). int main_function (SatinRun *run, int argc, char **argv) gets the arguments
 * without Satin's own options and returns the exit code. The jobs are all that the program and its
 * libraries define by SATIN_JOB; no two have one name. (Earlier versions wanted a list of jobs
 * behind main_function. A program that still has it keeps its checkpoints valid.) */
#define SATIN_APP(name, usage, ...) SATIN_APP_ (name, usage, __VA_ARGS__)

/* For a program with a main of its own; SATIN_APP is satin_open and satin_close around its
 * main_function. (int *argc, char ***argv, GError **error) -> SatinRun *. Takes Satin's options out
 * of argv (NULL: there are none) and begins a run, or goes on from its checkpoint. NULL: the code
 * of the SATIN_ERROR is one of satin(1)'s exit codes. Functions with `run` are for the thread that
 * opened it. Without `satin run`, Satin takes no signal, prints nothing and ends no process; the
 * checkpoint has the roots' results; after satin_close another run may be opened. In processes of
 * `satin run`, satin_open returns only in the master, and what the master prints until it exits is
 * the answer. The others serve the run and end with it. More: A MAIN OF ITS OWN in satin(7). */
#define satin_open(argc, argv, error) satin_open_ (SATIN_LAYOUT_, argc, argv, error)
#define SATIN_ERROR (g_quark_from_static_string ("satin"))

/* Ends the run and frees it, with all that is borrowed from its results and inputs. Waits for jobs
 * that still run; they end at their next sync or poll. Returns 0, or the exit code of a run that
 * stopped. */
int satin_close (SatinRun *run);

/* Asks the run to save what is finished and to stop: satin_root returns FALSE, satin_stopped 75.
 * Any thread between satin_open and satin_close; not in a signal handler. */
void satin_suspend (SatinRun *run);

/* Why the last run stopped, in one sentence, until the next satin_open; NULL: it did not. */
const char *satin_reason (void);

/* SATIN_APP_VERSION (n), n from 1 to 2^32-1, once in a program, at file scope. All builds that
 * state n compute the same results, so each may go on with a run or checkpoint of another. Raise n
 * whenever a job may return something else. Without it only the build that began may go on. */
#define SATIN_APP_VERSION(n) SATIN_APP_VERSION_ (n)

#pragma GCC visibility pop
G_END_DECLS

#include "satin-frame.h"
#include "satin-words.h"

#include "satin-types.h"

#include "satin-macros.h"
