// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of weft.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <weft/weft.h>
#include <weft/external_loop.hpp>
#include <weft/memory.hpp>
#include <weft/weft.hpp>

#include "bindings/c/ended_list.hpp"
#include "bindings/c/served_call.hpp"

struct weft_peer {
  weft_context* owner;
  weft::endpoint to;
};

struct weft_listener {
  weft_context* owner;
  weft::listener listening;
  std::string address;
};

struct weft_connection_request {
  weft_context* owner;
  weft::listener::connection_request asks;
};

struct weft_region {
  weft_context* owner;
  weft::region memory;
};

struct weft_handler {
  weft_context* owner;
  weft::handler registered;
};

struct weft_group {
  weft_context* owner;
  weft::group members;
};

/// The order of members: operations end, and are noted, until the context is gone.
struct weft_context {
  explicit weft_context(weft::context made) : ctx(std::move(made)), external_loop(ctx) {}

  std::atomic<bool> closing{false};  // no end is reported any more
  weft::c::ended_list ended;         // under external_loop::progress_guard
  weft::context ctx;
  weft::external_loop external_loop;

  // The members below are for the control plane, where the cost of a lock does not matter.
  std::mutex mutex;
  std::map<weft::peer_id, std::unique_ptr<weft_peer>> peers;
  std::map<weft_listener*, std::unique_ptr<weft_listener>> listeners;
  std::map<weft_connection_request*, std::unique_ptr<weft_connection_request>> requests;
  std::map<void*, weft::shared_memory> memory;
  std::map<weft_region*, std::unique_ptr<weft_region>> regions;
  std::map<weft_group*, std::unique_ptr<weft_group>> groups;
  std::map<weft_handler*, std::unique_ptr<weft_handler>> handlers;
  weft::c::served_calls calls;
  weft::errc failed = weft::errc::ok;
  std::string why;

  /// The handle of an endpoint. \throws std::bad_alloc
  weft_peer* handle_of(weft::endpoint e);

  /// Keeps the error for weft_last_error. \return the code to return
  int fail(weft::errc code, const char* text) noexcept;
};

namespace weft::c {

constexpr int code_of(errc e) noexcept { return -static_cast<int>(e); }

/// Calls `f`, and turns any exception into a call of `failed(errc, text)`, and returns the result
/// of that.
template <class F, class Failed>
int guarded(F f, Failed failed) noexcept {
  try {
    f();
    return WEFT_OK;
  } catch (const error& e) {
    return failed(e.kind(), e.what());
  } catch (const std::bad_alloc&) {
    return failed(errc::out_of_memory, "there was no memory for it");
  } catch (const std::exception& e) {
    return failed(errc::system, e.what());
  }
}

/// The same for calls on a context.
template <class F>
int guarded(weft_context& at, F f) noexcept {
  return guarded(f, [&at](errc code, const char* text) { return at.fail(code, text); });
}

/// As snprintf does. \return the length of the whole text
std::size_t copy_text(const std::string& from, char* text, std::size_t size) noexcept;

}  // namespace weft::c
