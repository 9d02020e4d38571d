/* SPDX-License-Identifier: BSD-3-Clause */
/* The shapes of message fields: for each its bytes, its writer and reader, and the rule that its
 * value keeps, which holds for the writer as for the reader. Included by the files that go over the
 * fields of all kinds: message.c, and tests. */
#pragma once

#include "message.h"

#include "value/pack.h"

typedef enum
{
  SHAPE_FLAG,
  SHAPE_U32,
  SHAPE_U64,
  SHAPE_WORD,     /* a number below 2^32 in a 64-bit member */
  SHAPE_POSITIVE, /* a number above 0 */
  SHAPE_PART,     /* a number that is not above work_us of the same message */
  SHAPE_WEIGHT,   /* 0 to 1 */
  SHAPE_DIGEST,
  SHAPE_ID,
  SHAPE_TERM,
  SHAPE_TEXT,     /* for people: the writer cuts it at MESSAGE_TEXT_MAX, NULL is empty */
  SHAPE_NAME,     /* a text that must not be cut */
  SHAPE_PATH,     /* canonical */
  SHAPE_VALUE,    /* the next attachment; NULL is empty */
  SHAPE_ATTACHED, /* the same in an item; the frame keeps the bytes alive until they are copied */
  SHAPE_NUMBERS,  /* this and all below: lists, of MESSAGE_x_MAX items at most */
  SHAPE_MEMBERS,  /* at least one, in the order of their ids */
  SHAPE_JOINERS,  /* the same, perhaps none */
  SHAPE_IDS,      /* in their order */
  SHAPE_HOLDS,
  SHAPE_LOANS,
  SHAPE_ROWS,
  SHAPE_SPEAKS, /* the shared bytes that the value or the rows before it refer to */
  SHAPES
} MessageShape;

/* One field of a kind, or of the items of a list. A table of fields ends with one whose `meaning`
 * is NULL. */
typedef struct
{
  const char *meaning;
  guint16 shape, offset;
} MessageField;

/* A list's items. Those with `keep` stand in a GPtrArray, others in a GArray. */
typedef struct
{
  const MessageField *fields;
  gsize size; /* of an item */
  guint min, max;
  /* TRUE: the item may follow `before` (NULL: it is the first); no rule: any item that the fields
   * allow. */
  gboolean (*rule) (const Message *m, const void *item, const void *before);
  gpointer (*keep) (const void *item);
  GDestroyNotify clear; /* with `keep` */
} MessageList;

/* The fields of a kind. */
const MessageField *message_fields (MessageKind kind);
/* The type of its header. */
const PackLayout *message_type (MessageKind kind);
/* (nullable): NULL for a shape that is no list. */
const MessageList *message_list (MessageShape shape);
/* (nullable): the first field that breaks the rule of its shape. */
const MessageField *message_fault (const Message *m);

typedef struct
{
  Packer packer;
  GPtrArray *attachments;
} MessageWriter;

typedef struct
{
  GBytes *bytes;
  const guint8 *lengths; /* of the remaining attachments … */
  gsize n_left, next;    /* … and the offset of the first of them */
  GBytes *last;          /* (nullable) owned: the attachment that was taken last */
  Unpacker unpacker;
} MessageReader;

/* (transfer none): the next attachment, which lives until the next call; NULL: there are too
 * few. */
GBytes *message_take_attachment (MessageReader *from);

/* `base`: the address of the struct that has the field. */
void message_write_field (MessageWriter *to, const Message *m, const MessageField *field,
                          const void *base);
void message_read_field (MessageReader *from, Message *m, const MessageField *field, void *base);

/* ---- what each shape is on the wire: GVariant types ---- */

