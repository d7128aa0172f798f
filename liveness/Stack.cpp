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
// Nothing is done to the thread: no signal, which would need room on its stack and
// cut its system call short, and no stop. Where one waits, /proc tells its program
// counter and its stack pointer. Of one that runs, perf_event_open copies registers and
// stack, where the system allows that. The frames in between are found by
// .eh_frame. All memory is read by Peek, since the thread may go on meanwhile. What
// moved is told by its record, after all names are there.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <link.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

using namespace swift;
using namespace swift::liveness;

namespace {

#if defined(__aarch64__)
constexpr unsigned FrameRegister = 29, StackRegister = 31, ReturnRegister = 30;
#else
constexpr unsigned FrameRegister = 6, StackRegister = 7, ReturnRegister = 16;
#endif

/// The stack of a thread, or a copy of its end.
struct StackMemory {
  Peek Memory;
  const char *Copy = nullptr;
  uintptr_t Begin = 0, Size = 0;

  bool word(uintptr_t at, uintptr_t &to) {
    if (!Copy)
      return Memory.read(reinterpret_cast<const void *>(at), to);
    if (at < Begin || at - Begin > Size || Size - (at - Begin) < sizeof(to))
      return false;
    memcpy(&to, Copy + (at - Begin), sizeof(to));
    return true;
  }
};

/// Bytes of .eh_frame. Reading past the end gives zeroes, and is no longer Good.
class Bytes {
  const unsigned char *At, *End;

public:
  bool Good = true;

  Bytes(const unsigned char *at, const unsigned char *end) : At(at), End(end) {}
  bool isEmpty() const { return At >= End; }
  void skip(uint64_t count) {
    Good &= count <= uint64_t(End - At);
    At = Good ? At + count : End;
  }
  template <class T> T take() {
    T value = 0;
    auto *from = At;
    skip(sizeof(T));
    if (Good)
      memcpy(&value, from, sizeof(T));
    return value;
  }
  /// A number of seven bits a byte.
  int64_t number(bool isSigned) {
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte;
    do {
      byte = take<unsigned char>();
      value |= uint64_t(byte & 0x7f) << (shift & 63);
      shift += 7;
    } while (byte & 0x80);
    if (isSigned && byte & 0x40 && shift < 64)
      value |= -(uint64_t(1) << shift);
    return int64_t(value);
  }
  /// A pointer, of which only its size matters.
  void pointer(unsigned encoding) {
    static const unsigned char sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
    if (encoding != 0xff)
      skip(sizes[encoding & 7]);
  }
};

/// Where a frame's caller has its own, as offsets from the begin of the frame
/// (the canonical frame address), which is a register and an offset.
struct FrameRules {
  unsigned Base = ~0u;
  int64_t Offset = 0;
  bool HasFrame = false, HasReturn = false;
  int64_t Frame = 0, Return = 0;

