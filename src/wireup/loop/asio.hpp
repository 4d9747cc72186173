// SPDX-License-Identifier: Apache-2.0
// The parts of Asio that the control plane uses.
#pragma once

// The control plane is written with callbacks: Asio's coroutines are not weft's, and some compilers
// cannot compile its coroutine headers.
#ifndef ASIO_DISABLE_CO_AWAIT
#define ASIO_DISABLE_CO_AWAIT
#endif

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
