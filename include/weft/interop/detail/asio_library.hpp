// SPDX-License-Identifier: Apache-2.0
// The Asio that the headers beside this one use: the standalone library, or Boost's if
// WEFT_USE_BOOST_ASIO is defined. weft::detail::net is its namespace.
#pragma once

#ifdef WEFT_USE_BOOST_ASIO
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/system/system_error.hpp>

namespace weft::detail {
namespace net = ::boost::asio;
using net_error_code = ::boost::system::error_code;
using net_system_error = ::boost::system::system_error;
}  // namespace weft::detail
#else
#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/error_code.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_error.hpp>
#include <asio/system_executor.hpp>

namespace weft::detail {
namespace net = ::asio;
using net_error_code = ::asio::error_code;
using net_system_error = ::asio::system_error;
}  // namespace weft::detail
#endif