  void set(unsigned reg, bool has, int64_t at = 0) {
    if (reg == FrameRegister) {
      HasFrame = has;
      Frame = at;
    } else if (reg == ReturnRegister) {
      HasReturn = has;
      Return = at;
    }
  }
  void restore(unsigned reg, const FrameRules &first) {
    if (reg == FrameRegister)
      set(reg, first.HasFrame, first.Frame);
    else if (reg == ReturnRegister)
      set(reg, first.HasReturn, first.Return);
  }
};

/// Walks the instructions of a CIE, or of an FDE up to `offset` in its function.
/// \returns false for what is not known here, as an expression.
bool readRules(Bytes in, uint64_t codeUnit, int64_t dataUnit, uint64_t offset,
               const FrameRules &first, FrameRules &rules) {
  uint64_t location = 0;
  FrameRules kept[4];
  unsigned depth = 0;
  while (!in.isEmpty() && in.Good) {
    auto code = in.take<unsigned char>();
    unsigned low = code & 0x3f, reg = 0;
    uint64_t advance = 0;
    switch (code >> 6 ? code & 0xc0 : code) {
    case 0x40: advance = low; break;
    case 0x80: rules.set(low, true, in.number(false) * dataUnit); break;
    case 0xc0: rules.restore(low, first); break;
    case 0x00: break;
    case 0x02: advance = in.take<uint8_t>(); break;
    case 0x03: advance = in.take<uint16_t>(); break;
    case 0x04: advance = in.take<uint32_t>(); break;
    case 0x05: // offset_extended
    case 0x11: // with a sign
      reg = unsigned(in.number(false));
      rules.set(reg, true, in.number(code == 0x11) * dataUnit);
      break;
    case 0x06: rules.restore(unsigned(in.number(false)), first); break;
    case 0x08: rules.set(unsigned(in.number(false)), false); break;
    case 0x07: // undefined: the outermost frame, if it is the return address
      if (unsigned(in.number(false)) == ReturnRegister)
        return false;
      break;
    case 0x09: // in another register
      if ((reg = unsigned(in.number(false))) == FrameRegister ||
          reg == ReturnRegister)
        return false;
      in.number(false);
      break;
    case 0x0a: // remember_state
      if (depth == 4)
        return false;
      kept[depth++] = rules;
      break;
    case 0x0b: // restore_state
      if (!depth)
        return false;
      rules = kept[--depth];
      break;
    case 0x0c: // def_cfa
    case 0x12: // with a sign
      rules.Base = unsigned(in.number(false));
      rules.Offset = code == 0x12 ? in.number(true) * dataUnit : in.number(false);
      break;
    case 0x0d: rules.Base = unsigned(in.number(false)); break;
    case 0x0e: rules.Offset = in.number(false); break;
    case 0x13: rules.Offset = in.number(true) * dataUnit; break;
    case 0x10: // an expression
    case 0x16:
      if ((reg = unsigned(in.number(false))) == FrameRegister ||
          reg == ReturnRegister)
        return false;
      in.skip(uint64_t(in.number(false)));
      break;
    case 0x2d: break; // AArch64: the return address is signed
    case 0x2e: in.number(false); break;
    default: return false;
    }
    if ((location += advance * codeUnit) > offset)
      break;
  }
  return in.Good;
}

/// The table of .eh_frame of the image with this address, or null. The loader's
/// list is locked meanwhile; what is mapped may be unmapped all the same.
const unsigned char *findTable(Peek &peek, uintptr_t pc) {
  struct Search {
    Peek &Memory;
    uintptr_t Pc;
    const unsigned char *Table;
  } search = {peek, pc, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info *image, size_t, void *context) {
        auto &search = *static_cast<Search *>(context);
        bool isHere = false;
        ElfW(Phdr) segment;
        for (unsigned i = 0; i != image->dlpi_phnum &&
                             search.Memory.read(image->dlpi_phdr + i, segment);
             ++i) {
          auto begin = image->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_GNU_EH_FRAME)
            search.Table = reinterpret_cast<const unsigned char *>(begin);
          isHere |= segment.p_type == PT_LOAD &&
                    search.Pc - begin < segment.p_memsz;
        }
        if (!isHere)
          search.Table = nullptr;
        return int(isHere);
      },
      &search);
  return search.Table;
}

