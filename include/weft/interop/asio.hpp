// SPDX-License-Identifier: Apache-2.0
// weft and Asio, both ways; headers only, link weft::asio. docs/embedding.md has examples.
//
//   asio_loop       a context's messages and coroutines inside io_context::run
//   async           weft's operations with a completion token of Asio
//   use_task        Asio's operations awaited in a weft::task
//   asio_executor   resume_on(executor of Asio)
#pragma once

#include <weft/interop/asio_async.hpp>
#include <weft/interop/asio_executor.hpp>
#include <weft/interop/asio_loop.hpp>
#include <weft/interop/use_task.hpp>
