//! Where the blocks of a control flow graph are drawn, and their edges.
//!
//! Layers as Sugiyama, Tagawa and Toda (1981) have them: edges that go back are turned around, each
//! block stands below its predecessors, blocks of a layer are ordered by the mean place of their
//! neighbours, and get the places nearest to where their neighbours are that keep them apart (by
//! pooling neighbours that would overlap, which is exact). Edges over several layers have a place in
//! each; very long ones run in lanes beside the graph, those to one block in one lane.
//!
//! The graph is the union of what all stages have, so that a block stays where it is from stage to
//! stage. Sizes of blocks, edges → places in pixels. Near-linear; the same input gives the same
//! drawing.

use serde_json::{Value, json};

/// Between two blocks of a layer.
const BESIDE: f32 = 26.0;
/// Between a line and its neighbour.
const NEAR: f32 = 14.0;
/// Between two layers.
const BELOW: f32 = 36.0;
/// Edges over more layers run in lanes.
const LONG: usize = 8;
const SWEEPS: usize = 8;

/// A block to draw.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its number.
    pub block: u32,
    /// How wide it is.
    pub width: f32,
    /// How high it is.
    pub height: f32,
}

/// A place in a layer: a block, or where an edge passes.
#[derive(Clone, Debug)]
struct Slot {
    layer: usize,
    width: f32,
    above: Vec<usize>,
    below: Vec<usize>,
    /// The block that it wants to be just beside of.
    beside: Option<usize>,
    x: f32,
}

/// An edge on its way through the layers.
struct Route {
    from: usize,
    to: usize,
    back: bool,
    /// The slots it passes, in the order of the layers.
    passes: Vec<usize>,
    lane: bool,
}

/// Draws a graph; `edges` are pairs of places in `nodes`, of which the first is the entry.
pub fn draw(nodes: &[Node], edges: &[(usize, usize)]) -> Value {
    let mut edges = edges.to_vec();
    edges.sort_unstable();
    edges.dedup();
    let (layers, back) = layers(nodes.len(), &edges);
    let mut drawing = Drawing::new(nodes, &edges, &layers, &back);
    drawing.order();
    drawing.place();
    drawing.finish(nodes)
}

/// The layer of each node, and whether each edge goes back.
fn layers(count: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<bool>) {
    let mut starts = vec![0; count + 1];
    edges.iter().for_each(|&(from, _)| starts[from + 1] += 1);
    (0..count).for_each(|i| starts[i + 1] += starts[i]);
    let (mut back, mut state) = (vec![false; edges.len()], vec![0u8; count]);
    let mut postorder = Vec::with_capacity(count);
    for root in 0..count {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut open = vec![(root, starts[root])];
        while let Some((at, next)) = open.last_mut() {
            if *next == starts[*at + 1] {
                state[*at] = 2;
                postorder.push(*at);
                open.pop();
                continue;
            }
            let (edge, to) = (*next, edges[*next].1);
            *next += 1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    open.push((to, starts[to]));
                }
                1 => back[edge] = true,
                _ => {}
            }
        }
    }
    let mut layer = vec![0; count];
    for &at in postorder.iter().rev() {
        for edge in starts[at]..starts[at + 1] {
            let to = edges[edge].1;
            if !back[edge] {
                layer[to] = layer[to].max(layer[at] + 1);
            }
        }
    }
    (layer, back)
}

struct Drawing {
    slots: Vec<Slot>,
    /// The slots of each layer from left to right.
    layers: Vec<Vec<usize>>,
    routes: Vec<Route>,
}

