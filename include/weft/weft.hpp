// SPDX-License-Identifier: Apache-2.0
// Everything that most programs need.
#pragma once

#include <weft/as_result.hpp>
#include <weft/context.hpp>
#include <weft/endpoint.hpp>
#include <weft/error.hpp>
#include <weft/group.hpp>
#include <weft/membership.hpp>
#include <weft/memory.hpp>
#include <weft/message.hpp>
#include <weft/pool.hpp>
#include <weft/region.hpp>
#include <weft/run.hpp>
#include <weft/scope.hpp>
#include <weft/stream.hpp>
#include <weft/task.hpp>
#include <weft/time.hpp>
#include <weft/when.hpp>