/// The entry of .eh_frame for an address, and its function, by the table that
/// linkers write for it; null if there is none. _Unwind_Find_FDE() would read it
/// where dlclose() may unmap it at any time.
const unsigned char *findEntry(Peek &peek, uintptr_t pc, uintptr_t &function) {
  auto *begin = findTable(peek, pc);
  struct {
    uint8_t Version, FrameEncoding, CountEncoding, TableEncoding;
    int32_t Frame;
    uint32_t Count;
  } header;
  // The usual form: a count of 4 bytes, and pairs of offsets from here.
  if (!begin || !peek.read(begin, header) || header.Version != 1 ||
      header.FrameEncoding != 0x1b || header.CountEncoding != 0x03 ||
      header.TableEncoding != 0x3b)
    return nullptr;
  struct {
    int32_t Function, Entry;
  } pair, found = {};
  auto offset = intptr_t(pc - reinterpret_cast<uintptr_t>(begin));
  uint32_t low = 0, high = header.Count;
  while (low != high) {
    auto middle = low + (high - low) / 2;
    if (!peek.read(begin + sizeof(header) + sizeof(pair) * middle, pair))
      return nullptr;
    if (pair.Function <= offset) {
      found = pair;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  // Behind the length and the offset of the CIE are the function's begin, as an
  // offset from there, and its size.
  auto *entry = begin + found.Entry;
  int32_t range[2];
  function = reinterpret_cast<uintptr_t>(begin) + found.Function;
  if (!low || !peek.read(entry + 8, range) ||
      reinterpret_cast<uintptr_t>(entry + 8) + range[0] != function ||
      pc - function >= uint32_t(range[1]))
    return nullptr;
  return entry;
}

/// \param pc in the function. \returns false if nothing is known of it.
bool findRules(Peek &peek, uintptr_t pc, FrameRules &rules, uintptr_t &function) {
  auto *entry = findEntry(peek, pc, function);
  // Copies: what has no room here is not of a compiler.
  static unsigned char common[512], own[8192];
  uint32_t head[2], size;
  if (!entry || !peek.read(entry, head))
    return false;
  auto *cie = entry + 4 - head[1];
  if (head[0] < 8 || head[0] - 4 > sizeof(own) ||
      !peek.read(entry + 8, own, head[0] - 4) || !peek.read(cie, size) ||
      size < 8 || size > sizeof(common) || !peek.read(cie + 4, common, size))
    return false;
  Bytes in(common + 4, common + size);
  auto version = in.take<uint8_t>();
  char letters[8] = "";
  for (unsigned i = 0; (letters[i] = in.take<char>()); ++i)
    if (i == 7)
      return false;
  auto codeUnit = uint64_t(in.number(false));
  auto dataUnit = in.number(true);
  if (version == 1)
    in.take<uint8_t>();
  else
    in.number(false);
  unsigned encoding = 0;
  bool hasSize = letters[0] == 'z';
  if (hasSize) {
    auto length = uint64_t(in.number(false));
    Bytes data = in;
    in.skip(length);
    for (auto *letter = letters + 1; *letter; ++letter)
      if (*letter == 'R')
        encoding = data.take<uint8_t>();
      else if (*letter == 'P')
        data.pointer(data.take<uint8_t>());
      else if (*letter == 'L')
        data.take<uint8_t>();
      else if (*letter == 'S')
        return false; // behind it are the registers of a signal
  }
  Bytes program(own, own + head[0] - 4);
  program.pointer(encoding);
  program.pointer(encoding & 0xf);
  if (hasSize)
    program.skip(uint64_t(program.number(false)));
  return in.Good && program.Good &&
         readRules(in, codeUnit, dataUnit, UINT64_MAX, {}, rules) &&
         readRules(program, codeUnit, dataUnit, pc - function,
                   FrameRules(rules), rules);
}

struct Registers {
  uintptr_t Pc = 0, Stack = 0, Frame = 0;
  bool HasFrame = false; ///< whether Frame is known
  bool IsCall = false;   ///< Pc is behind a call
};

/// The frame register of a function that calls with the stack pointer `stack`: a
/// library's function below it may have left that in the register.
bool findFrame(StackMemory &memory, uintptr_t function, uintptr_t stack,
               uintptr_t &frame) {
  auto isFrame = [&](uintptr_t at) {
    uintptr_t saved, caller, begin;
    return memory.word(at, saved) && memory.word(at + 8, caller) && caller &&
           findEntry(memory.Memory, caller - 1, begin);
  };
#if defined(__x86_64__)
  // What a function begins with tells how far its stack pointer is below.
  unsigned char code[40];
  unsigned at = 0, pushed = 0;
  auto is = [&](std::initializer_list<unsigned char> bytes) {
    if (at + bytes.size() + 4 > sizeof(code) ||
        !std::equal(bytes.begin(), bytes.end(), code + at))
      return false;
    at += unsigned(bytes.size());
    return true;
  };
  if (memory.Memory.read(reinterpret_cast<void *>(function), code)) {
    is({0xf3, 0x0f, 0x1e, 0xfa});                     // endbr64
    bool isAsync = is({0x48, 0x0f, 0xba, 0xed, 0x3c}); // bts $60, %rbp
    if (is({0x55}) && ((is({0x41, 0x56}) && is({0x48, 0x8d, 0x6c, 0x24, 0x08}) &&
                        (pushed = 8)) ||
                       (!isAsync && is({0x48, 0x89, 0xe5})))) {
      for (;; pushed += 8) {
        bool isHigh = is({0x41});
        if ((code[at] & 0xf8) != 0x50) {
          at -= isHigh;
          break;
        }
        ++at;
      }
      uint32_t room = 0;
      if (is({0x48, 0x83, 0xec}))
        room = code[at];
      else if (is({0x48, 0x81, 0xec}))
        memcpy(&room, code + at, sizeof(room));
      if (isFrame(frame = stack + pushed + room))
        return true;
    }
  }
#endif
  (void)function;
  for (frame = stack; frame != stack + 4096; frame += 8) {
    uintptr_t saved;
    if (!memory.word(frame, saved))
      return false;
    if (saved > frame && saved - frame < (1 << 20) && isFrame(frame))
      return true;
  }
  return false;
}

unsigned walk(StackMemory &memory, Registers at, const void **frames,
              unsigned max) {
  unsigned count = 0;
  while (at.Pc && count != max) {
    frames[count++] = reinterpret_cast<void *>(at.Pc - at.IsCall);
    FrameRules rules;
    uintptr_t function, begin, frame = 0, pc;
    if (!findRules(memory.Memory, at.Pc - at.IsCall, rules, function))
      break;
    if (rules.Base == StackRegister)
      begin = at.Stack + uintptr_t(rules.Offset);
    else if (rules.Base != FrameRegister ||
             (!at.HasFrame &&
              !findFrame(memory, function, at.Stack, at.Frame)))
      break;
    else {
      at.HasFrame = true;
      begin = at.Frame + uintptr_t(rules.Offset);
    }
    if (begin <= at.Stack && count > 1)
      break;
    if (rules.HasFrame && !memory.word(begin + uintptr_t(rules.Frame), frame))
      break;
    if (!rules.HasReturn || !memory.word(begin + uintptr_t(rules.Return), pc))
      break;
    if (rules.HasFrame) {
      // An asynchronous function marks its frame by that bit.
      at.Frame = frame & ~(uintptr_t(1) << 60);
      at.HasFrame = true;
    }
    at.Pc = pc;
    at.Stack = begin;
    at.IsCall = true;
  }
  return count;
}

/// A copy of the registers and the stack of a thread that runs, by the kernel's
/// sampling, which is no signal.
class Sample {
  static constexpr unsigned StackSize = 32768, RingSize = 65536;
  int Fd = -1;
  char *Ring = nullptr;

public:
  ~Sample() {
    if (Ring)
      munmap(Ring, size_t(getpagesize()) + RingSize);
    if (Fd >= 0)
      close(Fd);
  }

  /// \returns null, or why there is none.
  const char *take(uint32_t threadId, StackMemory &memory, Registers &at) {
#if defined(__x86_64__) || defined(__aarch64__)
    // A filter may end the process for it.
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0))
      return "the thread runs, and a seccomp filter may forbid perf_event_open";
#if defined(__aarch64__)
    constexpr unsigned frame = 29, stack = 31, pc = 32;
#else
    constexpr unsigned frame = 6, stack = 7, pc = 8;
#endif
    struct perf_event_attr attributes = {};
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.size = sizeof(attributes);
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = NsPerMs;
    attributes.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attributes.sample_regs_user = 1ull << frame | 1ull << stack | 1ull << pc;
    attributes.sample_stack_user = StackSize;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    auto page = size_t(getpagesize());
    Fd = int(syscall(SYS_perf_event_open, &attributes, threadId, -1, -1,
                     PERF_FLAG_FD_CLOEXEC));
    void *ring = Fd < 0 ? MAP_FAILED
                        : mmap(nullptr, page + RingSize, PROT_READ | PROT_WRITE,
                               MAP_SHARED, Fd, 0);
    if (ring == MAP_FAILED)
      return "the thread runs, and the system refuses perf_event_open";
    Ring = static_cast<char *>(ring);
    auto *control = reinterpret_cast<struct perf_event_mmap_page *>(Ring);
    for (unsigned ms = 0; ms != 40; ++ms) {
      auto end = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
      for (uint64_t from = 0; from + 48 <= std::min<uint64_t>(end, RingSize);) {
        auto *record = Ring + page + from;
        struct perf_event_header header;
        memcpy(&header, record, sizeof(header));
        struct {
          uint64_t Abi, Frame, Stack, Pc, Size;
        } data;
        memcpy(&data, record + sizeof(header), sizeof(data));
        from += header.size;
        // The first record is at the begin, and a later one may be in two parts.
        if (from > RingSize || !header.size)
          break;
        if (header.type != PERF_RECORD_SAMPLE || !data.Abi)
          continue;
        at.Pc = data.Pc;
        at.Stack = memory.Begin = data.Stack;
        at.Frame = data.Frame;
        at.HasFrame = true;
        memory.Copy = record + sizeof(header) + sizeof(data);
        // Behind the room for the copy is how much of it there is.
        if (data.Size)
          memcpy(&memory.Size, memory.Copy + data.Size, sizeof(memory.Size));
        return nullptr;
      }
      struct timespec millisecond = {0, long(NsPerMs)};
      nanosleep(&millisecond, nullptr);
    }
    return "the thread gets no processor";
#else
    return "the thread runs";
#endif
  }
};

} // namespace

