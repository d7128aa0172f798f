# Upstream's hook for further settings (Runtimes/Core/CMakeLists.txt), which are read before any target is declared.

# Without it none of the conformances in libswift_Concurrency is registered.
cmake_language(DEFER CALL target_link_libraries swift_Concurrency PRIVATE swiftrt)
