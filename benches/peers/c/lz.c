#include "bench.h"
#define BITS 14
#define WINDOW 65535
typedef struct { u8 *data; i64 len, cap; } Bytes;
static void push(Bytes *b, i64 x) {
  if (b->len == b->cap) { b->cap = b->cap ? b->cap * 2 : 8; b->data = realloc(b->data, b->cap); }
  b->data[b->len++] = (u8)x;
}
static i64 hash(Bytes *d, i64 at) {
  i64 word = (i64)d->data[CK(at, d->len)] | ((i64)d->data[CK(at + 1, d->len)] << 8) |
             ((i64)d->data[CK(at + 2, d->len)] << 16) | ((i64)d->data[CK(at + 3, d->len)] << 24);
  return ((word * 2654435761) & 0xFFFFFFFF) >> (32 - BITS);
}
static void put_number(Bytes *out, i64 rest) {
  while (rest >= 128) { push(out, rest | 128); rest = (i64)((uint64_t)rest >> 7); }
  push(out, rest);
}
static void put_token(Bytes *out, Bytes *data, i64 from, i64 to, i64 length, i64 distance) {
  put_number(out, to - from);
  for (i64 i = from; i < to; i++) push(out, data->data[CK(i, data->len)]);
  put_number(out, length);
  if (length > 0) put_number(out, distance);
}
static i64 match_length(Bytes *d, i64 a, i64 b) {
  i64 n = d->len, length = 0;
  while (b + length < n && d->data[CK(a + length, n)] == d->data[CK(b + length, n)]) length += 1;
  return length;
}
static Bytes compress(Bytes *data) {
  Bytes out = {NULL, 0, 0};
  i64 *table = malloc(8 << BITS), n = data->len, at = 0, literals = 0;
  for (i64 i = 0; i < 1 << BITS; i++) table[i] = -1;
  while (at + 4 <= n) {
    i64 h = hash(data, at), candidate = table[CK(h, 1 << BITS)];
    table[CK(h, 1 << BITS)] = at;
    if (candidate >= 0 && at - candidate <= WINDOW) {
      i64 length = match_length(data, candidate, at);
      if (length >= 4) {
        put_token(&out, data, literals, at, length, at - candidate);
        i64 end = at + length;
        at += 1;
        while (at < end && at + 4 <= n) { table[CK(hash(data, at), 1 << BITS)] = at; at += 1; }
        at = end;
        literals = at;
        continue;
      }
    }
    at += 1;
  }
  put_token(&out, data, literals, n, 0, 0);
  free(table);
  return out;
}
typedef struct { Bytes *data; i64 at; } Reader;
static i64 get_number(Reader *r) {
  i64 number = 0, shift = 0;
  for (;;) {
    i64 b = r->data->data[CK(r->at, r->data->len)];
    r->at += 1;
    number |= (b & 127) << shift;
    if (b < 128) return number;
    shift += 7;
  }
}
static Bytes decompress(Bytes *packed) {
  Bytes out = {NULL, 0, 0};
  Reader r = {packed, 0};
  for (;;) {
    i64 literals = get_number(&r);
    for (i64 i = 0; i < literals; i++) push(&out, packed->data[CK(r.at + i, packed->len)]);
    r.at += literals;
    i64 length = get_number(&r);
    if (length == 0) return out;
    i64 from = out.len - get_number(&r);
    for (i64 i = 0; i < length; i++) push(&out, out.data[CK(from + i, out.len)]);
  }
}
static Bytes text(i64 n) {
  Bytes words[400], out = {NULL, 0, 0};
  for (i64 i = 0; i < 400; i++) {
    Bytes word = {NULL, 0, 0};
    i64 k = 2 + lcg() % 7;
    for (i64 j = 0; j < k; j++) push(&word, 97 + lcg() % 26);
    words[i] = word;
  }
  while (out.len < n) {
    i64 a = lcg() % 400, b = lcg() % 400;
    Bytes *word = &words[b < a ? b : a];
    for (i64 i = 0; i < word->len; i++) push(&out, word->data[CK(i, word->len)]);
    push(&out, 32);
  }
  return out;
}
int main(int argc, char **argv) {
  i64 n = arg(argc, argv, 4000000), sum = 0;
  Bytes data = text(n);
  for (i64 r = 0; r < 5; r++) {
    Bytes packed = compress(&data), back = decompress(&packed);
    if (back.len != data.len) abort();
    for (i64 i = 0; i < data.len; i++) if (back.data[CK(i, back.len)] != data.data[CK(i, data.len)]) abort();
    for (i64 i = 0; i < packed.len; i++) sum = (sum * 31 + packed.data[CK(i, packed.len)]) & 0xFFFFFFFF;
    data.data[r * 7 % data.len] += 1;
    free(packed.data); free(back.data);
  }
  out("lz", sum);
  return 0;
}
