/* SPDX-License-Identifier: Apache-2.0 */
/* A client whose job key is not that of the server, which is a pair's. Rejected, and not told that
 * no process waits there, which would be a reason to ask again. rejected NAME ITS_HOST OTHER_HOST */

#include "check.h"

int main(int argc, char** argv) {
  struct side me;
  union address here, there;
  char place[32];
  VIP_VI_HANDLE v;
  VIP_VI_STATE state;
  CHECK(argc == 4);
  open_side(&me);
  v = make_vi(&me, VIP_SERVICE_UNRELIABLE, NULL);
  snprintf(place, sizeof place, "%s-cs-%d", argv[1], (int)VIP_SERVICE_UNRELIABLE);
  make_address_at(&me, &here, argv[2], "me");
  make_address_at(&me, &there, argv[3], place);
  RETURNS(VIP_REJECT, request_soon(v, &here, &there, 30000, NULL));
  OK(VipQueryVi(v, &state, NULL, NULL, NULL));
  CHECK(state == VIP_STATE_IDLE);
  OK(VipDestroyVi(v));
  close_side(&me);
  return 0;
}