impl Drawing {
    fn new(nodes: &[Node], edges: &[(usize, usize)], layer: &[usize], back: &[bool]) -> Self {
        let depth = layer.iter().max().map_or(0, |last| last + 1);
        let slot = |layer, width| Slot {
            layer,
            width,
            above: vec![],
            below: vec![],
            beside: None,
            x: 0.0,
        };
        let mut drawing = Self {
            slots: nodes.iter().zip(layer).map(|(node, &layer)| slot(layer, node.width)).collect(),
            layers: vec![Vec::new(); depth],
            routes: Vec::new(),
        };
        (0..nodes.len()).for_each(|i| drawing.layers[layer[i]].push(i));
        for (&(from, to), &back) in edges.iter().zip(back) {
            let (top, bottom) = if back { (to, from) } else { (from, to) };
            let (first, last) = (layer[top], layer[bottom]);
            let mut route = Route { from, to, back, passes: Vec::new(), lane: false };
            if last - first > LONG {
                route.lane = true;
            } else {
                // An edge that goes back passes beside both its ends.
                let range = if back { first..last + 1 } else { first + 1..last };
                let mut above = (!back).then_some(top);
                for layer in range {
                    let pass = drawing.slots.len();
                    drawing.slots.push(slot(layer, 2.0));
                    let row = &mut drawing.layers[layer];
                    let beside = row.iter().position(|&s| s == top || s == bottom);
                    let beside = beside.filter(|_| back);
                    drawing.slots[pass].beside = beside.map(|at| row[at]);
                    row.insert(beside.map_or(row.len(), |at| at + 1), pass);
                    drawing.join(above, pass);
                    above = Some(pass);
                    route.passes.push(pass);
                }
                if !back {
                    drawing.join(above, bottom);
                }
            }
            drawing.routes.push(route);
        }
        drawing
    }

    fn join(&mut self, above: Option<usize>, below: usize) {
        if let Some(above) = above {
            self.slots[above].below.push(below);
            self.slots[below].above.push(above);
        }
    }

    /// Orders each layer by the mean place of the neighbours, down and up again and again.
    fn order(&mut self) {
        let mut place = vec![0.0f32; self.slots.len()];
        let number = |layers: &[Vec<usize>], place: &mut [f32], layer: usize| {
            layers[layer].iter().enumerate().for_each(|(i, &slot)| place[slot] = i as f32);
        };
        (0..self.layers.len()).for_each(|layer| number(&self.layers, &mut place, layer));
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            for step in 0..self.layers.len() {
                let layer = if down { step } else { self.layers.len() - 1 - step };
                let slots = &self.slots;
                let mean = |&slot: &usize| {
                    let near = if down { &slots[slot].above } else { &slots[slot].below };
                    let sum: f32 = near.iter().map(|&other| place[other]).sum();
                    if near.is_empty() { place[slot] } else { sum / near.len() as f32 }
                };
                let mut keyed: Vec<(f32, usize)> =
                    self.layers[layer].iter().map(|slot| (mean(slot), *slot)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.layers[layer] = keyed.into_iter().map(|(_, slot)| slot).collect();
                number(&self.layers, &mut place, layer);
            }
        }
    }

    /// Gives all slots their places from left to right.
    fn place(&mut self) {
        for layer in 0..self.layers.len() {
            let row: Vec<usize> = self.layers[layer].clone();
            let mut x = 0.0;
            for (i, &slot) in row.iter().enumerate() {
                x += if i == 0 { 0.0 } else { self.apart(row[i - 1], slot) };
                self.slots[slot].x = x;
            }
        }
        for sweep in 0..2 * SWEEPS {
            let down = sweep % 2 == 0;
            for step in 0..self.layers.len() {
                self.settle(if down { step } else { self.layers.len() - 1 - step }, down);
            }
        }
        let edge = |slot: &Slot| slot.x - slot.width / 2.0;
        let left = self.slots.iter().map(edge).fold(f32::INFINITY, f32::min);
        self.slots.iter_mut().for_each(|slot| slot.x -= left - NEAR);
    }

    /// How far the middles of two neighbours are apart at least.
    fn apart(&self, a: usize, b: usize) -> f32 {
        let (a, b) = (&self.slots[a], &self.slots[b]);
        let gap = if a.width > 2.0 && b.width > 2.0 { BESIDE } else { NEAR };
        (a.width + b.width) / 2.0 + gap
    }

