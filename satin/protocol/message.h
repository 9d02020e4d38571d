/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes say to each other, and its bytes: a prelude (kind, sizes), one header in GVariant's
 * little-endian bytes whose type the kind fixes, then raw attachments (arguments, values; zeros
 * before the first one align it), which are never walked. Pure. Decoding trusts nothing: every size
 * is checked before it is used, the header must be in normal form, paths canonical, counts below a
 * named limit. Must not know what a message is for. */
#pragma once

#include "coordinator/election.h"
#include "value/loan.h"
#include "value/node-id.h"
#include "value/path.h"

#include <gio/gio.h>

#define MESSAGE_VERSION 19 /* of the whole vocabulary; unequal versions do not talk */
#define MESSAGE_HEADER_MAX (16u * 1024 * 1024) /* bytes of a header */
#define MESSAGE_ITEMS_MAX 8192u                /* loans, rows, holds, attachments in one message */
#define MESSAGE_NUMBERS_MAX 65536u             /* in one HOLDING or WORK */
#define MESSAGE_SPEAKS_MAX (1u << 20)          /* shared bytes spoken of in one message */
#define MESSAGE_MEMBERS_MAX 1024u
#define MESSAGE_TEXT_MAX 4096u /* bytes of an address, host, site or name */

typedef enum
{
  MESSAGE_HELLO = 1, /* number (version), digest (program), id (or none), text (address), host
                        (build of the program): first on each link */
  MESSAGE_JOIN,    /* text (address), host, site, number (pid), count (workers), flag (the launcher
                      wants me, or I was a member before) */
  MESSAGE_WELCOME, /* id (yours), term, version, members */
  MESSAGE_ROSTER,  /* term, version, members */
  MESSAGE_PING,
  MESSAGE_GONE,     /* id, flag (silent; else its address refused a dial) */
  MESSAGE_STEAL,    /* number (request), count */
  MESSAGE_JOBS,     /* number (request; 0: none), flag (others of this reply follow; without a
                       request: to run alone, or not at all), loans */
  MESSAGE_NONE,     /* number (request) */
  MESSAGE_RESULT,   /* number (loan), path, digest, work_us, risk_us (of it, in no row), value,
                       shares */
  MESSAGE_ACK,      /* number (loan): its result is in its slot */
  MESSAGE_VAIN,     /* number (loan): not awaited, or not any more (its child was aborted): stop and
                       drop what you hold for it */
  MESSAGE_RETURNED, /* number (loan): goes back unrun; flag (it came home, see loans.h) */
  MESSAGE_HOLDING,  /* numbers: the loans that I hold of yours; flag (others of them follow) */
  MESSAGE_RECONCILE, /* a link to you is lost: say again what may be lost with it */
  MESSAGE_HOLD,      /* holds: I hold these orphans */
  MESSAGE_UNHOLD,    /* path: not any more */
  MESSAGE_ADOPT,     /* number (loan), path, digest: return that orphan to me */
  MESSAGE_MISS,      /* number (loan): I do not hold it for you */
  MESSAGE_COVERED,   /* path: finished or aborted here */
  MESSAGE_START,     /* digest: of all constants */
  MESSAGE_WANT,      /* send me the constants */
  MESSAGE_CONSTANTS, /* digest, constants: all of them */
  MESSAGE_SAVE,  /* rows, number (reported_us, see work.h; 0: more rows follow), count (office) */
  MESSAGE_SAVED, /* number (of reported_us, so much is published), version (in this generation),
                    count (office) */
  MESSAGE_WORK,  /* work_us, risk_us, count (busy seats), numbers (see work.h) */
  MESSAGE_EVENT, /* text (kind), id, path, work_us, host (detail): a row of the ledger; number
                    (among mine), version (so long ago, in us), count (office) */
  MESSAGE_REPORTED,  /* number (office): those were all that I keep */
  MESSAGE_NOTED,     /* count (office), number (up to this one your events are published); 0: term,
                        version (what the rosters up to this one tell is) */
  MESSAGE_PUBLISH,   /* number (patience): begin a round */
  MESSAGE_SCAN,      /* number (round) */
  MESSAGE_SCANNED,   /* number (round) */
  MESSAGE_PUBLISHED, /* number (generation), flag (it failed): a round is over */
  MESSAGE_BEST,      /* count (which), value */
  MESSAGE_SUSPEND,   /* number (patience) */
  MESSAGE_CANCEL,
  MESSAGE_HALT,
  MESSAGE_DRAINED, /* id, count (office): this one has sent all; the coordinator passes it on */
  MESSAGE_END,     /* number (exit code), flag (main has given it) */
  MESSAGE_STEM,    /* text (id), path: before the first path that continues it */
  MESSAGE_MORE,    /* I refused you and have work now */
  MESSAGE_TRIAL,   /* number (election): time a commit */
  MESSAGE_BID,     /* number (election), version (the generation that stands there), work_us (the
                      commit), flag (it failed), text (why) */
  MESSAGE_OFFICE,  /* id (coordinator), term, count (office), version (the newest generation
                     known of), flag (I am it and have taken over) */
  MESSAGE_ELECT,  /* count (office), flag (I cannot hold it; else I have become slow), text (why) */
  MESSAGE_CLOSE,  /* count (request), number (exit code), flag (there is an answer), value (it):
                     publish for the last time */
  MESSAGE_CLOSED, /* count (request), number (generation), flag (it failed) */
  MESSAGE_LEAVE,  /* number (patience): people want you to leave */
  MESSAGE_RELEASE,    /* may I leave? */
  MESSAGE_RELEASED,   /* flag (no) */
  MESSAGE_LEAVING,    /* nothing new starts here: offer what you run for me as orphans */
  MESSAGE_HEARD,      /* LEAVING is done */
  MESSAGE_HAND,       /* number (batch), rows: offer these, I leave */
  MESSAGE_HANDED,     /* number (batch), flag (no, I leave too) */
  MESSAGE_GOODBYE,    /* I am gone: number (us lost with me), flag (jobs still ran) */
  MESSAGE_LAST_WORDS, /* id (of a node that is gone by now), path, text: what it died of */
  MESSAGE_SEEK,       /* id: do you have a link to this one? I have none. If so, let it dial me */
  MESSAGE_SOUGHT,     /* id, flag (yes), count (nodes between us and it, were you to pass on) */
  MESSAGE_CALL,       /* id: this one cannot dial you, so dial it */
  MESSAGE_ROUTE,      /* number, flag (to you; else pass it on), id (to whom; or from whom, none: no
                         member): what follows under this number is as if it came over a link */
  MESSAGE_CARGO,   /* number, flag (I gave that number; else you did), version (bytes of the message
                      that follow), value: a piece of one message */
  MESSAGE_HASTE,   /* the same, of an urgent message */
  MESSAGE_CREDIT,  /* number, flag, version: so many bytes have come to their end, in all */
  MESSAGE_UNROUTE, /* number, flag: is no more, or never was */
  MESSAGE_FETCH,   /* digest: send me these shared bytes */
  MESSAGE_BYTES,   /* digest, flag (they are not here), value */
  MESSAGE_REFUSED, /* the run is closed: who joins must be wanted */
  MESSAGE_TAKEN,   /* the first of your messages that speak of shared bytes and are not taken yet:
                      I have them all */
  MESSAGE_RUNS,    /* path, digest: I run this for a lender, you as an orphan: yield */
  MESSAGE_DISOWN,  /* number (loan): its lender has yielded: offer what you hold for it */
  MESSAGE_SPARE,   /* number: another link is better; see spare.h */
  MESSAGE_RERUN,   /* number (loan), path: it is to run again: offer the rows at or below it */
  MESSAGE_TOLD,    /* number (loan), path: these rows are offered now */
  MESSAGE_CHECKPOINT, /* text (place): the run has a checkpoint there from now on */
  MESSAGE_KINDS
} MessageKind;

