/* SPDX-License-Identifier: BSD-3-Clause */
/* Loans and rows: copies are equal and independent. */
#include "config.h"

#include "loan.h"
#include "shared.h"

static void
test_loan (void)
{
  g_autoptr (GBytes) args = g_bytes_new ("abc", 3);
  Digest digest = digest_of_string ("job");
  Loan *loan = loan_new (7, "/0/3", 2, &digest, 0.25, args);
  g_autoptr (Loan) copy = loan_copy (loan);

  g_assert_cmpuint (copy->held, ==, 0);
  loan_free (copy);
  loan->held = 4;
  loan->again = TRUE;
  copy = loan_copy (loan);
  loan_free (loan);
  loan_free (NULL);

  g_assert_cmpuint (copy->loan, ==, 7);
  g_assert_cmpuint (copy->held, ==, 4);
  g_assert_true (copy->again);
  g_assert_cmpstr (copy->path, ==, "/0/3");
  g_assert_cmpuint (copy->job, ==, 2);
  g_assert_true (digest_equal (&copy->digest, &digest));
  g_assert_cmpfloat (copy->weight, ==, 0.25);
  g_assert_true (g_bytes_equal (copy->args, args));
}

static void
test_row (void)
{
  g_autoptr (GBytes) value = g_bytes_new ("abc", 3);
  Digest digest = digest_of_string ("job");
  Row *row = row_new ("", 2, &digest, 1.0, 1234, value);
  g_autoptr (Row) copy = NULL;

  g_assert_true (node_id_is_none (&row->node));
  row->node = (NodeId){ 1, 2, 3 };
  row->began_ms = 1700000000123;
  row->took_ms = 77;
  row->args = g_strdup ("AQ==");
  row->shares = shared_list_new ();
  copy = row_copy (row);
  row_free (row);
  row_free (NULL);

  g_assert_cmpstr (copy->path, ==, "");
  g_assert_cmpuint (copy->work_us, ==, 1234);
  g_assert_cmpuint (copy->node.random, ==, 3);
  g_assert_cmpuint (copy->began_ms, ==, 1700000000123);
  g_assert_cmpuint (copy->took_ms, ==, 77);
  g_assert_cmpstr (copy->args, ==, "AQ==");
  g_assert_nonnull (copy->shares);
  g_assert_true (g_bytes_equal (copy->value, value));
}

/* Long arguments are dropped, also from a loan that has ended. */
static void
test_shown_args (void)
{
  guint8 bytes[LOAN_SHOWN_MAX + 1];
  Digest digest = digest_of_string ("job");

  for (gsize i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8)(255 - i);
  for (gsize size = 0; size <= sizeof bytes; size++)
    {
      g_autoptr (GBytes) args = g_bytes_new (bytes, size);
      g_autoptr (Loan) loan = loan_new (7, "/0", 0, &digest, 1, args);
      g_autofree char *text = loan_show_args (args);
      g_autoptr (GBytes) again = loan_read_args (text);

      g_assert_cmpint (text != NULL, ==, size > 0 && size <= LOAN_SHOWN_MAX);
      g_assert_true (text == NULL || g_bytes_equal (again, args));
      g_assert_true (text != NULL || again == NULL);
      Loan *other = loan_ref (loan);
      loan_drop_args (loan);
      g_assert_nonnull (loan->args); /* the other holder may still need them */
      loan_free (other);
      loan_drop_args (loan);
      g_assert_cmpint (loan->args != NULL, ==, size <= LOAN_SHOWN_MAX);
    }
  g_assert_null (loan_show_args (NULL));
  g_assert_null (loan_read_args (""));
}

static void
test_kept (void)
{
  g_autoptr (GBytes) value = g_bytes_new ("state", 5), empty = g_bytes_new (NULL, 0);
  g_autoptr (GBytes) result = g_bytes_new ("0123456", 7),
                     zeros = g_bytes_new ("\0\0\0\0\0\0\0\0x", 9),
                     reserved = g_bytes_new ("\1\0\0\0\1\0\0\0x", 9);
  Digest digest = digest_of_string ("job");
  g_autoptr (Row) row = row_new_kept ("/1", 70000, 2, &digest, 0.5, "(xd)", value);
  g_autoptr (Row) copy = row_copy (row);
  g_autoptr (Row) none = row_new_kept ("/1", 1, 2, &digest, 0.5, "()", empty);
  g_autoptr (GBytes) packed = row_pack_kept (copy), packed_none = row_pack_kept (none);
  guint32 children = 0;

  g_autoptr (GBytes) state = row_unpack_kept (packed, &children);

  g_assert_cmpuint (copy->children, ==, 70000);
  g_assert_cmpstr (copy->type, ==, "(xd)");
  g_assert_cmpuint (children, ==, 70000);
  g_assert_true (g_bytes_equal (state, value));
  g_autoptr (GBytes) nothing = row_unpack_kept (packed_none, &children);
  g_assert_cmpuint (g_bytes_get_size (nothing), ==, 0);
  g_assert_null (row_unpack_kept (result, &children));
  g_assert_null (row_unpack_kept (zeros, &children));
  g_assert_null (row_unpack_kept (reserved, &children));
  for (gsize size = 0; size < 8; size++) /* what follows is not its own */
    {
      g_autoptr (GBytes) all = g_bytes_new ("\1\0\0\0\0\0\0\0", 8);
      g_autoptr (GBytes) cut = g_bytes_new_from_bytes (all, 0, size);
      g_assert_null (row_unpack_kept (cut, &children));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loan/a-copy-outlives-its-original", test_loan);
  g_test_add_func ("/row/a-copy-outlives-its-original", test_row);
  g_test_add_func ("/row/a-kept-state-comes-back", test_kept);
  g_test_add_func ("/loan/short-arguments-are-shown", test_shown_args);
  return g_test_run ();
}
