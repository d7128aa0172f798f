// The same trees in C, as controls: a malloc for each node, and one buffer.

#ifndef TEARDOWN_CONTROLS_H
#define TEARDOWN_CONTROLS_H

#include "machine.h"

struct malloc_node;
struct malloc_node *malloc_tree_make(long value, int depth);
struct malloc_node *malloc_tree_copy(const struct malloc_node *node);
long malloc_tree_sum(const struct malloc_node *node);
void malloc_tree_delete(struct malloc_node *node);

struct buffer_tree;
struct buffer_tree *buffer_tree_make(int depth);
struct buffer_tree *buffer_tree_copy(const struct buffer_tree *tree);
long buffer_tree_sum(const struct buffer_tree *tree);
void buffer_tree_delete(struct buffer_tree *tree);

#endif