void liveness::takeStack(StackOf &stack) {
  stack.Count = 0;
  char before[256], after[256];
  for (unsigned tries = 0; tries != 3; ++tries) {
    if (!readTaskFile(stack.ThreadId, "syscall", before, sizeof(before))) {
      stack.Why = "/proc tells nothing of the thread";
      return;
    }
    StackMemory memory;
    Registers at;
    Sample sample;
    bool runs = !strncmp(before, "running", 7);
    if (runs) {
      if ((stack.Why = sample.take(stack.ThreadId, memory, at)))
        return;
    } else {
      // The last two numbers are the stack pointer and where the thread goes on.
      // In front of them is a system call's number, or -1.
      auto *pc = strrchr(before, ' ');
      auto *pointer = pc;
      while (pointer && pointer != before && *--pointer != ' ')
        ;
      if (!pointer || sscanf(pointer, "%lx %lx", &at.Stack, &at.Pc) != 2) {
        stack.Why = "/proc tells nothing of the thread";
        return;
      }
      at.IsCall = *before != '-';
    }
    stack.Count = walk(memory, at, stack.Frames, StackOf::Max);
    if (runs || (readTaskFile(stack.ThreadId, "syscall", after, sizeof(after)) &&
                 !strcmp(before, after)))
      return;
    stack.Count = 0;
  }
  stack.Why = "the thread goes on all the time";
}
