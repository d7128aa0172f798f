#include "controls.h"

#include <stdio.h>
#include <stdlib.h>

static void *checked(void *memory) {
  if (!memory) {
    fputs("error: out of memory\nhint: use a smaller --depth\n", stderr);
    exit(1);
  }
  return memory;
}

struct malloc_node {
  struct malloc_node *left, *right;
  long value;
};

static struct malloc_node *malloc_node_make(long value, struct malloc_node *left, struct malloc_node *right) {
  struct malloc_node *node = checked(malloc(sizeof(*node)));
  *node = (struct malloc_node){left, right, value};
  return node;
}

struct malloc_node *malloc_tree_make(long value, int depth) {
  if (depth == 0)
    return NULL;
  struct malloc_node *left = malloc_tree_make(2 * value, depth - 1);
  return malloc_node_make(value, left, malloc_tree_make(2 * value + 1, depth - 1));
}

struct malloc_node *malloc_tree_copy(const struct malloc_node *node) {
  if (!node)
    return NULL;
  struct malloc_node *left = malloc_tree_copy(node->left);
  return malloc_node_make(node->value, left, malloc_tree_copy(node->right));
}

long malloc_tree_sum(const struct malloc_node *node) {
  return node ? node->value + malloc_tree_sum(node->left) + malloc_tree_sum(node->right) : 0;
}

void malloc_tree_delete(struct malloc_node *node) {
  if (!node)
    return;
  malloc_tree_delete(node->left);
  malloc_tree_delete(node->right);
  free(node);
}

// Nodes refer to each other by their index in the buffer of their tree.
struct buffer_node {
  int left, right;
  long value;
};

struct buffer_tree {
  int used;
  struct buffer_node nodes[];
};

static struct buffer_tree *buffer_tree_new(long count) {
  struct buffer_tree *tree = checked(malloc(sizeof(*tree) + (size_t)count * sizeof(struct buffer_node)));
  tree->used = 0;
  return tree;
}

static int buffer_node_make(struct buffer_tree *tree, long value, int depth) {
  if (depth == 0)
    return -1;
  int index = tree->used++;
  int left = buffer_node_make(tree, 2 * value, depth - 1);
  int right = buffer_node_make(tree, 2 * value + 1, depth - 1);
  tree->nodes[index] = (struct buffer_node){left, right, value};
  return index;
}

struct buffer_tree *buffer_tree_make(int depth) {
  struct buffer_tree *tree = buffer_tree_new((1L << depth) - 1);
  buffer_node_make(tree, 1, depth);
  return tree;
}

static int buffer_node_copy(struct buffer_tree *tree, const struct buffer_tree *other, int from) {
  if (from < 0)
    return -1;
  int index = tree->used++;
  int left = buffer_node_copy(tree, other, other->nodes[from].left);
  int right = buffer_node_copy(tree, other, other->nodes[from].right);
  tree->nodes[index] = (struct buffer_node){left, right, other->nodes[from].value};
  return index;
}

struct buffer_tree *buffer_tree_copy(const struct buffer_tree *tree) {
  struct buffer_tree *copy = buffer_tree_new(tree->used);
  buffer_node_copy(copy, tree, 0);
  return copy;
}

long buffer_tree_sum(const struct buffer_tree *tree) {
  long sum = 0;
  for (int i = 0; i < tree->used; i++)
    sum += tree->nodes[i].value;
  return sum;
}

void buffer_tree_delete(struct buffer_tree *tree) { free(tree); }
