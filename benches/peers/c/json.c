#include "bench.h"
enum { NUL, BOOL, NUMBER, STRING, ARRAY, OBJECT };
typedef struct { u8 *data; i64 len, cap; } Bytes;
static void push(Bytes *b, i64 x) {
  if (b->len == b->cap) { b->cap = b->cap ? b->cap * 2 : 8; b->data = realloc(b->data, b->cap); }
  b->data[b->len++] = (u8)x;
}
typedef struct Json { i64 kind, number, end; struct Json *first, *next; } Json;
typedef struct { Bytes *text; i64 at; } Parser;
#define AT(p) ((p)->text->data[CK((p)->at, (p)->text->len)])
static Json *parse(Parser *p);
static void skip(Parser *p) {
  while (p->at < p->text->len) {
    u8 c = AT(p);
    if (c != ' ' && c != '\n') return;
    p->at += 1;
  }
}
static Json *leaf(i64 kind, i64 number, i64 end) {
  Json *j = malloc(sizeof(Json));
  j->kind = kind; j->number = number; j->end = end; j->first = NULL; j->next = NULL;
  return j;
}
static Json *parse_string(Parser *p) {
  p->at += 1;
  i64 start = p->at;
  while (AT(p) != '"') {
    if (AT(p) == '\\') p->at += 1;
    p->at += 1;
  }
  i64 end = p->at;
  p->at += 1;
  return leaf(STRING, start, end);
}
static Json *parse_number(Parser *p) {
  i64 sign = 1, value = 0;
  if (AT(p) == '-') { sign = -1; p->at += 1; }
  while (p->at < p->text->len && AT(p) >= '0' && AT(p) <= '9') {
    value = value * 10 + (i64)AT(p) - 48;
    p->at += 1;
  }
  return leaf(NUMBER, sign * value, 0);
}
static Json *parse_items(Parser *p, i64 kind, u8 close) {
  Json *whole = leaf(kind, 0, 0), *last = NULL;
  p->at += 1;
  skip(p);
  while (AT(p) != close) {
    Json *item = parse(p);
    if (!last) whole->first = item; else last->next = item;
    last = item;
    whole->number += 1;
    skip(p);
    if (AT(p) == ',' || AT(p) == ':') p->at += 1;
    skip(p);
  }
  p->at += 1;
  return whole;
}
static Json *parse(Parser *p) {
  skip(p);
  switch (AT(p)) {
    case '"': return parse_string(p);
    case '[': return parse_items(p, ARRAY, ']');
    case '{': return parse_items(p, OBJECT, '}');
    case 't': p->at += 4; return leaf(BOOL, 1, 0);
    case 'f': p->at += 5; return leaf(BOOL, 0, 0);
    case 'n': p->at += 4; return leaf(NUL, 0, 0);
    default: return parse_number(p);
  }
}
static void put(Bytes *out, const char *text) { while (*text) push(out, *text++); }
static void put_number(Bytes *out, i64 rest) {
  if (rest < 0) { push(out, '-'); rest = -rest; }
  i64 unit = 1;
  while (rest / unit >= 10) unit *= 10;
  while (unit > 0) { push(out, 48 + rest / unit % 10); unit /= 10; }
}
static void show(Bytes *out, Bytes *source, Json *value) {
  if (value->kind == NUL) put(out, "null");
  else if (value->kind == BOOL) put(out, value->number == 1 ? "true" : "false");
  else if (value->kind == NUMBER) put_number(out, value->number);
  else if (value->kind == STRING) {
    push(out, '"');
    for (i64 i = value->number; i < value->end; i++) push(out, source->data[CK(i, source->len)]);
    push(out, '"');
  } else {
    int object = value->kind == OBJECT;
    push(out, object ? '{' : '[');
    i64 i = 0;
    for (Json *item = value->first; item; item = item->next, i++) {
      if (i > 0) push(out, object && i % 2 == 1 ? ':' : ',');
      show(out, source, item);
    }
    push(out, object ? '}' : ']');
  }
}
static i64 sum(Json *value) {
  i64 total = value->kind;
  if (value->kind == NUMBER) total += value->number;
  for (Json *item = value->first; item; item = item->next) total = (total * 3 + sum(item)) & 0xFFFFFFFF;
  return total;
}
static void del(Json *value) {
  for (Json *item = value->first; item;) { Json *next = item->next; del(item); item = next; }
  free(value);
}
static void generate(Bytes *out, i64 depth) {
  i64 pick = lcg() % 10;
  if (depth > 0 && pick < 7) {
    int object = pick < 4;
    put(out, object ? "{ " : "[ ");
    i64 n = 2 + lcg() % 5;
    for (i64 i = 0; i < n; i++) {
      if (i > 0) put(out, ", ");
      if (object) { put(out, "\"key"); put_number(out, lcg() % 1000); put(out, "\": "); }
      generate(out, depth - 1);
    }
    put(out, object ? " }\n" : " ]\n");
  } else if (pick < 5) put_number(out, lcg() % 2000000 - 1000000);
  else if (pick < 8) {
    put(out, "\"a text with \\\"quotes\\\" number ");
    put_number(out, lcg() % 1000);
    push(out, '"');
  } else if (pick == 8) put(out, "true");
  else put(out, "null");
}
int main(int argc, char **argv) {
  i64 n = arg(argc, argv, 15), total = 0;
  Bytes text = {NULL, 0, 0};
  push(&text, '[');
  for (i64 i = 0; i < 60 && i < 4 * n; i++) {
    if (i > 0) push(&text, ',');
    generate(&text, 7);
  }
  push(&text, ']');
  for (i64 r = 0; r < n; r++) {
    Parser p = {&text, 0};
    Json *value = parse(&p);
    Bytes out = {NULL, 0, 0};
    show(&out, &text, value);
    total = (total * 31 + sum(value) + out.len + out.data[CK(r * 97 % out.len, out.len)]) % 1000000007;
    del(value);
    free(out.data);
  }
  out("json", total);
  return 0;
}
