#include "bench.h"
#include <math.h>
typedef struct { f64 x, y, z; } Vec;
typedef struct { Vec centre; f64 radius; Vec colour; f64 mirror; } Sphere;
typedef struct { f64 distance; i64 sphere; } Hit;
static Vec vec(f64 x, f64 y, f64 z) { Vec v = {x, y, z}; return v; }
static Vec plus(Vec a, Vec b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
static Vec minus(Vec a, Vec b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }
static Vec scaled(Vec a, f64 k) { return vec(a.x * k, a.y * k, a.z * k); }
static f64 dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vec unit(Vec a) { return scaled(a, 1.0 / sqrt(dot(a, a))); }
static f64 meet(Sphere *s, Vec from, Vec direction) {
  Vec to = minus(s->centre, from);
  f64 b = dot(to, direction), d = b * b - dot(to, to) + s->radius * s->radius;
  if (d < 0.0) return -1.0;
  f64 root = sqrt(d);
  if (b - root > 1e-6) return b - root;
  if (b + root > 1e-6) return b + root;
  return -1.0;
}
static Hit nearest(Sphere **spheres, i64 n, Vec from, Vec direction) {
  Hit hit = {1e30, -1};
  for (i64 i = 0; i < n; i++) {
    f64 d = meet(spheres[CK(i, n)], from, direction);
    if (d > 0.0 && d < hit.distance) { hit.distance = d; hit.sphere = i; }
  }
  return hit;
}
static int shadowed(Sphere **spheres, i64 n, Vec from, Vec light) {
  for (i64 i = 0; i < n; i++) if (meet(spheres[CK(i, n)], from, light) > 0.0) return 1;
  return 0;
}
static Vec sky(Vec direction) {
  f64 t = 0.5 * (direction.y + 1.0);
  return plus(scaled(vec(1.0, 1.0, 1.0), 1.0 - t), scaled(vec(0.5, 0.7, 1.0), t));
}
static Vec trace(Sphere **spheres, i64 n, Vec from, Vec direction, Vec light, i64 depth) {
  Hit hit = nearest(spheres, n, from, direction);
  Vec point = from, normal = vec(0.0, 1.0, 0.0), colour;
  f64 mirror = 0.0, floor_at = -1.0;
  if (direction.y < -1e-6) floor_at = (-1.0 - from.y) / direction.y;
  if (floor_at > 1e-6 && floor_at < hit.distance) {
    point = plus(from, scaled(direction, floor_at));
    colour = (((i64)floor(point.x) + (i64)floor(point.z)) & 1) == 0 ? vec(0.9, 0.9, 0.9) : vec(0.2, 0.2, 0.2);
    mirror = 0.1;
  } else if (hit.sphere >= 0) {
    Sphere *s = spheres[CK(hit.sphere, n)];
    point = plus(from, scaled(direction, hit.distance));
    normal = scaled(minus(point, s->centre), 1.0 / s->radius);
    colour = s->colour;
    mirror = s->mirror;
  } else return sky(direction);
  f64 brightness = 0.1, facing = dot(normal, light);
  if (facing > 0.0 && !shadowed(spheres, n, point, light)) brightness += 0.9 * facing;
  Vec own = scaled(colour, brightness);
  if (depth == 0 || mirror == 0.0) return own;
  Vec back = minus(direction, scaled(normal, 2.0 * dot(direction, normal)));
  Vec seen = trace(spheres, n, point, back, light, depth - 1);
  return plus(scaled(own, 1.0 - mirror), scaled(seen, mirror));
}
static i64 shade(f64 x) {
  f64 k = x * 255.0, low = k < 255.0 ? k : 255.0;
  return (i64)(0.0 < low ? low : 0.0);
}
int main(int argc, char **argv) {
  i64 n = arg(argc, argv, 2000), sum = 0;
  Sphere *spheres[16];
  for (i64 i = 0; i < 4; i++)
    for (i64 j = 0; j < 4; j++) {
      Sphere *s = malloc(sizeof(Sphere));
      s->centre = vec((f64)i * 1.5 - 2.25, -0.5 + 0.3 * (f64)(i * j % 3), (f64)j * 1.5 + 3.0);
      s->radius = 0.6;
      s->colour = vec(0.3 + 0.2 * (f64)i, 0.9 - 0.2 * (f64)j, 0.5);
      s->mirror = 0.1 * (f64)(i + j);
      spheres[i * 4 + j] = s;
    }
  Vec light = unit(vec(0.5, 1.0, -0.7)), eye = vec(0.0, 0.6, -2.0);
  for (i64 py = 0; py < n; py++)
    for (i64 px = 0; px < n; px++) {
      f64 x = ((f64)px + 0.5) / (f64)n * 2.0 - 1.0, y = 1.0 - ((f64)py + 0.5) / (f64)n * 2.0;
      Vec c = trace(spheres, 16, eye, unit(vec(x, y, 1.6)), light, 4);
      sum = (sum * 31 + shade(c.x) * 65536 + shade(c.y) * 256 + shade(c.z)) % 1000000007;
    }
  out("raytrace", sum);
  return 0;
}
