// The trees of controls.c, as the others.

struct MallocTree: Tree, ~Copyable {
  private let root: OpaquePointer
  init(depth: Int) { root = malloc_tree_make(1, Int32(depth)) }
  private init(_ root: OpaquePointer) { self.root = root }
  borrowing func copied() -> MallocTree { MallocTree(malloc_tree_copy(root)) }
  borrowing func sum() -> Int { malloc_tree_sum(root) }
  deinit { malloc_tree_delete(root) }
}

struct BufferTree: Tree, ~Copyable {
  private let tree: OpaquePointer
  init(depth: Int) { tree = buffer_tree_make(Int32(depth)) }
  private init(_ tree: OpaquePointer) { self.tree = tree }
  borrowing func copied() -> BufferTree { BufferTree(buffer_tree_copy(tree)) }
  borrowing func sum() -> Int { buffer_tree_sum(tree) }
  deinit { buffer_tree_delete(tree) }
}
