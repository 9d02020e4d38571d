/* SPDX-License-Identifier: BSD-3-Clause */
/* The members, eldest first, under a term and a version. Only the master changes the roster; of two
 * rosters the one with the newer (term, version) holds. The eldest member is master; when all its
 * elders are proved dead, the next one opens a new term. A node that meets a newer roster without
 * itself was falsely accused and rejoins. Driver's thread. */
#pragma once

#include "carry.h"

/* The last report of a member about its work (work.h): computing time spent, the part at risk (if
 * all nodes died), and how many seats were at work. */
typedef struct
{
  guint64 told_us; /* 0: never */
  guint64 work_us, risk_us;
  guint64 alone_us; /* work that the death of that node alone would lose */
  guint32 busy;
} WorkTold;

/* How a member's death was proved to this node. */
typedef enum
{
  DEATH_NONE,
  DEATH_PROVED,  /* by an answer that only its own host can give; it is not dialled again */
  DEATH_REFUSED, /* its address refuses, and no member has a link to it */
  DEATH_SILENT,
  DEATH_LEFT /* it said that it goes */
} Death;

/* What this node knows of a member, from the roster that first names it to the first that does not.
 * The Member stays the same when the roster changes, so state that must survive a change belongs
 * here. The upper part comes from the master and never changes. */
struct Member
{
  NodeId id;
  char *address, *host, *site;
  guint32 pid, workers;

  Carry carry;
  GPtrArray *links; /* of Link, borrowed: those that are bound, by order */
  guint64 heard_us;
  gboolean contact;       /* this node keeps a link to it, see contacts.h */
  Death dead;             /* proved dead here, but still on the roster */
  guint64 told_over;      /* the link over which its death was last told; 0: none */
  gboolean answered;      /* its address has answered once */
  guint64 refused_us;     /* since when its address refuses; 0: the last dial was not refused */
  guint dial_failures;    /* in a row, without a direct link */
  guint64 seek_at_us;     /* when others are asked for it, if there is no link */
  guint64 accused_us;     /* master: since when others hear nothing from it; 0: they do */
  guint64 accused_last_us; /* … and when they last said so */
  guint64 dial;           /* under way; 0: none */
  guint64 dial_at_us;     /* next try while no link is up */
  guint64 dialled_us;     /* last try */
  guint64 unfit_until_us; /* it failed as coordinator, and is no candidate until then */
  gboolean knows_us;      /* a frame of its session came, so its roster has this node */
  gboolean leaving;       /* it leaves, and takes and gives no more work */
  gboolean heard;         /* it knows that this node leaves */
  guint64 scanned;        /* the last round for which it has sent all that was asked for */
  guint32 request;        /* number of its last request for a round */
  guint32 told_events;    /* number of the lease in which it has told all its events */
  WorkTold told;          /* its last report of its work */
  WorkTold root;          /* … and of main's root, if it runs that … */
  guint32 root_number;    /* … of this number */
};

#define ROSTER_CHANGES_MAX 1024       /* kept to be told on */
#define ROSTER_ASK_US (250 * 1000)    /* a version that others have is waited for so long */
#define ROSTER_GATHER_US (100 * 1000) /* members that die together are one change of the roster */
#define ROSTER_TELL_US (250 * 1000)   /* the master is given this long to find out itself */

typedef struct
{
  Term term; /* opened by its master */
  guint64 version;
  gboolean leapt;     /* the roster before was of another term */
  GPtrArray *members; /* of Member, eldest first; empty until joined */
  guint32 next_number;
  guint32 term_seen;   /* greatest term number ever met */
  GArray *gone;        /* of NodeId: members that left since this node got its name */
  GArray *lost;        /* of NodeId: the members when it lost its earlier name, itself included */
  GPtrArray *changes;  /* of Change: the last ones of this term, up to `version` */
  guint64 behind;      /* … but another node has this version … */
  guint64 behind_link; /* … as it said over this link, … */
  guint64 ask_us;      /* … and will be asked for it then; CORE_NEVER: it will not */
  guint64 gather_us;   /* the master waits until then for members that died together with the known
                          dead */
  guint64 tell_us;     /* when the master is told of dead members */
} Roster;

void roster_init (Node *node);

/* Starts a run, or continues it when no other node is left: a new term with this node alone. */
void roster_found (Node *node);
Member *roster_find (Node *node, const NodeId *id);
/* (nullable): among these, sorted by age. Ids must grow from call to call; `at`: 0 at first, the
 * position of the search. */
Member *roster_find_next (const GPtrArray *members, guint *at, const NodeId *id);
/* (nullable): the eldest. */
Member *roster_master (Node *node);
/* (nullable): the eldest member that is not proved dead, the next master. */
Member *roster_acting (Node *node);
gboolean roster_is_master (Node *node);
/* TRUE: `member` (nullable) is this node. */
gboolean roster_is_self (const Node *node, const Member *member);
/* This node heard of this term. */
void roster_reassert (Node *node, const Term *heard);
/* TRUE: the message's roster kept a member that this node had given up. The session goes on there,
 * but this node has forgotten its end. */
gboolean roster_names_gone (Node *node, const Message *message);
void roster_on_message (Node *node, Link *link, const Message *message);
void roster_on_welcome (Node *node, Link *link, const Message *message);
/* TRUE: the member is at this node's site. */
gboolean roster_is_near (const Node *node, const Member *member);
/* TRUE: the member lives on this host. Private networks overlap: the same address on another host
 * belongs to another node, and proves nothing. */
gboolean roster_is_host (const Member *member, const char *host);
/* The master admits these newcomers (of MessageMember), which get their ids. */
void roster_admit (Node *node, GArray *newcomers);
/* Fills a ROSTER (or WELCOME) message; its arrays are released with message_clear. */
void roster_fill (Node *node, Message *message);
/* After a member was proved dead: the master drops it, the next eldest takes over, others tell. */
void roster_on_dead (Node *node);
/* Tells again, if there are such members: a new roster still names them, or a new link leads to the
 * node to tell. `again`: also deaths that were told over the same link. */
void roster_retell (Node *node, gboolean again);
/* The master removes all dead members. */
void roster_drop_dead (Node *node);
/* If this node is not master already, all its elders are dead: opens a new term, in which it is the
 * eldest. */
void roster_take_over (Node *node);
/* Takes `members`, which contains this node, as that version. */
void roster_replace (Node *node, const Term *term, guint64 version, GPtrArray *members);
/* (transfer full) */
GPtrArray *roster_new_members (void);
/* (transfer full): a living member to which nothing was told yet. */
Member *roster_new_member (Node *node, const MessageMember *from);
MessageMember roster_item (const Member *member);
/* The roster was `old` before; `next`: the present one is the next version of the same term. */
void roster_changed (Node *node, GPtrArray *old, gboolean next);
/* Sends the whole present roster, unless the other end got it over this link. */
void roster_send (Node *node, Link *link);
/* Sends over this link the changes since the version that this node named there. */
void roster_catch_up (Node *node, Link *link);
/* Says which version this node has; `ask`: the other end is to send what this node lacks. */
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
