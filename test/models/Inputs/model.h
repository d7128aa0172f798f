// What the models share: orders and steps that the command line sets, atomics that
// take such orders, a futex, and the search.
//
// A model is a small program over relacy, which runs all interleavings of a few
// threads, and lets each relaxed or acquiring load return every value that the
// memory model of C++11 allows. A thread that waits and is never woken is a
// deadlock, so a lost wake-up is found without any time limit.

#include <relacy/relacy.hpp>

#include <cstdio>
#include <cstring>
#include <string>

#undef new
#undef delete
#undef malloc
#undef free

/// A parameter of the model: the order of one atomic operation of the code, or
/// those of a compare-and-swap. orders.txt holds the value.
struct Order {
  const char *name;
  Order *next = first();
  rl::memory_order success = rl::mo_relaxed, failure = rl::mo_relaxed;
  bool isSet = false;

  explicit Order(const char *name) : name(name) { first() = this; }
  static Order *&first() {
    static Order *list = nullptr;
    return list;
  }
};

/// A step of the code that can be left out.
struct Step {
  const char *name;
  Step *next = first();
  bool isLeftOut = false;

  explicit Step(const char *name) : name(name) { first() = this; }
  static Step *&first() {
    static Step *list = nullptr;
    return list;
  }
  operator bool() const { return !isLeftOut; }
};

#define WHERE rl::debug_info where = rl::debug_info(__builtin_FUNCTION(), __builtin_FILE(), __builtin_LINE())

/// relacy does not order a sequentially consistent operation with a fence of another thread,
/// as C++ does, but fences with each other. So there is one between two such operations of a
/// thread that follow each other. (If a weaker one is between them, there is none: it would
/// be ordered, too.)
inline bool &previousIsSeqCst(unsigned thread) {
  static bool is[8];
  return is[thread];
}
inline void sequence(rl::memory_order order, rl::debug_info_param where) {
  auto &previous = previousIsSeqCst(rl::thread_index());
  if (previous && order == rl::mo_seq_cst)
    rl::atomic_thread_fence(rl::mo_seq_cst, where);
  previous = order == rl::mo_seq_cst;
}

/// Data that is not atomic: two accesses that nothing orders are a fault.
template <typename T> class Plain {
  rl::var<T> variable;

public:
  T read(WHERE) { return variable(where); }
  void write(T value, WHERE) { variable(where) = value; }
};

/// An atomic of the code.
template <typename T> struct Atomic : rl::atomic<T> {
  T load(const Order &order, WHERE) const {
    sequence(order.success, where);
    return rl::atomic<T>::load(order.success, where);
  }
  void store(T value, const Order &order, WHERE) {
    sequence(order.success, where);
    rl::atomic<T>::store(value, order.success, where);
  }
  T exchange(T value, const Order &order, WHERE) {
    sequence(order.success, where);
    return rl::atomic<T>::exchange(value, order.success, where);
  }
  T add(T value, const Order &order, WHERE) {
    sequence(order.success, where);
    return rl::atomic<T>::fetch_add(value, order.success, where);
  }
  T subtract(T value, const Order &order, WHERE) {
    sequence(order.success, where);
    return rl::atomic<T>::fetch_sub(value, order.success, where);
  }

  bool swap(T &expected, T value, const Order &order, WHERE) { return swap<false>(expected, value, order, where); }
  /// A weak compare-and-swap, which may fail for no reason.
  bool swapWeak(T &expected, T value, const Order &order, WHERE) { return swap<true>(expected, value, order, where); }

  /// The newest value. Only for the kernel of a futex, and for what must hold at the end.
  T newest() const { return this->debug_value(); }

private:
  template <bool Weak> bool swap(T &expected, T value, const Order &order, rl::debug_info where) {
    bool acquires = order.success == rl::mo_acquire || order.success == rl::mo_acq_rel;
    bool isStronger = order.success == rl::mo_seq_cst || (acquires && order.failure != rl::mo_seq_cst);
    // relacy takes no failure order that is stronger than the other: a fence is the same here.
    auto failure = order.failure == rl::mo_relaxed || isStronger ? order.failure : rl::mo_relaxed;
    sequence(order.success, where);
    if (this->compare_exchange(rl::bool_t<Weak>(), expected, value, order.success, failure, where))
      return true;
    previousIsSeqCst(rl::thread_index()) = order.failure == rl::mo_seq_cst;
    if (failure != order.failure)
      rl::atomic_thread_fence(order.failure, where);
    return false;
  }
};

