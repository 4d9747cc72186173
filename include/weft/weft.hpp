// SPDX-License-Identifier: Apache-2.0
// Includes the headers that most programs need.
#pragma once

#include <weft/coro/detail/requirements.hpp>  // first, so that its errors are

#include <weft/build.hpp>
#include <weft/call.hpp>
#include <weft/context.hpp>
#include <weft/coro/as_result.hpp>
#include <weft/coro/async_generator.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/interval.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/pool.hpp>
#include <weft/coro/resume_on.hpp>
#include <weft/coro/retry.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/semaphore.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>
#include <weft/endpoint.hpp>
#include <weft/error.hpp>
#include <weft/group.hpp>
#include <weft/io.hpp>
#include <weft/listener.hpp>
#include <weft/loan.hpp>
#include <weft/log.hpp>
#include <weft/membership.hpp>
#include <weft/memory.hpp>
#include <weft/message.hpp>
#include <weft/options.hpp>
#include <weft/reconnecting_endpoint.hpp>
#include <weft/region.hpp>
#include <weft/region_of.hpp>
#include <weft/remote_channel.hpp>
#include <weft/run.hpp>
#include <weft/run_main.hpp>
#include <weft/shared_flags.hpp>
#include <weft/stream.hpp>
#include <weft/topic.hpp>
#include <weft/value.hpp>
#include <weft/wire.hpp>
