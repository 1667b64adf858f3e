#include "bench.h"
static const i64 K[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define MASK 0xFFFFFFFFLL
static i64 turn(i64 x, i64 n) { return ((i64)((uint64_t)x >> n) | (x << (32 - n))) & MASK; }
static void block(i64 *h, i64 *w, u8 *data, i64 at, i64 len) {
  (void)len;
  for (i64 i = 0; i < 16; i++) {
    i64 p = at + 4 * i;
    w[CK(i, 64)] = ((i64)data[CK(p, len)] << 24) | ((i64)data[CK(p + 1, len)] << 16) | ((i64)data[CK(p + 2, len)] << 8) | data[CK(p + 3, len)];
  }
  for (i64 i = 16; i < 64; i++) {
    i64 x = w[CK(i - 15, 64)], y = w[CK(i - 2, 64)];
    i64 s0 = turn(x, 7) ^ turn(x, 18) ^ (x >> 3), s1 = turn(y, 17) ^ turn(y, 19) ^ (y >> 10);
    w[CK(i, 64)] = (w[CK(i - 16, 64)] + s0 + w[CK(i - 7, 64)] + s1) & MASK;
  }
  i64 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
  for (i64 i = 0; i < 64; i++) {
    i64 s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    i64 choice = (e & f) ^ (~e & g);
    i64 t1 = k + s1 + choice + K[CK(i, 64)] + w[CK(i, 64)];
    i64 s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    i64 majority = (a & b) ^ (a & c) ^ (b & c);
    i64 t2 = s0 + majority;
    k = g; g = f; f = e; e = (d + t1) & MASK;
    d = c; c = b; b = a; a = (t1 + t2) & MASK;
  }
  h[0] = (h[0] + a) & MASK; h[1] = (h[1] + b) & MASK; h[2] = (h[2] + c) & MASK; h[3] = (h[3] + d) & MASK;
  h[4] = (h[4] + e) & MASK; h[5] = (h[5] + f) & MASK; h[6] = (h[6] + g) & MASK; h[7] = (h[7] + k) & MASK;
}
static void sha256(u8 *message, i64 n, i64 *h) {
  static const i64 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  i64 w[64], bits = n * 8, len = n, at = 0;
  memcpy(h, start, sizeof start);
  u8 *data = malloc(n + 80);
  memcpy(data, message, n);
  data[len++] = 128;
  while (len % 64 != 56) data[len++] = 0;
  for (i64 i = 0; i < 8; i++) data[len++] = (u8)((uint64_t)bits >> (56 - 8 * i));
  while (at < len) { block(h, w, data, at, len); at += 64; }
  free(data);
}
int main(int argc, char **argv) {
  i64 n = arg(argc, argv, 200), len = 0, x = 42, sum = 0, h[8];
  u8 *data = malloc(300000);
  for (i64 i = 0; i < 300000; i++) {
    if (i >= n * 1500) break;
    x = x * 16807 % 2147483647;
    data[len++] = (u8)x;
  }
  for (i64 r = 0; r < n; r++) {
    if (len > 0) data[r % len] += 1;
    sha256(data, len, h);
    for (i64 i = 0; i < 8; i++) sum = (sum * 31 + h[i]) & MASK;
  }
  out("sha256", sum);
  return 0;
}
