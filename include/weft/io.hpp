// SPDX-License-Identifier: Apache-2.0
// Everything else of Linux that a coroutine can await on the loop of a context.
#pragma once

#include <weft/io/descriptor.hpp>
#include <weft/io/file.hpp>
#include <weft/io/ready.hpp>
#include <weft/io/signal_set.hpp>
