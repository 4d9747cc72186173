// SPDX-License-Identifier: Apache-2.0
// The library of senders that the headers beside this one use; weft::detail::exec is its
// vocabulary:
//   tags and signatures   what senders, receivers, operations and schedulers say that they are
//   set_value, set_error, set_stopped, connect, start, stop_token_of
//   values_of<S, Env>     values<values<V...>...>: what set_value of a sender carries
#pragma once

#include <weft/interop/detail/stop_tokens.hpp>

#if defined(WEFT_USE_STDEXEC)
#include <weft/interop/detail/execution_stdexec.hpp>
#elif defined(WEFT_USE_UNIFEX)
#include <weft/interop/detail/execution_unifex.hpp>
#else
#include <weft/interop/detail/execution_plain.hpp>
#endif
