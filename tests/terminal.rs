//! A session in a real terminal: history, several lines, completion, highlighting, interruption.

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// What the editor writes when it begins to read a line, and when it ends.
const READS: &str = "\x1b[?2004h";
const HAS_READ: &str = "\x1b[?2004l";

const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with a session in it.
struct Terminal {
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    seen: String,
    child: Box<dyn Child + Send + Sync>,
}

impl Terminal {
    fn open(state: &std::path::Path) -> Self {
        let size = PtySize { rows: 50, cols: 150, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_toyjit"));
        command.env("XDG_STATE_HOME", state);
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        let child = pair.slave.spawn_command(command).expect("a session");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let _master = pair.master;
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Self { writer, output, seen: String::new(), child };
        terminal.expect(READS);
        terminal
    }

    fn send(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).expect("a terminal that listens");
        self.writer.flush().expect("a terminal that listens");
    }

    /// Whether a text comes in this time; what came up to its end is gone then.
    fn comes(&mut self, text: &str, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => return false,
            }
        }
    }

    #[track_caller]
    fn expect(&mut self, text: &str) {
        assert!(self.comes(text, PATIENCE), "{text:?} does not come after {:?}", self.seen);
    }

    /// Enters a line and waits for what it says and the next prompt.
    #[track_caller]
    fn enter(&mut self, line: &str, says: &str) {
        self.send(line);
        self.send("\r");
        self.expect(HAS_READ);
        self.expect(says);
        self.expect(READS);
    }
}

#[test]
fn a_session_in_a_terminal() {
    let state = std::env::temp_dir().join(format!("toyjit-terminal-{}", std::process::id()));
    let mut terminal = Terminal::open(&state);
    terminal.enter("1 + 1", "= 2 : int");
    terminal.enter("fn seven() -> int {\r return 7;\r}", "");
    terminal.enter("seven()", "= 7 : int");
    terminal.send("let greeting = 5");
    terminal.expect("\x1b[1;34mlet\x1b[0m");
    terminal.enter("", "");
    terminal.enter("greet\t", "= 5 : int");
    terminal.enter(":vars", "let greeting: int = 5");
    terminal.enter("fn seven() -> int { return 8; }", "");
    terminal.enter("seven()", "= 8 : int");
    terminal.enter("[1][3]", "index 3 is out of bounds");
    terminal.enter("greeting", "= 5 : int");
    terminal.enter(":asm seven", "\x1b[36mret\x1b[0m");

    terminal.send("while true {}\r");
    let mut tries = 0;
    loop {
        std::thread::sleep(Duration::from_millis(200));
        terminal.send("\x03");
        if terminal.comes(": interrupted", Duration::from_secs(2)) {
            break;
        }
        tries += 1;
        assert!(tries < 20, "the loop is not interrupted: {:?}", terminal.seen);
    }
    terminal.expect(READS);
    terminal.send("half a line\x03");
    terminal.expect(READS);
    terminal.enter("6 * 7", "= 42 : int");
    terminal.send("\x04");
    assert!(terminal.child.wait().expect("an end").success());

    let mut again = Terminal::open(&state);
    again.enter("\x1b[A", "= 42 : int");
    again.enter("\x1b[200~1 +\r1\x1b[201~", "= 2 : int");
    again.send(":quit\r");
    assert!(again.child.wait().expect("an end").success());
    std::fs::remove_dir_all(&state).expect("the history's folder");
}
