/* SPDX-License-Identifier: BSD-3-Clause */
/* What other nodes hold, seen from the stacks: which frames have something known below them (the
 * watch list), which slots wait for a holder, and which holders are told that they hold in vain,
 * since a job is finished here. */
#pragma once

#include "trace.h"

/* Is a slot that this thread has claimed, or a private one of its own, held elsewhere? TRUE: the
 * slot waits for the holder now, under a new loan number, and ENGINE_ADOPT was raised. */
gboolean adopt_claimed (Engine *engine, Stack *stack, SatinSlot_ *slot);
/* Owner: the same for child `number` of a watched frame. The event is raised quietly: mailbox_tell
 * has to follow before anything else runs. `finished` (set when TRUE): the holder has the result.
 */
gboolean adopt_child (Stack *stack, KnownNode *parent, SatinSlot_ *slot, guint32 number,
                      gboolean *finished);

/* Owner: the kept slot of the frame of `job` waits for a state that a node holds under this digest.
 * TRUE: ENGINE_ADOPT was raised; the caller waits. FALSE: no node holds one; the slot is untouched.
 */
gboolean adopt_kept (Stack *stack, SatinSlot_ *slot, SatinSlot_ *job, const Digest *digest);

/* The watch list: owner. A job begins at the bottom or on top of a waiting frame. */
void watch_begin (Stack *stack, SatinSlot_ *job);
/* All jobs above `self` have ended (NULL: the stack is empty): they are not watched any more. If
 * they are `finished`, their holders are told; a job that was left may be wanted elsewhere. */
void watch_end (Stack *stack, SatinSlot_ *self, gboolean finished);
void watch_settle (Stack *stack, SatinSlot_ *self); /* the same: they are finished */
/* A child of a watched frame starts; watch_settle follows when it has returned. */
void watch_child (Stack *stack, SatinSlot_ *child, guint32 number);
/* The node of `self`; NULL: it is not watched. */
KnownNode *watch_node (Stack *stack, SatinSlot_ *self);
/* News came; `self` runs and its children end at `top`. */
void watch_news (Stack *stack, SatinSlot_ *self, SatinSlot_ *top);

/* The slot of this path has just got its result: tells the holders of its job and of jobs below it.
 */
void adopt_cover (Engine *engine, const char *path);
/* Owner: the job has recalled a state that stands for its children with numbers less than
 * `children`: tells the holders of these children and of jobs below them. */
void adopt_cover_phases (Stack *stack, SatinSlot_ *job, guint32 children);