    /// Moves the slots of a layer as near as can be to the middle of their neighbours: least squares
    /// with distances kept, by pooling.
    fn settle(&mut self, layer: usize, down: bool) {
        struct Pool {
            sum: f32,
            weight: f32,
            count: usize,
        }
        let row = std::mem::take(&mut self.layers[layer]);
        let mut offsets = Vec::with_capacity(row.len());
        let mut pools: Vec<Pool> = Vec::new();
        let mut offset = 0.0;
        for (i, &slot) in row.iter().enumerate() {
            offset += if i == 0 { 0.0 } else { self.apart(row[i - 1], slot) };
            offsets.push(offset);
            let Slot { above, below, width, beside, x, .. } = &self.slots[slot];
            let near = if down { above } else { below };
            let sum: f32 = near.iter().map(|&other| self.slots[other].x).sum();
            let (wish, weight) = match (beside, near.len()) {
                (Some(beside), _) => {
                    let middle = (self.slots[*beside].x, self.apart(*beside, slot));
                    (if *x < middle.0 { middle.0 - middle.1 } else { middle.0 + middle.1 }, 0.5)
                }
                (None, 0) => (*x, 0.1),
                (None, n) => (sum / n as f32, if *width > 2.0 { 1.0 } else { 4.0 }),
            };
            pools.push(Pool { sum: (wish - offset) * weight, weight, count: 1 });
            while let [.., a, b] = &pools[..]
                && a.sum / a.weight > b.sum / b.weight
            {
                let (sum, weight, count) = (a.sum + b.sum, a.weight + b.weight, a.count + b.count);
                pools.truncate(pools.len() - 2);
                pools.push(Pool { sum, weight, count });
            }
        }
        let places = pools.iter().flat_map(|p| std::iter::repeat_n(p.sum / p.weight, p.count));
        for ((&slot, offset), place) in row.iter().zip(offsets).zip(places) {
            self.slots[slot].x = place + offset;
        }
        self.layers[layer] = row;
    }