#define WIRE_FLAG "b"
#define WIRE_U32 "u"
#define WIRE_U64 "t"
#define WIRE_WORD "t"
#define WIRE_POSITIVE "t"
#define WIRE_PART "t"
#define WIRE_WEIGHT "d"
#define WIRE_DIGEST "(tt)"
#define WIRE_ID "(uuu)"
#define WIRE_TERM "(u(uuu))"
#define WIRE_TEXT "s"
#define WIRE_NAME "s"
#define WIRE_PATH "s"
#define WIRE_VALUE ""
#define WIRE_ATTACHED ""
#define WIRE_OF(item, shape, member, meaning) WIRE_##shape
#define WIRE_NUMBERS "a(t)"
#define WIRE_MEMBERS "a(" MEMBER_FIELDS (WIRE_OF) ")"
#define WIRE_JOINERS WIRE_MEMBERS
#define WIRE_IDS "a((uuu))"
#define WIRE_HOLDS "a(" HOLD_FIELDS (WIRE_OF) ")"
#define WIRE_LOANS "a(" LOAN_FIELDS (WIRE_OF) ")"
#define WIRE_ROWS "a(" ROW_FIELDS (WIRE_OF) ")"
#define WIRE_SPEAKS "a(" SPEAKS_FIELDS (WIRE_OF) ")"

/* ---- the fields of items ---- */

#define MEMBER_FIELDS(I) \
  I (MessageMember, ID, id, id) \
  I (MessageMember, TEXT, address, address) \
  I (MessageMember, TEXT, host, host) \
  I (MessageMember, TEXT, site, site) \
  I (MessageMember, U32, pid, pid) \
  I (MessageMember, U32, workers, workers)
#define HOLD_FIELDS(I) \
  I (MessageHold, PATH, path, path) \
  I (MessageHold, DIGEST, digest, digest) \
  I (MessageHold, U32, finished, finished)
#define LOAN_FIELDS(I) \
  I (Loan, POSITIVE, loan, loan) \
  I (Loan, PATH, path, path) \
  I (Loan, U32, job, job) \
  I (Loan, DIGEST, digest, digest) \
  I (Loan, WEIGHT, weight, weight) \
  I (Loan, ATTACHED, args, arguments) \
  I (Loan, FLAG, again, again)
#define ROW_FIELDS(I) \
  I (Row, PATH, path, path) \
  I (Row, U32, job, job) \
  I (Row, DIGEST, digest, digest) \
  I (Row, WEIGHT, weight, weight) \
  I (Row, U64, work_us, cost) \
  I (Row, U64, began_ms, began) \
  I (Row, U64, took_ms, took) \
  I (Row, TEXT, args, arguments) \
  I (Row, ID, node, node) \
  I (Row, U32, children, children) \
  I (Row, TEXT, type, type) \
  I (Row, ATTACHED, value, value)
#define SPEAKS_FIELDS(I) \
  I (MessageSpeaks, U32, item, item) \
  I (MessageSpeaks, DIGEST, digest, digest) \
  I (MessageSpeaks, U64, length, length)

/* ---- the members that may have a shape: another type does not compile ---- */

typedef struct MessageNoType MessageNoType;
#define CTYPE_FLAG gboolean, MessageNoType *
#define CTYPE_U32 guint32, MessageNoType *
#define CTYPE_U64 guint64, MessageNoType *
#define CTYPE_WORD CTYPE_U64
#define CTYPE_POSITIVE CTYPE_U64
#define CTYPE_PART CTYPE_U64
#define CTYPE_WEIGHT double, MessageNoType *
#define CTYPE_DIGEST Digest, MessageNoType *
#define CTYPE_ID NodeId, MessageNoType *
#define CTYPE_TERM Term, MessageNoType *
#define CTYPE_TEXT const char *, char *
#define CTYPE_NAME CTYPE_TEXT
#define CTYPE_PATH CTYPE_TEXT
#define CTYPE_VALUE GBytes *, MessageNoType *
#define CTYPE_ATTACHED CTYPE_VALUE
#define CTYPE_NUMBERS GArray *, MessageNoType *
#define CTYPE_MEMBERS CTYPE_NUMBERS
#define CTYPE_JOINERS CTYPE_NUMBERS
#define CTYPE_IDS CTYPE_NUMBERS
#define CTYPE_HOLDS CTYPE_NUMBERS
#define CTYPE_LOANS GPtrArray *, MessageNoType *
#define CTYPE_ROWS CTYPE_LOANS
#define CTYPE_SPEAKS CTYPE_NUMBERS
#define OFFSET_IF(in, member, type, other) \
  _Generic(((in *)NULL)->member, type : offsetof (in, member), other : offsetof (in, member))
#define OFFSET_WITH(in, member, types) OFFSET_IF (in, member, types)
#define FIELD_OF(in, shape, member, meaning) \
  { #meaning, SHAPE_##shape, OFFSET_WITH (in, member, CTYPE_##shape) },
