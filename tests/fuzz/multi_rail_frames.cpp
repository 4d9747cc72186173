// SPDX-License-Identifier: Apache-2.0
// Any sequence of frames from one peer over two links, in order or not, twice or never, and links
// that break.
#include "conversation.hpp"

void weft::fuzz::run(input in) { conversation(2).run(in); }
