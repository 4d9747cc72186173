// SPDX-License-Identifier: Apache-2.0
// What each file of a scenario defines.
#pragma once

#include "scheduler.hpp"

interleave::bounds within();
void scenario(interleave::run& now);
