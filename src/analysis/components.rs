//! Strongly connected components of a graph (Tarjan 1972), without recursion, in linear time.

/// The components of a graph on the numbers below `len`: for each number its component. A component
/// has a greater number than those it leads to.
pub fn components(len: usize, edges: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut component = vec![NONE; len];
    let mut order = vec![NONE; len];
    let mut low = vec![NONE; len];
    let mut found = 0;
    let mut count = 0;
    let mut stack = Vec::new();
    // Open nodes, each with its edges and how many of them have been followed.
    let mut open: Vec<(usize, Vec<usize>, usize)> = Vec::new();
    for root in 0..len {
        if order[root] != NONE {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                order[node] = found;
                low[node] = found;
                found += 1;
                stack.push(node);
                open.push((node, edges(node), 0));
            }
            let Some((node, targets, followed)) = open.last_mut() else { break };
            let node = *node;
            if let Some(&target) = targets.get(*followed) {
                *followed += 1;
                if order[target] == NONE {
                    enter = Some(target);
                } else if component[target] == NONE {
                    low[node] = low[node].min(order[target]);
                }
                continue;
            }
            open.pop();
            if let Some((parent, ..)) = open.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = stack.pop() {
                    component[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn cycles_are_one_component_and_come_before_what_leads_to_them() {
        let graph = [vec![1], vec![2], vec![1, 3], vec![], vec![4, 0]];
        let component = components(graph.len(), |node| graph[node].clone());
        assert_eq!(component, [2, 1, 1, 0, 3]);
    }

    #[test]
    fn a_long_chain_does_not_recurse() {
        let len = 1_000_000;
        let component =
            components(len, |node| if node + 1 < len { vec![node + 1] } else { vec![] });
        assert_eq!((component[0], component[len - 1]), (len - 1, 0));
    }
}
