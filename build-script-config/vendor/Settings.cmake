# Upstream's hook for further settings (Runtimes/Core/CMakeLists.txt), which are read before any target is declared.

# Without it none of the conformances in libswift_Concurrency is registered.
cmake_language(DEFER CALL target_link_libraries swift_Concurrency PRIVATE swiftrt)

# Frame pointers, as the toolchain's libraries have them (AddSwiftStdlib.cmake): profilers follow them through a stack.
add_compile_options(
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>"
  "$<$<COMPILE_LANGUAGE:Swift>:SHELL:-Xcc -fno-omit-frame-pointer>")
