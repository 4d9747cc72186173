// SPDX-License-Identifier: Apache-2.0
// The functions that each scenario's file defines.
#pragma once

#include "scheduler.hpp"

interleave::bounds within();
void scenario(interleave::run& now);
