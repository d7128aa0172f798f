# Delays at the atomic operations of the runtime's C++ code: chaos.h. ThreadSanitizer's
# instrumentation makes them calls of functions; all else that it would do is off.
set(_flags "-mcx16 -fsanitize=thread -mllvm -tsan-handle-cxx-exceptions=0")
foreach(_part memory-accesses func-entry-exit memintrinsics)
  string(APPEND _flags " -mllvm -tsan-instrument-${_part}=0")
endforeach()
set(CMAKE_CXX_FLAGS "-include cstdint -include ${CMAKE_CURRENT_LIST_DIR}/chaos.h ${_flags} -g1" CACHE STRING "" FORCE)
