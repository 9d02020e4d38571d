/* SPDX-License-Identifier: BSD-3-Clause */
/* What other nodes hold, seen from the stacks. This file knows which frames have entries at or
 * below them (the watch list), and which slots wait for a holder. It raises ENGINE_COVERED for a
 * job that is finished here, so that holders discard it. */
#pragma once

#include "trace.h"

/* For a slot that this thread has claimed, or a private one of its stack. TRUE: another node holds
 * the job, so the slot waits for that node now, under a new loan number, and ENGINE_ADOPT was
 * raised. */
gboolean adopt_claimed (Engine *engine, Stack *stack, SatinSlot_ *slot);
/* Owner: the same for child `number` of a watched frame. The event is raised quietly: the caller
 * calls mailbox_tell before it runs anything else. *finished (set if TRUE): the holder has the
 * result. */
gboolean adopt_child (Stack *stack, KnownNode *parent, SatinSlot_ *slot, guint32 number,
                      gboolean *finished);

/* Owner: makes the kept slot of the frame of `job` wait for the state that another node holds under
 * this digest. TRUE: ENGINE_ADOPT was raised; the caller waits. FALSE: no node holds one; the slot
 * is untouched. */
gboolean adopt_kept (Stack *stack, SatinSlot_ *slot, SatinSlot_ *job, const Digest *digest);

/* The watch list, for the owner. `job` begins, at the bottom of the stack or above a waiting
 * frame. */
void watch_begin (Stack *stack, SatinSlot_ *job);
/* All jobs above `self` have ended (NULL: the stack is empty) and are not watched any more.
 * `finished`: tells their holders. Jobs that the stack left are not finished: another node may want
 * them. */
void watch_end (Stack *stack, SatinSlot_ *self, gboolean finished);
void watch_settle (Stack *stack, SatinSlot_ *self); /* the same, finished */
/* A child of a watched frame starts; watch_settle follows when it has returned. */
void watch_child (Stack *stack, SatinSlot_ *child, guint32 number);
/* The trie node of `self`. NULL: `self` is not watched. */
KnownNode *watch_node (Stack *stack, SatinSlot_ *self);
/* News came, or children were dropped: renews the watch list, and tells holders of what is finished
 * or dropped. `self` runs and its children end at `top`. */
void watch_news (Stack *stack, SatinSlot_ *self, SatinSlot_ *top);

/* The slot of this path has just got its result: tells the holders of the job and of jobs below
 * it. */
void adopt_cover (Engine *engine, const char *path);
/* Owner: the job has recalled a state that stands for its children with numbers less than
 * `children`: tells the holders of these children and of jobs below them. */
void adopt_cover_phases (Stack *stack, SatinSlot_ *job, guint32 children);