typedef struct
{
  NodeId id;
  const char *address, *host, *site;
  guint32 pid, workers;
} MessageMember;

typedef struct
{
  const char *path;
  Digest digest;
  guint32 finished; /* as in Holder */
} MessageHold;

typedef struct
{
  const char *name;
  GBytes *value;
} MessageConstant;

/* Item number `item` of a message (of rows; 0: its value) speaks of these shared bytes. */
typedef struct
{
  guint32 item;
  Digest digest;
  guint64 length;
} MessageSpeaks;

/* One message. Made with designated initialisers it borrows everything; a decoded one owns its
 * arrays, its value and `frame`, into which its texts point, and is cleared with message_clear. */
typedef struct
{
  MessageKind kind;
  NodeId id;
  Term term;
  guint64 number, version, work_us, risk_us;
  guint32 count;
  gboolean flag;
  Digest digest;
  const char *text, *host, *site, *path;
  GBytes *value;
  GPtrArray *shares; /* of SatinShared: what the value speaks of; rows have their own */
  GArray *speaks;    /* of MessageSpeaks, in one that was decoded; see shares.h */
  GPtrArray *loans;  /* of Loan */
  GPtrArray *rows;   /* of Row */
  GArray *members;   /* of MessageMember */
  GArray *holds;     /* of MessageHold */
  GArray *numbers;   /* of guint64 */
  GArray *constants; /* of MessageConstant */
  GBytes *frame;
} Message;

#define MESSAGE_ERROR (message_error_quark ())
GQuark message_error_quark (void);
typedef enum
{
  MESSAGE_ERROR_MALFORMED /* close the link it came from */
} MessageError;

/* (transfer full): the parts (GBytes) that make the message together; attachments are not copied.
 */
GPtrArray *message_encode (const Message *message);
/* Fills `message`. FALSE: malformed; `message` is all zero then. */
gboolean message_decode (GBytes *bytes, Message *message, GError **error);
void message_clear (Message *message);
/* What it would be decoded to; not checked. */
guint32 message_kind_of (GBytes *bytes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Message, message_clear)
/* Does it speak of shared bytes? */
gboolean message_speaks (const Message *message);
/* Calls `each` for every path in it. */
void message_each_path (const Message *message, void (*each) (const char *path, gpointer data),
                        gpointer data);
const char *message_kind_name (MessageKind kind);
/* Heartbeats and steals do not wait for large values that were sent before them. Their place among
 * the other kinds means nothing: those that settle who holds what stay in order. */
gboolean message_is_urgent (MessageKind kind);