inline void fence(const Order &order, WHERE) { rl::atomic_thread_fence(order.success, where); }

/// The word of a futex. As in the kernel, a look at the word and going to sleep are one
/// step for the others, and waking is one step after all that the waking thread did before.
/// The kernel orders nothing else here: being woken does not tell what the other one wrote.
template <typename T, int Threads> struct Futex : Atomic<T> {
  /// Returns false if the word is not `value`. This reads the newest value, so that the
  /// thread can see none that is older after it.
  bool wait(T value, WHERE) {
    if (rl::atomic<T>::fetch_add(0, rl::mo_relaxed, where) != value)
      return false;
    sleepers.park_current(rl::ctx(), false, false, false, where);
    return true;
  }
  void wake(WHERE) {
    rl::ctx().sched();
    sleepers.unpark_one(rl::ctx(), where);
  }

private:
  rl::waitset<Threads> sleepers;
};

inline bool parse(const std::string &text, rl::memory_order &order) {
  static const char *names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  for (int i = 0; i != 6; ++i)
    if (text == names[i]) {
      order = rl::memory_order(i);
      // relacy has no consume.
      if (order == rl::mo_consume)
        order = rl::mo_acquire;
      return true;
    }
  return false;
}

/// One argument: NAME=ORDER, NAME=SUCCESS/FAILURE, or -STEP.
inline bool set(const std::string &argument) {
  if (argument[0] == '-') {
    for (auto *step = Step::first(); step; step = step->next)
      if (argument.substr(1) == step->name)
        return step->isLeftOut = true;
    return false;
  }
  auto equal = argument.find('='), slash = argument.find('/');
  if (equal == std::string::npos)
    return false;
  for (auto *order = Order::first(); order; order = order->next)
    if (argument.substr(0, equal) == order->name) {
      order->isSet = true;
      auto first = argument.substr(equal + 1, slash == std::string::npos ? slash : slash - equal - 1);
      return parse(first, order->success) &&
             (slash == std::string::npos || parse(argument.substr(slash + 1), order->failure));
    }
  return false;
}

template <typename Model> struct Run : Model {
  void before() {
    for (unsigned i = 0; i != 8; ++i)
      previousIsSeqCst(i) = false;
    Model::before();
  }
  /// What `before` has stored was not the first thread's.
  void thread(unsigned index) {
    previousIsSeqCst(index) = false;
    Model::thread(index);
  }
};

/// Searches one model; \returns whether it ends without a fault.
template <typename Model> bool searchOne(rl::test_params &parameters, unsigned long long &executions) {
  rl::simulate<Run<Model>>(parameters);
  executions += parameters.stop_iteration;
  return parameters.test_result == rl::test_result_success && parameters.stop_iteration < parameters.iteration_count;
}

/// Prints the name of the first fault of the models, or SUCCESS if there is none. `bound` is how often a
/// thread may be interrupted in an execution; 0: any number. `limit` ends a search that never does.
template <typename... Models> int search(int argc, char **argv, unsigned bound = 0, rl::iteration_t limit = 3000000) {
  if (argc == 2 && !strcmp(argv[1], "--list")) {
    for (auto *order = Order::first(); order; order = order->next)
      printf("%s\n", order->name);
    for (auto *step = Step::first(); step; step = step->next)
      printf("-%s\n", step->name);
    return 0;
  }
  bool trace = argc > 1 && !strcmp(argv[1], "--trace");
  for (int i = 1 + trace; i < argc; ++i)
    if (!set(argv[i]))
      return printf("no such parameter: %s\n", argv[i]), 2;
  for (auto *order = Order::first(); order; order = order->next)
    if (!order->isSet)
      return printf("no order for %s\n", order->name), 2;

  std::ostream quiet(nullptr);
  rl::test_params parameters;
  parameters.search_type = bound ? rl::sched_bound : rl::sched_full;
  parameters.context_bound = bound;
  parameters.iteration_count = limit;
  parameters.execution_depth_limit = 400;
  parameters.progress_stream = &quiet;
  parameters.output_stream = trace ? &std::cout : &quiet;
  unsigned long long executions = 0;
  bool isRight = (searchOne<Models>(parameters, executions) && ...);
  printf("%s after %llu executions\n", rl::test_result_str(parameters.test_result), executions);
  if (!isRight && parameters.test_result == rl::test_result_success)
    return printf("not all executions were searched\n"), 2;
  return !isRight;
}
