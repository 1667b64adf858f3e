//! "Did you mean": the name in reach that is most like a misspelt one.
//!
//! Likeness is the optimal string alignment distance (Damerau–Levenshtein with each letter
//! touched once): insertions, deletions, replacements and swaps of neighbours.

/// Longer names are not compared.
const LONGEST: usize = 48;

/// The most like of `candidates`, if any is near enough; the earlier one of two equals.
pub fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST {
        return None;
    }
    let mut best = None;
    let mut limit = match name.len() {
        0..=2 => 1,
        n => n.div_ceil(3),
    };
    for candidate in candidates {
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let found = distance(name.as_bytes(), candidate.as_bytes());
        let all_replaced = found >= name.len().max(candidate.len());
        if found > limit || all_replaced {
            continue;
        }
        best = Some(candidate);
        if found == 0 {
            break;
        }
        limit = found - 1;
    }
    best
}

fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(!a[i].eq_ignore_ascii_case(&b[j]));
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance(b"", b"abc"), 3);
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(distance(b"lenght", b"length"), 1);
        assert_eq!(distance(b"same", b"same"), 0);
    }

    #[test]
    fn nearest_names() {
        let names = ["total", "count", "length", "x", "print"];
        let find = |name| nearest(name, names.into_iter());
        assert_eq!(find("lenght"), Some("length"));
        assert_eq!(find("totl"), Some("total"));
        assert_eq!(find("Total"), Some("total"));
        assert_eq!(find("prnt"), Some("print"));
        assert_eq!(find("y"), None);
        assert_eq!(find("something"), None);
        assert_eq!(find(""), None);
    }
}
