// SPDX-License-Identifier: Apache-2.0
// Uses the installed library: a header-only type, and a function that only the archive has.
#include <iostream>

#include <weft/error.hpp>

int main() {
  const weft::error lost{weft::errc::peer_lost, "the consumer's example"};
  std::cout << lost.what() << '\n';
  return lost.kind() == weft::errc::peer_lost && lost.code().message().size() > 3 ? 0 : 1;
}
