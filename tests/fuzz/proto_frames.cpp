// SPDX-License-Identifier: Apache-2.0
// Any sequence of frames from one peer, between any calls of the application.
#include "conversation.hpp"

void weft::fuzz::run(input in) { conversation(1).run(in); }
