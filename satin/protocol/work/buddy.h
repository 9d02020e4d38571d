/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection in memory (paper 002). Each member's rows go to one other member, its buddy: at
 * another site if there is one, else on another host, else any; in plan `buddy` the next one in the
 * ring of all members. So a crash costs only the work since the last scan, with a checkpoint or
 * without, and no node has to read a disk. When a member is gone, its buddy offers its rows like
 * those of a checkpoint (archive.h), and a slot that the dead member held waits until they are
 * offered (rerun.h).
 *
 * A result from another node is not acknowledged before it stands at the buddy: until then its
 * sender keeps it, and offers it if this member dies. So there are two copies of a job's result: at
 * the holder and in the slot, then in the slot and at the buddy. There is one if this node has no
 * buddy, or if more than BUDDY_ACKS_MAX results wait. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

typedef struct Member Member;

/* The time between two scans, at least. */
#define BUDDY_SCAN_US (200 * 1000)
/* When this many more rows were sent than the last whole scan had, another whole scan replaces
 * them. */
#define BUDDY_ROWS_MORE 4096
/* The same for bytes. A new kept state stands beside the old ones of its job until then. */
#define BUDDY_BYTES_MORE ((guint64)16 << 20)
/* At most this many results, and bytes of results, wait for their acknowledgement; then the oldest
 * is acknowledged. */
#define BUDDY_ACKS_MAX 1024
#define BUDDY_ACKS_BYTES ((gsize)64 << 20)
/* A buddy that is too slow gets no rows for this time, twice as long each time. */
#define BUDDY_PAUSE_MIN_US (5 * G_USEC_PER_SEC)
#define BUDDY_PAUSE_MAX_US (320 * G_USEC_PER_SEC)
#define BUDDY_ELDERS_MAX 8 /* masters that died one after the other, whose buddies are asked */

typedef enum
{
  BUDDY_NONE,   /* there is no other member, or another plan */
  BUDDY_CHOSEN, /* nothing was sent to it yet */
  BUDDY_FILLING,
  BUDDY_FULL /* the buddy has all rows up to the last mark that it confirmed */
} BuddyState;

/* A member that is gone, and the member that has its rows. */
typedef struct
{
  NodeId id, buddy;
} BuddyPair;

typedef struct
{
  BuddyState state;
  NodeId id;                  /* of the buddy */
  NodeId before;              /* the buddy before it, which still has all rows; none: no member
                                 has */
  guint64 pause_us, again_us; /* CHOSEN: no rows go there until then, since it was too slow */
  guint64 rosters;            /* number of the roster for which it was chosen */
  guint64 whole_scan;         /* the whole scan under way; 0: none */
  guint64 rows, rows_whole;   /* rows sent since the last BEGIN; of these, up to WHOLE; … */
  guint64 bytes, bytes_whole; /* … and their bytes (rows_bytes) */
  guint64 marks;              /* sent so far, to any member */
  gboolean news;              /* rows were sent since the last one */
  GQueue unconfirmed;         /* of BuddyMark */
  guint scans;                /* of these, marks at the end of a scan */
  guint64 served;             /* the last scan whose rows were all sent */
  guint64 confirmed_us;       /* of Work.reported_us */
  GQueue acks;                /* of BuddyAck, oldest first */
  gsize acks_bytes;
  GPtrArray *wards;  /* of BuddyWard: members whose buddy this node is */
  GArray *elders;    /* of BuddyPair: older members that left, the last BUDDY_ELDERS_MAX of them */
} Buddy;

void buddy_init (Node *node);
void buddy_wards_init (Node *node);
/* After each step: chooses the buddy, and begins when it can be reached. */
void buddy_settle (Node *node);
/* TRUE: rows can go to a buddy. */
gboolean buddy_takes (Node *node);
/* TRUE: the next scan has to be of all rows. */
gboolean buddy_wants_whole (Node *node);
/* A scan was ordered; it has this number. */
void buddy_on_scan (Node *node, guint64 scan, gboolean whole);
void buddy_on_rows (Node *node, GPtrArray *rows);
void buddy_on_served (Node *node, guint64 scan);
/* The sum of the work of reported rows up to which they stand at the buddy. */
guint64 buddy_confirmed_us (Node *node);
/* TRUE: this result is in its slot and will be acknowledged later. */
gboolean buddy_acknowledges (Node *node, const NodeId *holder, guint64 loan, gsize bytes);
/* Plan cut: so will this one, when the epoch ends, which buddy_acknowledge_all says. */
void buddy_acknowledge_later (Node *node, const NodeId *holder, guint64 loan);
void buddy_acknowledge_all (Node *node);
/* This member leaves. */
void buddy_on_leaving (Node *node, const NodeId *id);
/* Sets `pair` to this member and the member that has its rows, if any. FALSE: none can have
 * them. */
gboolean buddy_of (Node *node, const Member *member, BuddyPair *pair);
void buddy_on_copy (Node *node, const NodeId *from, const Message *message);
void buddy_on_copied (Node *node, const NodeId *from, const Message *message);
/* Sends one row (nullable: none) to a buddy that has all others. Returns its mark, of which
 * holdback_confirmed hears when the buddy has it; 0: it was not sent. */
guint64 buddy_send_row (Node *node, const Row *row);
/* TRUE: this node, as a buddy, has a row of this result from that member. For tests. */
gboolean buddy_keeps (Node *node, const NodeId *ward, const char *path, const Digest *digest);
/* Bytes of memory that rows and results (mirror.h) of other members take up here. */
gsize buddy_kept_bytes (Node *node);
/* TRUE: this node, as a buddy, has rows of that member. */
gboolean buddy_has_rows_of (Node *node, const NodeId *ward);
/* A member is gone: offers its rows, if they are here (directory.h). */
void buddy_wards_offer (Node *node, const NodeId *gone);
void buddy_wards_check (Node *node);
/* A member leaves the roster. */
void buddy_departed (Node *node, const Member *member);
/* This node lost its name. */
void buddy_reset (Node *node);
void buddy_check (Node *node);
