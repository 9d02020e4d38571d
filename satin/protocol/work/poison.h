/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that end the process that runs them. A process that a job ends first sends a crash report,
 * which names the job that it had taken from another node, or the root. All nodes keep all crash
 * reports. The run ends when three processes have reported jobs that lie on one path from the root,
 * since no process survives that job. It also ends when the last process has sent a report. A job
 * may also state that it failed (satin_fail). Its process lives on, and one such statement ends the
 * run, since the job would fail everywhere. A process that dies without a report (power, kill -9)
 * never ends a run. Instead its lenders name the jobs that it had taken a moment ago. A job that is
 * named so three times is suspicious: people are warned, and it runs alone (quarantine.h). Driver's
 * thread. */
#pragma once

#include "../members/link.h"
#include "../members/roster.h"
#include "../node.h"
#include "loans.h"

#define POISON_KEPT_MAX 256                  /* words; and the newest silent deaths */
#define POISON_SOON_US (60 * G_USEC_PER_SEC) /* a holder that lived longer is no sign */
/* The least time between two warnings of suspicious jobs: where many nodes are killed there are
 * many. */
#define POISON_WARN_US (60 * G_USEC_PER_SEC)

typedef struct
{
  GPtrArray *words;  /* of CrashReport */
  GByteArray *quiet; /* of Quiet: silent deaths, the oldest first */
  guint64 warn_us;   /* no warning before */
} Poison;

void poison_init (Node *node);
/* NODE_EVENT_CRASH_REPORT. May end the run. */
void poison_on_event (Node *node, const NodeEvent *event);
void poison_on_message (Node *node, const NodeId *from, const Message *message);
/* Sends all crash reports over a new link to a member, or to a node that is told that the run is
 * given up. */
void poison_greet (Node *node, Link *link);
/* That node (NULL: all) will hear that `about` is gone, perhaps before its crash report: sends the
 * report now. */
void poison_tell (Node *node, const NodeId *to, const NodeId *about);
/* … for all dead members. */
void poison_tell_dead (Node *node, const NodeId *to);
/* This member is gone, and with it this loan. */
void poison_lost (Node *node, const Member *member, const LoanEntry *entry);
/* How many holders of this job have died without a report soon after they took it. */
guint poison_count_quiet (Node *node, const char *path);
/* The last crash report ends the run. */
void poison_end (Node *node);
/* This node is master: ends the run if the crash reports suffice. TRUE: it has. */
gboolean poison_judge (Node *node);
/* (transfer full) (nullable): why the run ends, for people; NULL: the crash reports do not
 * suffice. */
char *poison_sentence (Node *node);
