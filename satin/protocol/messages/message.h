/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between nodes, and their bytes: a prelude (kind, sizes), one header in GVariant's
 * little-endian bytes whose type the kind fixes, then raw attachments (arguments, values), which
 * are never parsed; zeros before the first one align it. Pure. Decoding trusts nothing: every size
 * is checked before it is used, the header must be in normal form, and each field keeps the rule of
 * its shape (message-fields.h), which the encoder checks as well. */
#pragma once

#include "coordinator/election.h"
#include "value/loan.h"
#include "value/node-id.h"
#include "value/path.h"
#include "value/record.h"

#include <glib.h>

#define MESSAGE_VERSION 34 /* of the whole vocabulary; unequal versions do not talk */
#define MESSAGE_HEADER_MAX (16u * 1024 * 1024) /* bytes of a header */
#define MESSAGE_ITEMS_MAX 8192u                /* loans, rows, holds, attachments in one message */
#define MESSAGE_NUMBERS_MAX 65536u             /* in one WORK */
#define MESSAGE_SPEAKS_MAX RECORD_SHARED_MAX   /* shared bytes spoken of in one message */
#define MESSAGE_HOLDS_NOTHING G_MAXUINT32
#define MESSAGE_MEMBERS_MAX 1024u
#define MESSAGE_TEXT_MAX 4096u /* bytes of an address, host, site or name */

/* The kinds; messages.def explains each. */
typedef enum
{
  MESSAGE_NO_KIND,
#define F(...)
#define MESSAGE(kind, ...) MESSAGE_##kind,
#include "messages.def"
  MESSAGE_KINDS
} MessageKind;

/* The properties of each kind in messages.def, which explains them. */
typedef enum
{
  MESSAGE_ORDERED,
  MESSAGE_PASSING,
  MESSAGE_URGENT
} MessageClass;

typedef enum
{
  MESSAGE_LAYER_MESH,
  MESSAGE_LAYER_WORK,
  MESSAGE_LAYER_CONTROL
} MessageLayer;

typedef enum
{
  MESSAGE_FROM_ANYBODY,
  MESSAGE_FROM_RUN,
  MESSAGE_FROM_MEMBER,
  MESSAGE_FROM_COORDINATOR
} MessageFrom;

typedef enum
{
  MESSAGE_TO_ALL,
  MESSAGE_TO_MASTER,
  MESSAGE_TO_COORDINATOR
} MessageTo;

/* What a COPY is. */
typedef enum
{
  BUDDY_ROWS,  /* some rows; `mark` above 0: confirm these and all before them */
  BUDDY_BEGIN, /* from here on all rows come again */
  BUDDY_WHOLE, /* these were all: older ones may go */
  BUDDY_DROP,  /* another member is the buddy now */
  BUDDY_HAND   /* the sender leaves: the receiver is to offer these rows now, and to save them */
} BuddyPhase;

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
  guint32 finished; /* as in Holder, or MESSAGE_HOLDS_NOTHING: at this path */
} MessageHold;

/* Item number `item` of a message (of its rows; 0: its value) refers to these shared bytes. */
typedef struct
{
  guint32 item;
  Digest digest;
  guint64 length;
} MessageSpeaks;

/* One message. It uses the members that messages.def lists for its kind, with the meaning given
 * there. A message made with designated initialisers borrows everything. A decoded message owns its
 * arrays, its value and `frame`, into which its texts point and in which it begins at `start`;
 * message_clear clears it. */
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
  GPtrArray *shares; /* of SatinShared: the shared bytes that the value refers to; rows have their
                        own */
  GArray *speaks;    /* of MessageSpeaks, in a decoded message; see shares.h */
  GPtrArray *loans;  /* of Loan */
  GPtrArray *rows;   /* of Row */
  GArray *members;   /* of MessageMember */
  GArray *ids;       /* of NodeId */
  GArray *holds;     /* of MessageHold */
  GArray *numbers;   /* of guint64 */
  GBytes *frame;
  gsize start;
} Message;

#define MESSAGE_ERROR (message_error_quark ())
GQuark message_error_quark (void);
typedef enum
{
  MESSAGE_ERROR_MALFORMED /* close the link it came from */
} MessageError;

/* (transfer full): the parts (GBytes) that make the message together; attachments are not copied. A
 * field that the decoder would refuse ends the program; a text that is too long is cut. */
GPtrArray *message_encode (const Message *message);
/* The same with `room` bytes, a multiple of 8, before the message in the first part, for the
 * caller. */
GPtrArray *message_encode_behind (const Message *message, gsize room);
/* Fills `message`. FALSE: malformed; `message` is all zero then. */
gboolean message_decode (GBytes *bytes, Message *message, GError **error);
/* The same for a message that begins at `start`. */
gboolean message_decode_at (GBytes *bytes, gsize start, Message *message, GError **error);
void message_clear (Message *message);
/* The kind by the first bytes; not checked. */
guint32 message_kind_of (GBytes *bytes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Message, message_clear)
/* TRUE: the message refers to shared bytes. */
gboolean message_speaks (const Message *message);
/* TRUE: each path in the message is good. Stops at the first that is not. */
gboolean message_all_paths (const Message *message,
                            gboolean (*is_good) (const char *path, gpointer data), gpointer data);
const char *message_kind_name (MessageKind kind);
MessageClass message_class (MessageKind kind);
/* `kind` must be a valid kind. */
MessageLayer message_layer (MessageKind kind);
MessageFrom message_from (MessageKind kind);
MessageTo message_to (MessageKind kind);
/* TRUE for kinds such as heartbeats and steals, which do not wait for large values that were sent
 * before them. Their order relative to other kinds does not matter; kinds that decide who holds a
 * job stay in order. */
gboolean message_is_urgent (MessageKind kind);
