//! Makes a text small without knowing what it means: ddmin over its lines, then over its bytes.

type Takes<'p> = &'p mut dyn FnMut(&[u8]) -> Option<bool>;

/// The text with as few lines as can be.
pub fn reduce_lines(text: &[u8], takes: Takes<'_>) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    while cut(&mut lines, &mut |lines| takes(&lines.concat())) {}
    lines.concat()
}

/// The text with as few bytes as can be.
pub fn reduce_bytes(text: &[u8], takes: Takes<'_>) -> Vec<u8> {
    let mut bytes = reduce_lines(text, takes);
    while cut(&mut bytes, &mut |bytes| takes(bytes)) {}
    bytes
}

/// Cuts halves, quarters, … single items; whether any could go.
fn cut<T: Clone>(items: &mut Vec<T>, takes: &mut dyn FnMut(&[T]) -> Option<bool>) -> bool {
    let mut progress = false;
    let mut chunk = items.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < items.len() {
            let to = (at + chunk).min(items.len());
            let candidate = [&items[..at], &items[to..]].concat();
            match takes(&candidate) {
                Some(true) => (*items, progress) = (candidate, true),
                Some(false) => at = to,
                None => return false,
            }
        }
        if chunk == 1 {
            return progress;
        }
        chunk = chunk.div_ceil(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_stays() {
        let text = b"one\ntwo\nthree x\nfour\nfive y\nseven\n";
        let has = |text: &[u8], byte| text.contains(&byte);
        let small = reduce_bytes(text, &mut |text| Some(has(text, b'x') && has(text, b'y')));
        assert_eq!(small, b"xy");
    }
}
