/* SPDX-License-Identifier: BSD-3-Clause */
/* The members, eldest first, under a term and a version. Only the master changes the roster; of two
 * rosters the one with the newer (term, version) holds. The eldest member is master; when all its
 * elders are proved dead, the next one opens a new term. A node that meets a newer roster without
 * itself was falsely accused and rejoins. Driver's thread. */
#pragma once

#include "carry.h"

/* What a member says of its work (work.h), as last told: computing time spent, of it at risk (if
 * all nodes died), and how many seats were at work. */
typedef struct
{
  guint64 told_us; /* 0: never */
  guint64 work_us, risk_us;
  guint64 alone_us; /* what would be lost if only that node were */
  guint32 busy;
} WorkTold;

/* What this node knows of a member, from the roster that first names it to the first that does not.
 * Rosters come and go, the Member stays the same: what is to survive a change of the roster goes in
 * here. The upper part is told by the master and never changes. */
struct Member
{
  NodeId id;
  char *address, *host, *site;
  gboolean elsewhere; /* at another site than this node */
  guint32 pid, workers;

  Carry carry;
  GPtrArray *links; /* of Link, borrowed: those that are bound, by order */
  guint64 heard_us;
  gboolean contact;       /* this node keeps a link to it, see contacts.h */
  gboolean dead;          /* proved here, not yet off the roster */
  gboolean silent;        /* … by silence only */
  gboolean proved;        /* … beyond doubt: it is not looked for again */
  guint64 told_over;      /* the link over which its death was told last; 0: it was not */
  gboolean answered;      /* its address did, once */
  guint64 refused_us;     /* since when its address refuses; 0: the last dial was not refused */
  guint dial_failures;    /* in a row, without a direct link */
  guint64 seek_at_us;     /* others are asked then, if there is no link */
  guint64 accused_us;     /* master: since when others hear nothing of it; 0: they do */
  guint64 dial;           /* under way; 0: none */
  guint64 dial_at_us;     /* next try while no link is up */
  guint64 dialled_us;     /* last try */
  guint64 unfit_until_us; /* it could not be coordinator */
  gboolean knows_us;      /* something came of its session, so this node is a member for it */
  gboolean leaving;       /* it goes, and takes and gives no work any more */
  gboolean heard;         /* knows that this node leaves */
  gboolean drained;       /* has sent all it has (suspend) */
  gboolean scanned;       /* has sent all it had (a round) */
  guint32 request;        /* the last round that it asked for */
  guint32 told_events;    /* the coordinator of this number: it has told all its events … */
  guint64 told_question;  /* … when it was asked so */
  WorkTold told;          /* what it says of its work */
  WorkTold root;          /* … and of main's root, if it has that … */
  guint32 root_number;    /* … of this number */
};

#define ROSTER_CHANGES_MAX 1024       /* kept to be told on */
#define ROSTER_ASK_US (250 * 1000)    /* a version that others have is waited for so long */
#define ROSTER_GATHER_US (100 * 1000) /* members that die together are one change of the roster */
#define ROSTER_TELL_US (250 * 1000)   /* the master is given this long to find out itself */

typedef struct
{
  Term term;
  guint64 version;
  gboolean leapt;     /* the roster before was of another term */
  GPtrArray *members; /* of Member, eldest first; empty until joined */
  guint32 next_number;
  guint32 term_seen;   /* greatest term number ever met */
  gboolean mastering;  /* main was called here and not deposed */
  GArray *gone;        /* of NodeId: who left since this node has its name */
  GArray *lost;        /* of NodeId: the members when it lost the one before, itself too */
  GPtrArray *changes;  /* of Change: the last ones of this term, up to `version` */
  guint64 behind;      /* … but somebody has this version … */
  guint64 behind_link; /* … as it said over this link, … */
  guint64 ask_us;      /* … and is asked then; CORE_NEVER: nobody is */
  guint64 gather_us;   /* the master waits until then for others that die with those who did */
  guint64 tell_us;     /* the master is told then of those that died */
} Roster;

void roster_init (Node *node);
void roster_done (Node *node);

/* Starts a run, or goes on with it when nobody else is left: a new term with this node alone. */
void roster_found (Node *node);
Member *roster_find (Node *node, const NodeId *id);
/* (nullable): among these, which stand by age. Of one call to the next ids grow; `at`: 0 at first,
 * where the search goes on. */
Member *roster_find_next (const GPtrArray *members, guint *at, const NodeId *id);
/* (nullable): the eldest. */
Member *roster_master (Node *node);
/* (nullable): the eldest that is not proved dead; who it will be. */
Member *roster_acting (Node *node);
gboolean roster_is_master (Node *node);
/* Somebody here speaks of this term. */
void roster_reassert (Node *node, const Term *heard);
/* Others kept somebody whom this node had given up: the sessions with this node go on there, and
 * this node has forgotten its end. */
gboolean roster_names_gone (Node *node, const Message *message);
void roster_on_message (Node *node, Link *link, const Message *message);
void roster_on_welcome (Node *node, Link *link, const Message *message);
/* Does it live on this host? Private networks overlap: the same address on another host is another
 * node's, and proves nothing. */
gboolean roster_is_host (const Member *member, const char *host);
/* The master takes in these newcomers (of MessageMember), which get their ids. */
void roster_admit (Node *node, GArray *newcomers);
/* Fills a ROSTER (or WELCOME) message; its arrays are released with message_clear. */
void roster_fill (Node *node, Message *message);
/* After a member was proved dead: the master drops it, the next eldest takes over, others tell. */
void roster_on_dead (Node *node);
/* The same, when there are such members: a new roster still names them, or a new link leads to the
 * one to tell. `again`: also what was told over the same link. */
void roster_retell (Node *node, gboolean again);
/* The master takes off all that are dead. */
void roster_drop_dead (Node *node);
/* All elders are dead, if this node is not master already: a new term, in which it is the eldest.
 */
void roster_take_over (Node *node);
/* Takes `members`, which holds this node, as that version. */
void roster_replace (Node *node, const Term *term, guint64 version, GPtrArray *members);
/* (transfer full) */
GPtrArray *roster_new_members (void);
/* (transfer full): alive, with everything still to be told. */
Member *roster_new_member (Node *node, const MessageMember *from);
MessageMember roster_item (const Member *member);
/* The roster was `old`; `next`: this is the next version of the same term. */
void roster_changed (Node *node, GPtrArray *old, gboolean next);
/* The present roster, all of it, unless the other end was told that over this link. */
void roster_send (Node *node, Link *link);
/* Tells over this link what has changed since this node said there what it has. */
void roster_catch_up (Node *node, Link *link);
/* Says which version this node has; `ask`: it is to be told what it lacks. */
void roster_say (Node *node, Link *link, gboolean ask);
void roster_on_have (Node *node, Link *link, const Message *message);
void roster_on_change (Node *node, Link *link, const Message *message);
GPtrArray *roster_new_changes (void);
/* … if the time for that has come. */
void roster_ask (Node *node);
void roster_settle (Node *node);
guint64 roster_due (Node *node);
void roster_tick (Node *node);
GArray *roster_view (Node *node);
void roster_check (Node *node);
