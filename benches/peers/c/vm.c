#include "bench.h"
enum { HALT, CONST, LOAD, STORE, ADD, SUB, MUL, DIV, REM, LESS, JUMP, BRANCH, FETCH, PUT };
typedef struct { i64 *code, len, *locals, *stack, *memory, cells, steps; } Machine;
static void run(Machine *m) {
  i64 *code = m->code, *locals = m->locals, *stack = m->stack, *memory = m->memory;
  i64 pc = 0, sp = 0, steps = 0;
  for (;;) {
    i64 op = code[CK(pc, m->len)], operand = code[CK(pc + 1, m->len)];
    pc += 2;
    steps += 1;
    switch (op) {
      case HALT: m->steps += steps; return;
      case CONST: stack[CK(sp, 16)] = operand; sp += 1; break;
      case LOAD: stack[CK(sp, 16)] = locals[CK(operand, 4)]; sp += 1; break;
      case STORE: sp -= 1; locals[CK(operand, 4)] = stack[CK(sp, 16)]; break;
      case ADD: sp -= 1; stack[CK(sp - 1, 16)] = stack[CK(sp - 1, 16)] + stack[CK(sp, 16)]; break;
      case SUB: sp -= 1; stack[CK(sp - 1, 16)] = stack[CK(sp - 1, 16)] - stack[CK(sp, 16)]; break;
      case MUL: sp -= 1; stack[CK(sp - 1, 16)] = stack[CK(sp - 1, 16)] * stack[CK(sp, 16)]; break;
      case DIV: sp -= 1; stack[CK(sp - 1, 16)] = stack[CK(sp - 1, 16)] / stack[CK(sp, 16)]; break;
      case REM: sp -= 1; stack[CK(sp - 1, 16)] = stack[CK(sp - 1, 16)] % stack[CK(sp, 16)]; break;
      case LESS: sp -= 1; stack[CK(sp - 1, 16)] = stack[CK(sp - 1, 16)] < stack[CK(sp, 16)]; break;
      case JUMP: pc = operand; break;
      case BRANCH: sp -= 1; if (stack[CK(sp, 16)] == 0) pc = operand; break;
      case FETCH: stack[CK(sp - 1, 16)] = memory[CK(stack[CK(sp - 1, 16)], m->cells)]; break;
      case PUT: sp -= 2; memory[CK(stack[CK(sp, 16)], m->cells)] = stack[CK(sp + 1, 16)]; break;
      default: abort();
    }
  }
}
static i64 len;
static i64 emit(i64 *c, i64 op, i64 operand) { c[len] = op; c[len + 1] = operand; len += 2; return len - 2; }
static i64 *sieve(void) {
  i64 *c = malloc(200 * 8);
  len = 0;
  emit(c, CONST, 2); emit(c, STORE, 1);
  emit(c, CONST, 0); emit(c, STORE, 3);
  i64 outer = emit(c, LOAD, 1);
  emit(c, LOAD, 0); emit(c, LESS, 0);
  i64 out = emit(c, BRANCH, 0);
  emit(c, LOAD, 1); emit(c, FETCH, 0); emit(c, CONST, 1); emit(c, LESS, 0);
  i64 skip = emit(c, BRANCH, 0);
  emit(c, LOAD, 3); emit(c, CONST, 1); emit(c, ADD, 0); emit(c, STORE, 3);
  emit(c, LOAD, 1); emit(c, LOAD, 1); emit(c, ADD, 0); emit(c, STORE, 2);
  i64 inner = emit(c, LOAD, 2);
  emit(c, LOAD, 0); emit(c, LESS, 0);
  i64 done = emit(c, BRANCH, 0);
  emit(c, LOAD, 2); emit(c, CONST, 1); emit(c, PUT, 0);
  emit(c, LOAD, 2); emit(c, LOAD, 1); emit(c, ADD, 0); emit(c, STORE, 2);
  emit(c, JUMP, inner);
  c[done + 1] = len;
  c[skip + 1] = len;
  emit(c, LOAD, 1); emit(c, CONST, 1); emit(c, ADD, 0); emit(c, STORE, 1);
  emit(c, JUMP, outer);
  c[out + 1] = len;
  emit(c, HALT, 0);
  return c;
}
static i64 *digits(void) {
  i64 *c = malloc(200 * 8);
  len = 0;
  emit(c, CONST, 0); emit(c, STORE, 1);
  emit(c, CONST, 0); emit(c, STORE, 3);
  i64 outer = emit(c, LOAD, 1);
  emit(c, LOAD, 0); emit(c, LESS, 0);
  i64 out = emit(c, BRANCH, 0);
  emit(c, LOAD, 1); emit(c, STORE, 2);
  i64 inner = emit(c, CONST, 0);
  emit(c, LOAD, 2); emit(c, LESS, 0);
  i64 done = emit(c, BRANCH, 0);
  emit(c, LOAD, 3); emit(c, LOAD, 2); emit(c, CONST, 10); emit(c, REM, 0); emit(c, ADD, 0); emit(c, STORE, 3);
  emit(c, LOAD, 2); emit(c, CONST, 10); emit(c, DIV, 0); emit(c, STORE, 2);
  emit(c, JUMP, inner);
  c[done + 1] = len;
  emit(c, LOAD, 1); emit(c, CONST, 1); emit(c, ADD, 0); emit(c, STORE, 1);
  emit(c, JUMP, outer);
  c[out + 1] = len;
  emit(c, HALT, 0);
  return c;
}
int main(int argc, char **argv) {
  i64 n = arg(argc, argv, 600000), sum = 0;
  for (i64 r = 0; r < 3; r++) {
    Machine m = {sieve(), 0, calloc(4, 8), calloc(16, 8), calloc(n + 1, 8), n + 1, 0};
    m.len = len;
    m.locals[0] = n;
    run(&m);
    sum += m.locals[3];
    free(m.code);
    m.code = digits();
    m.len = len;
    run(&m);
    sum += m.locals[3] * 7 + m.steps;
    free(m.code); free(m.locals); free(m.stack); free(m.memory);
  }
  out("vm", sum);
  return 0;
}