    /// Where each edge leaves its block, from the middle, as a part of the width: those that go to
    /// the left leave at the left.
    fn ports(&self) -> Vec<f32> {
        let next = |route: &Route| match (route.back, route.lane, route.passes.as_slice()) {
            (_, true, _) => f32::INFINITY,
            (true, _, [.., pass]) | (false, _, [pass, ..]) => self.slots[*pass].x,
            _ => self.slots[route.to].x,
        };
        let mut order: Vec<usize> = (0..self.routes.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.routes[a], &self.routes[b]);
            a.from.cmp(&b.from).then(next(a).total_cmp(&next(b)))
        });
        let mut ports = vec![0.0; self.routes.len()];
        for group in order.chunk_by(|&a, &b| self.routes[a].from == self.routes[b].from) {
            for (i, &route) in group.iter().enumerate() {
                ports[route] = (i as f32 - (group.len() - 1) as f32 / 2.0) / 4.0;
            }
        }
        ports
    }

    fn finish(self, nodes: &[Node]) -> Value {
        let heights: Vec<f32> = self
            .layers
            .iter()
            .map(|row| {
                row.iter().filter_map(|&s| nodes.get(s)).map(|n| n.height).fold(0.0, f32::max)
            })
            .collect();
        let mut tops = vec![NEAR];
        for height in &heights {
            tops.push(tops[tops.len() - 1] + height + BELOW);
        }
        let right = |slot: &Slot| slot.x + slot.width / 2.0;
        let mut width = self.slots.iter().map(right).fold(0.0, f32::max) + NEAR;
        let mut lanes: Vec<(usize, f32)> = Vec::new();
        let mut edges = Vec::new();
        let ports = self.ports();
        for (number, (route, port)) in self.routes.iter().zip(ports).enumerate() {
            let (from, to) = (&self.slots[route.from], &self.slots[route.to]);
            let start = from.x + port * nodes[route.from].width;
            let foot = tops[from.layer] + heights[from.layer];
            let mut points = vec![(start, tops[from.layer] + nodes[route.from].height)];
            let aside = BELOW / 2.0 - 8.0 + (number % 4) as f32 * 4.0;
            let mut end = to.x;
            if route.lane {
                let known = lanes.iter().find(|lane| lane.0 == route.to).map(|lane| lane.1);
                let x = known.unwrap_or_else(|| {
                    width += NEAR;
                    lanes.push((route.to, width - NEAR / 2.0));
                    width - NEAR / 2.0
                });
                end += nodes[route.to].width / 4.0;
                let head = tops[to.layer] - aside;
                points.extend([(start, foot + aside), (x, foot + aside), (x, head), (end, head)]);
            } else if route.back {
                let x = |pass: Option<&usize>| pass.map_or(end, |&pass| self.slots[pass].x);
                let (head, first, last) =
                    (tops[to.layer] - aside, x(route.passes.first()), x(route.passes.last()));
                end += if first < to.x { -0.25 } else { 0.25 } * nodes[route.to].width;
                points.extend([(start, foot + aside), (last, foot + aside)]);
                for &pass in route.passes.iter().rev() {
                    let Slot { layer, x, .. } = self.slots[pass];
                    points.extend([(x, tops[layer] + heights[layer]), (x, tops[layer])]);
                }
                points.extend([(first, head), (end, head)]);
            } else {
                points.push((start, foot));
                for &pass in &route.passes {
                    let Slot { layer, x, .. } = self.slots[pass];
                    points.extend([(x, tops[layer]), (x, tops[layer] + heights[layer])]);
                }
            }
            points.push((end, tops[to.layer]));
            let points: Vec<i32> =
                points.iter().flat_map(|&(x, y)| [x.round() as i32, y.round() as i32]).collect();
            edges.push(json!([nodes[route.from].block, nodes[route.to].block, points]));
        }
        let places = nodes.iter().enumerate().map(|(i, node)| {
            let Slot { layer, x, .. } = self.slots[i];
            let left = (x - node.width / 2.0).round() as i32;
            json!([node.block, left, tops[layer] as i32, node.width as i32, node.height as i32])
        });
        let height = tops[self.layers.len()] - BELOW + 2.0 * NEAR;
        json!({
            "width": width as i32,
            "height": height as i32,
            "nodes": places.collect::<Vec<_>>(),
            "edges": edges,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: u32) -> Vec<Node> {
        (0..count).map(|block| Node { block, width: 80.0 + block as f32, height: 30.0 }).collect()
    }

    /// No two blocks overlap, and each stands below those with edges to it that do not go back.
    fn check(count: u32, edges: &[(usize, usize)]) {
        let drawn = draw(&nodes(count), edges);
        let places: Vec<Vec<i64>> = serde_json::from_value(drawn["nodes"].clone()).unwrap();
        for (i, a) in places.iter().enumerate() {
            assert!(a[1] >= 0 && a[1] + a[3] <= drawn["width"].as_i64().unwrap());
            for b in &places[..i] {
                let beside = a[1] + a[3] <= b[1] || b[1] + b[3] <= a[1];
                assert!(beside || a[2] + a[4] <= b[2] || b[2] + b[4] <= a[2], "{a:?} {b:?}");
            }
        }
        let (_, back) = layers(count as usize, edges);
        for (&(from, to), back) in edges.iter().zip(back) {
            assert_eq!(back, places[to][2] <= places[from][2], "{from} {to}");
        }
    }

    #[test]
    fn blocks_do_not_overlap() {
        check(1, &[]);
        check(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        check(4, &[(0, 1), (1, 1), (1, 2), (2, 1), (2, 3), (3, 0)]);
        let ladder: Vec<(usize, usize)> = (0..299).flat_map(|i| [(i, i + 1), (i, 299)]).collect();
        let mut ladder: Vec<_> = ladder.into_iter().filter(|(a, b)| a != b).collect();
        ladder.sort_unstable();
        ladder.dedup();
        check(300, &ladder);
    }
}
