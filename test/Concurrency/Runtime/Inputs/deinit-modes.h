// Runs the isolated deinits of a program in a mode that the compiler cannot
// ask for yet: copying task-locals, or in a task of their own.
//
// The compiler emits a call of swift_task_deinitOnExecutor(object, work,
// executor, 0) for every isolated deinit. deinit-modes.c defines that symbol in
// the executable, where it wins over the one of the runtime library, and hands
// the call on with other flags, or to swift_task_deinitAsync. Works where a
// symbol of the executable preempts that of a library (ELF).
//
// Build: clang -c deinit-modes.c, and pass the object to swiftc together with
// -import-objc-header deinit-modes.h.

#ifndef DEINIT_MODES_H
#define DEINIT_MODES_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /// What the compiler asks for: task-locals are cleared (SE-0371).
  DEINIT_MODE_RESET = 0,
  /// The task-locals visible at the last release are visible in the deinit.
  DEINIT_MODE_COPY = 1,
  /// The deinit runs in a task of its own, which has no task-locals.
  DEINIT_MODE_ASYNC = 2,
  /// The deinit runs in a task of its own, and sees the task-locals visible at
  /// the last release.
  DEINIT_MODE_ASYNC_COPY = 3,
};

/// Choose the mode of all isolated deinits that begin from now on, on any
/// thread. Ends the program if the loaded runtime lacks the mode.
void deinit_set_mode(int mode);

/// Ask `choose` for the mode of each isolated deinit that begins from now on. It
/// is called with the object on the thread that has released it.
void deinit_set_chooser(int (*choose)(void *object));

/// 1 if the loaded runtime has the mode, else 0; 0 for an unknown mode.
///
/// Copying has no symbol of its own, because it is a flag of an old function:
/// the first call tries it on a made-up object, with a task-local bound.
int deinit_mode_supported(int mode);

/// In the async modes, run an async function before the isolated deinit of one
/// class, in the same task: it may suspend, and the object stays alive. Its
/// isolated deinit then runs on the executor of the deinit, as always, and
/// deallocates the object.
///
/// `isa` is the metadata of the class of the object itself, not of a
/// superclass. `function` and `context` are the two words of a Swift value of
/// type `(Object) async -> Void`; the context must live forever.
void deinit_set_async_body(const void *isa, const void *function,
                           const void *context);

#ifdef __cplusplus
}
#endif

#endif
