#include "bench.h"
enum { BYTE, ANY, RANGE, SPLIT, JUMP, MATCH };
/* instructions are references, as in a language without values of structs */
typedef struct { i64 op, x, y; } Instruction;
typedef struct { const char *pattern; i64 at, len; Instruction *program[64]; } Parser;
static void alternatives(Parser *p);
static Instruction *instruction(i64 op, i64 x, i64 y) {
  Instruction *i = malloc(sizeof(Instruction));
  i->op = op; i->x = x; i->y = y;
  return i;
}
static i64 emit(Parser *p, i64 op, i64 x, i64 y) { p->program[p->len] = instruction(op, x, y); return p->len++; }
static i64 peek(Parser *p) { return p->at < (i64)strlen(p->pattern) ? (i64)(u8)p->pattern[p->at] : -1; }
static void insert(Parser *p, i64 start) {
  emit(p, JUMP, 0, 0);
  for (i64 i = p->len - 1; i > start; i--) {
    Instruction *moved = p->program[i - 1];
    if (moved->op == SPLIT || moved->op == JUMP) {
      if (moved->x >= start) moved->x += 1;
      if (moved->op == SPLIT && moved->y >= start) moved->y += 1;
    }
    p->program[i] = moved;
  }
  p->program[start] = instruction(SPLIT, start + 1, 0);
}
static void atom(Parser *p) {
  i64 c = peek(p);
  p->at += 1;
  if (c == '(') { alternatives(p); p->at += 1; }
  else if (c == '.') emit(p, ANY, 0, 0);
  else if (c == '[') { emit(p, RANGE, p->pattern[p->at], p->pattern[p->at + 2]); p->at += 4; }
  else emit(p, BYTE, c, 0);
}
static void repeated(Parser *p) {
  i64 start = p->len;
  atom(p);
  i64 c = peek(p);
  if (c == '*') { insert(p, start); emit(p, JUMP, start, 0); p->program[start]->y = p->len; p->at += 1; }
  else if (c == '+') { emit(p, SPLIT, start, p->len + 1); p->at += 1; }
  else if (c == '?') { insert(p, start); p->program[start]->y = p->len; p->at += 1; }
}
static void alternatives(Parser *p) {
  i64 start = p->len;
  while (peek(p) != -1 && peek(p) != ')' && peek(p) != '|') repeated(p);
  if (peek(p) == '|') {
    p->at += 1;
    insert(p, start);
    i64 leave = emit(p, JUMP, 0, 0);
    p->program[start]->y = p->len;
    alternatives(p);
    p->program[leave]->x = p->len;
  }
}
typedef struct { i64 *list, size, *seen; } Threads;
static void add(Threads *t, Instruction **program, i64 n, i64 pc, i64 mark) {
  if (t->seen[CK(pc, n)] == mark) return;
  t->seen[CK(pc, n)] = mark;
  Instruction *i = program[CK(pc, n)];
  if (i->op == JUMP) add(t, program, n, i->x, mark);
  else if (i->op == SPLIT) { add(t, program, n, i->x, mark); add(t, program, n, i->y, mark); }
  else { t->list[CK(t->size, n)] = pc; t->size += 1; }
}
static Threads *threads(i64 n) {
  Threads *t = malloc(sizeof(Threads));
  t->list = malloc(n * 8); t->seen = malloc(n * 8); t->size = 0;
  for (i64 i = 0; i < n; i++) { t->list[i] = 0; t->seen[i] = -1; }
  return t;
}
static i64 count(Instruction **program, i64 n, u8 *text, i64 len) {
  Threads *now = threads(n), *next = threads(n);
  i64 found = 0;
  for (i64 at = 0; at < len; at++) {
    i64 c = text[CK(at, len)];
    add(now, program, n, 0, at);
    for (i64 k = 0, size = now->size; k < size; k++) {
      i64 pc = now->list[CK(k, n)];
      Instruction *i = program[CK(pc, n)];
      int go = 0;
      if (i->op == BYTE) go = c == i->x;
      else if (i->op == ANY) go = 1;
      else if (i->op == RANGE) go = c >= i->x && c <= i->y;
      else found += 1;
      if (go) add(next, program, n, pc + 1, at + 1);
    }
    Threads *spare = now; now = next; next = spare;
    next->size = 0;
  }
  return found;
}
int main(int argc, char **argv) {
  i64 n = arg(argc, argv, 3000000), sum = 0;
  u8 *text = malloc(n + 1);
  for (i64 i = 0; i < n; i++) { i64 a = lcg() % 8, b = lcg() % 8; text[i] = (u8)(97 + (b < a ? b : a)); }
  const char *patterns[6] = {"abc", "(a|b)*c", "a.c+d?", "[b-d]+a(ab|cd)", "(aa*b|c)(d|e)*f", "a?b?c?d?e?f"};
  for (i64 k = 0; k < 6; k++) {
    Parser p = {patterns[k], 0, 0, {0}};
    alternatives(&p);
    emit(&p, MATCH, 0, 0);
    sum = sum * 31 + count(p.program, p.len, text, n);
  }
  out("regex", sum);
  return 0;
}
