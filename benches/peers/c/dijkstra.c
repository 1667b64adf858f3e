#include "bench.h"
/* entries on the heap one by one, as a language with references holds them */
typedef struct { i64 distance, cell; } Entry;
typedef struct { Entry **entries; i64 size, cap; } Heap;
static int before(Entry *a, Entry *b) {
  return a->distance < b->distance || (a->distance == b->distance && a->cell < b->cell);
}
static void add(Heap *heap, Entry *entry) {
  if (heap->size == heap->cap) {
    heap->cap = heap->cap ? heap->cap * 2 : 4;
    heap->entries = realloc(heap->entries, heap->cap * sizeof(Entry *));
  }
  Entry **entries = heap->entries;
  i64 at = heap->size;
  heap->size += 1;
  while (at > 0) {
    i64 parent = (at - 1) / 2;
    if (!before(entry, entries[CK(parent, heap->cap)])) break;
    entries[CK(at, heap->cap)] = entries[CK(parent, heap->cap)];
    at = parent;
  }
  entries[CK(at, heap->cap)] = entry;
}
static Entry *take(Heap *heap) {
  Entry **entries = heap->entries, *least = entries[0];
  heap->size -= 1;
  i64 size = heap->size, at = 0;
  Entry *last = entries[CK(size, heap->cap)];
  while (2 * at + 1 < size) {
    i64 child = 2 * at + 1;
    if (child + 1 < size && before(entries[CK(child + 1, heap->cap)], entries[CK(child, heap->cap)])) child += 1;
    if (!before(entries[CK(child, heap->cap)], last)) break;
    entries[CK(at, heap->cap)] = entries[CK(child, heap->cap)];
    at = child;
  }
  entries[CK(at, heap->cap)] = last;
  return least;
}
static Entry *entry(i64 distance, i64 cell) {
  Entry *e = malloc(sizeof(Entry));
  e->distance = distance;
  e->cell = cell;
  return e;
}
static void relax(Heap *heap, i64 *distances, i64 *costs, i64 n, i64 cell, i64 distance) {
  (void)n;
  i64 through = distance + costs[CK(cell, n)];
  if (through < distances[CK(cell, n)]) {
    distances[CK(cell, n)] = through;
    add(heap, entry(through, cell));
  }
}
static i64 search(i64 *costs, i64 *distances, i64 width, i64 height, i64 start) {
  i64 n = width * height, settled = 0;
  for (i64 i = 0; i < n; i++) distances[CK(i, n)] = 1000000000;
  Heap heap = {NULL, 0, 0};
  distances[CK(start, n)] = 0;
  add(&heap, entry(0, start));
  while (heap.size > 0) {
    Entry *e = take(&heap);
    i64 cell = e->cell, distance = e->distance;
    free(e);
    if (distance > distances[CK(cell, n)]) continue;
    settled += 1;
    i64 x = cell % width, y = cell / width;
    if (x > 0) relax(&heap, distances, costs, n, cell - 1, distance);
    if (x < width - 1) relax(&heap, distances, costs, n, cell + 1, distance);
    if (y > 0) relax(&heap, distances, costs, n, cell - width, distance);
    if (y < height - 1) relax(&heap, distances, costs, n, cell + width, distance);
  }
  free(heap.entries);
  return settled;
}
int main(int argc, char **argv) {
  i64 n = arg(argc, argv, 850), sum = 0;
  i64 *costs = malloc(n * n * 8), *distances = malloc(n * n * 8);
  for (i64 i = 0; i < n * n; i++) costs[i] = 1 + lcg() % 9;
  for (i64 r = 0; r < 4; r++) {
    i64 settled = search(costs, distances, n, n, r * (n * n / 4));
    sum = (sum * 31 + settled) % 1000000007;
    for (i64 i = 0; i < n * n; i++) sum = (sum * 31 + distances[i]) % 1000000007;
  }
  out("dijkstra", sum);
  return 0;
}
