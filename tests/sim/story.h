/* SPDX-License-Identifier: BSD-3-Clause */
/* The story of one simulated run: lines for a reader, and commands that decide when the faults of
 * the plan strike. tests/scenarios/README describes the lines. The functions with a Sim do nothing
 * in a run without a story. */
#pragma once

#include "sim-private.h"

typedef enum
{
  STORY_UNTIL, /* Go on until a line contains `text`. The search begins after the line that the last
                * such command found. */
  STORY_FAULT, /* Strike the next fault of the plan at the node named `text`. */
  STORY_END    /* Go on until the run ends. */
} StoryKind;

typedef struct
{
  StoryKind kind;
  char *text;
  gboolean skips; /* The lines before the line found are left out. */
  guint section;  /* The section of the lines that follow, counted from 0. */
  guint at;       /* The line in the file, for messages. */
} StoryCommand;

typedef struct
{
  guint section;
  gboolean skipped; /* It is left out. */
  gboolean lost;    /* A message that never arrived. */
  char *text;
} StoryLine;

struct Story
{
  GArray *commands;   /* Of StoryCommand, in their order. */
  guint next;         /* The present command. */
  guint seen;         /* Lines that a command has searched. */
  guint n_faults;     /* Faults that have struck. */
  GHashTable *hidden; /* Names of messages, and other words, whose lines are left out. */
  GArray *lines;      /* Of StoryLine. */
  GHashTable *sent;   /* Under way: order of the Happen to number of the line. */
  GHashTable *dials;  /* Numbers of a process and its dial to the dialled process. */
  guint64 rosters[SIM_NODES_MAX]; /* Of each process: the roster changes seen so far. */
  char *wrong;                    /* What went wrong with a command; NULL: nothing. */
};

void story_init (Story *story);
void story_clear (Story *story);
/* Hides a word or shows it again. FALSE: there is no such word. */
gboolean story_hide (Story *story, const char *word, gboolean hidden);

/* Carries out the commands that are due; called between two events. */
void story_go_on (Sim *sim);
/* `order`: of the Happen that will deliver the message; 0: the message is lost at once. */
void story_sent (Sim *sim, const Process *from, const Process *to, const GPtrArray *parts,
                 guint64 order);
/* This Happen has no effect. */
void story_lost (Sim *sim, const Happen *happen);
void story_event (Sim *sim, const Process *process, const NodeEvent *event);
void story_effect (Sim *sim, const Process *process, const NodeEffect *effect);
void story_job (Sim *sim, const Process *process, const char *verb, guint32 job);
void story_started (Sim *sim, const Process *process);
void story_ended (Sim *sim, const Process *process, FaultKind how);
