//===--- Stack.cpp - The stack of another thread --------------------------===//
//
// This source file is part of the Swift.org open source project
//
// Copyright (c) 2025 Apple Inc. and the Swift project authors
// Licensed under Apache License v2.0 with Runtime Library Exception
//
// See https://swift.org/LICENSE.txt for license information
// See https://swift.org/CONTRIBUTORS.txt for the list of Swift project authors
//
//===----------------------------------------------------------------------===//
//
// The thread takes it itself, in the handler of a signal. A request belongs to
// one side at a time: Asked to whoever takes it first, Taking to the handler,
// Done to the monitor. One that is Taking when the monitor gives up stays with
// the handler until that is Done, and no other is made until then.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include <cerrno>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

using namespace swift;
using namespace swift::liveness;

namespace {

struct StackRequest {
  enum : uint32_t { None, Asked, Taking, Done };
  std::atomic<uint32_t> State, ThreadId;
  unsigned Count;
  const void *Frames[64];
};

} // namespace

static StackRequest Request;

static void takeOwnStack(int) {
  int error = errno;
  uint32_t asked = StackRequest::Asked;
  // A signal that is late, or of someone else, finds nothing to do.
  if (Request.ThreadId.load() == uint32_t(syscall(SYS_gettid)) &&
      Request.State.compare_exchange_strong(asked, StackRequest::Taking)) {
    Request.Count = 0;
    _Unwind_Backtrace(
        [](struct _Unwind_Context *context, void *) {
          auto at = _Unwind_GetIP(context);
          if (Request.Count == 64 || !at)
            return _URC_END_OF_STACK;
          Request.Frames[Request.Count++] = reinterpret_cast<void *>(at);
          return _URC_NO_REASON;
        },
        nullptr);
    Request.State.store(StackRequest::Done, std::memory_order_release);
  }
  errno = error;
}

unsigned liveness::takeStack(uint32_t threadId, const void **frames,
                             unsigned max) {
  // The one signal for measuring that libdispatch's threads do not block.
  constexpr int number = SIGPROF;
  uint32_t state = Request.State.load(std::memory_order_acquire);
  struct sigaction action = {}, old;
  // A program that handles it measures itself: that is left alone.
  if (state == StackRequest::Asked || state == StackRequest::Taking ||
      sigaction(number, nullptr, &old) || old.sa_handler != SIG_DFL)
    return 0;
  action.sa_handler = takeOwnStack;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  if (sigaction(number, &action, nullptr))
    return 0;
  Request.ThreadId.store(threadId);
  Request.State.store(StackRequest::Asked, std::memory_order_release);
  bool sent = syscall(SYS_tgkill, getpid(), threadId, number) == 0;
  for (auto end = nowNs() + 200 * NsPerMs; sent && nowNs() < end;) {
    if (Request.State.load(std::memory_order_acquire) == StackRequest::Done)
      break;
    struct timespec millisecond = {0, long(NsPerMs)};
    nanosleep(&millisecond, nullptr);
  }
  state = StackRequest::Asked;
  Request.State.compare_exchange_strong(state, StackRequest::None);
  // A signal that nobody took would end the process later: ignoring it takes it
  // away from the thread. The program may have set a handler meanwhile.
  struct sigaction now;
  if (!sigaction(number, nullptr, &now) && now.sa_handler == takeOwnStack) {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(number, &ignore, nullptr);
    sigaction(number, &old, nullptr);
  }
  if (Request.State.load(std::memory_order_acquire) != StackRequest::Done)
    return 0;
  // The first two are this file's and the signal's.
  unsigned count = 0;
  for (unsigned i = 2; i < Request.Count && count != max; ++i)
    frames[count++] = Request.Frames[i];
  return count;
}
