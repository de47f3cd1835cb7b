//! Join paths: tables that connect chosen ones which no foreign key joins directly.

use std::collections::{BTreeSet, VecDeque};

/// Foreign keys on a path, at most.
const HOPS: usize = 3;

/// Finds the tables that connect the chosen ones. Repeatedly takes the shortest path between two groups of chosen tables
/// that are not connected yet, as long as one has at most three foreign keys; ties go to the path through the earlier
/// tables. Returns the tables in between, in the order found. `neighbours[i]` lists the tables that table `i` is joined
/// with, in order.
pub(crate) fn connect(chosen: &[usize], neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut sent: Vec<usize> = chosen.to_vec();
    let mut between = Vec::new();
    loop {
        let groups = groups(&sent, neighbours);
        let shortest = sent.iter().filter_map(|from| path(*from, &sent, &groups, neighbours)).min_by_key(Vec::len);
        let Some(path) = shortest else { return between };
        for table in path {
            if !sent.contains(&table) {
                sent.push(table);
                between.push(table);
            }
        }
    }
}

/// The group of each sent table, identified by its first member; `None` for a table that is not sent.
fn groups(sent: &[usize], neighbours: &[Vec<usize>]) -> Vec<Option<usize>> {
    let members: BTreeSet<usize> = sent.iter().copied().collect();
    let mut groups = vec![None; neighbours.len()];
    for &first in sent {
        let mut reached = vec![first];
        while let Some(table) = reached.pop() {
            if groups[table].is_none() {
                groups[table] = Some(first);
                reached.extend(neighbours[table].iter().filter(|next| members.contains(next)));
            }
        }
    }
    groups
}

/// The shortest path from a table to one of another group, by breadth-first search.
fn path(from: usize, sent: &[usize], groups: &[Option<usize>], neighbours: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; neighbours.len()];
    let mut hops = vec![usize::MAX; neighbours.len()];
    hops[from] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(table) = queue.pop_front() {
        if sent.contains(&table) && groups[table] != groups[from] {
            let back = std::iter::successors(Some(table), |table| before[*table]);
            return Some(back.collect());
        }
        if hops[table] < HOPS {
            for &next in &neighbours[table] {
                if hops[next] == usize::MAX {
                    hops[next] = hops[table] + 1;
                    before[next] = Some(table);
                    queue.push_back(next);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(count: usize, keys: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut neighbours = vec![BTreeSet::new(); count];
        for &(a, b) in keys {
            neighbours[a].insert(b);
            neighbours[b].insert(a);
        }
        neighbours.into_iter().map(|tables| tables.into_iter().collect()).collect()
    }

    #[test]
    fn a_junction_table_and_a_chain_are_found() {
        // 0 - 1 - 2 - 3 - 4 - 5, and 6 apart.
        let chain = both_ways(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
        assert_eq!(connect(&[0, 2], &chain), [1]);
        assert_eq!(connect(&[0, 1], &chain), [0; 0], "joined already");
        let mut between = connect(&[0, 3], &chain);
        between.sort_unstable();
        assert_eq!(between, [1, 2]);
        assert_eq!(connect(&[0, 4], &chain), [0; 0], "four foreign keys are too many");
        assert_eq!(connect(&[0, 6], &chain), [0; 0]);
        let mut between = connect(&[0, 2, 4], &chain);
        between.sort_unstable();
        assert_eq!(between, [1, 3]);
    }

    #[test]
    fn the_shortest_way_is_taken_and_ties_go_to_the_earlier() {
        let two_ways = both_ways(6, &[(0, 3), (3, 4), (4, 1), (0, 2), (2, 1), (0, 5), (5, 1)]);
        assert_eq!(connect(&[0, 1], &two_ways), [2]);
        assert_eq!(connect(&[], &two_ways), [0; 0]);
        assert_eq!(connect(&[0], &both_ways(1, &[(0, 0)])), [0; 0], "a key to itself");
    }
}
