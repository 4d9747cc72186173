// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/printable.hpp"
#include "support/catch.hpp"

namespace weft::runtime {

TEST_CASE("text of others is shown, but moves no cursor") {
  CHECK(printable("a plain text ~") == "a plain text ~");
  CHECK(printable("\033[2Ja\nb\r\x7f") == "?[2Ja?b??");
  CHECK(printable("\x9b"
                  "31m \xc2\x9b"
                  "31m") == "?31m ??31m");  // the same in one byte, and in UTF-8
  CHECK(printable(std::string("a\0b", 3)) == "a?b");
  CHECK(printable("cut off here", 7) == "cut off");
}

}  // namespace weft::runtime
