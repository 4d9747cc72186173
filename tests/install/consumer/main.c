/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the installed library from C: a word to itself. */
#include <stdio.h>
#include <weft/weft.h>

int main(void) {
  weft_context* ctx = NULL;
  weft_peer* me = NULL;
  weft_op in, out;
  char word[6] = "";
  if (weft_open(NULL, &ctx) != WEFT_OK || weft_peer_of(ctx, 0, &me) != WEFT_OK) return 1;
  const int posted = weft_recv(ctx, me, word, sizeof word, 1, 0, &in, NULL);
  if (weft_send(me, "hello", 6, 1, &out, NULL) < 0) return 1;
  if (posted == WEFT_OK && weft_wait(&in, 10000, NULL) != WEFT_DONE) return 1;
  weft_close(ctx);
  puts(word);
  return word[0] == 'h' ? 0 : 1;
}
