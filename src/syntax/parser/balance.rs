//! Which braces are at fault, told from the counts of all braces of a file.
//!
//! The file is cut where `fn NAME` and `struct NAME` stand; in a sound file each piece opens as
//! many braces as it closes. Input: the tokens. Output: answers about one piece. Made only once an
//! error asks for it.

use crate::syntax::token::Token;

pub(super) struct Balance {
    /// The token at which each piece begins; the first piece begins with the file.
    starts: Vec<usize>,
    /// Braces open before each piece, and at the end of the file.
    open: Vec<i64>,
    /// The least of `open` after each piece's start.
    low: Vec<i64>,
    /// How many braces the parser added to each piece.
    mended: Vec<i64>,
}

impl Balance {
    pub fn of(tokens: &[Token]) -> Self {
        let (mut starts, mut open, mut now) = (vec![0], vec![0], 0);
        for (at, &token) in tokens.iter().enumerate() {
            match token {
                Token::LBrace => now += 1,
                Token::RBrace => now -= 1,
                Token::Fn | Token::Struct if at > 0 && begins_item(tokens, at) => {
                    starts.push(at);
                    open.push(now);
                }
                _ => {}
            }
        }
        open.push(now);
        let mut low = open.clone();
        for i in (1..low.len()).rev() {
            low[i - 1] = low[i - 1].min(low[i]);
        }
        low.remove(0);
        let mended = vec![0; starts.len()];
        Self { starts, open, low, mended }
    }

    fn piece(&self, at: usize) -> usize {
        self.starts.partition_point(|&s| s <= at) - 1
    }

    /// Whether the item that begins at `at` stands inside something that is closed later on,
    /// rather than after something that was never closed.
    pub fn is_enclosed(&self, at: usize) -> bool {
        let piece = self.piece(at);
        self.low[piece] < self.open[piece]
    }

    /// Whether the piece around `at` closes more braces than it opens.
    pub fn lacks_opening(&self, at: usize) -> bool {
        let piece = self.piece(at);
        self.open[piece + 1] - self.open[piece] + self.mended[piece] < 0
    }

    /// Counts one brace as opened, or one as not closed, in the piece around `at`.
    pub fn mend(&mut self, at: usize) {
        let piece = self.piece(at);
        self.mended[piece] += 1;
    }
}

/// Whether a function or struct begins at `at`.
fn begins_item(tokens: &[Token], at: usize) -> bool {
    matches!(tokens[at], Token::Fn | Token::Struct)
        && tokens.get(at + 1).is_some_and(|t| t.is_name())
}
