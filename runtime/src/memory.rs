//! Address space from the operating system: mappings that are touched only as they are used.

use std::ptr;

/// Private, zeroed, readable and writable memory; given back when dropped.
pub(crate) struct Mapping {
    start: *mut u8,
    len: usize,
}

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;
/// Bytes of a large page.
pub(crate) const LARGE_PAGE: usize = 2 << 20;

impl Mapping {
    /// `len` bytes (rounded up to pages) of zeroed memory, or `None` where there is none.
    pub(crate) fn reserve(len: usize) -> Option<Self> {
        let len = len.checked_next_multiple_of(PAGE)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let flags = if cfg!(miri) { flags } else { flags | libc::MAP_NORESERVE };
        // SAFETY: a new private mapping touches nothing that exists.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        start.expose_provenance();
        Some(Self { start: start.cast(), len })
    }

    /// The same at an address that is a multiple of `align`, a power of two.
    pub(crate) fn reserve_aligned(len: usize, align: usize) -> Option<Self> {
        debug_assert!(len.is_multiple_of(PAGE) && align.is_power_of_two() && align >= PAGE);
        let whole = Self::reserve(len.checked_add(align)?)?;
        let before = whole.start().next_multiple_of(align) - whole.start();
        let start = whole.start.wrapping_add(before);
        let (first, after) = (whole.start, whole.len - before - len);
        std::mem::forget(whole);
        // SAFETY: both ends are pages of the mapping that was had just now, and nobody uses them.
        unsafe {
            if before > 0 {
                libc::munmap(first.cast(), before);
            }
            if after > 0 {
                libc::munmap(start.wrapping_add(len).cast(), after);
            }
        }
        Some(Self { start, len })
    }

    /// Makes the mapping longer or shorter; it may move, and keeps what it holds. `false` where that
    /// is not to be had: then it is as it was.
    pub(crate) fn resize(&mut self, len: usize) -> bool {
        let Some(len) = len.checked_next_multiple_of(PAGE) else { return false };
        // SAFETY: the mapping is this value's own, and moves only with it.
        let start = unsafe { libc::mremap(self.start.cast(), self.len, len, libc::MREMAP_MAYMOVE) };
        if start == libc::MAP_FAILED {
            return false;
        }
        start.expose_provenance();
        self.start = start.cast();
        self.len = len;
        true
    }

    /// Pages of a shared mapping once more, to be written, as long as the answer lives.
    pub(crate) fn alias(start: u64, len: usize) -> Option<Self> {
        let len = len.checked_next_multiple_of(PAGE)?;
        let old = ptr::with_exposed_provenance_mut(start as usize);
        // SAFETY: of a shared mapping an old length of 0 makes another one, and leaves it alone.
        let new = unsafe { libc::mremap(old, 0, len, libc::MREMAP_MAYMOVE) };
        if new == libc::MAP_FAILED {
            return None;
        }
        let alias = Self { start: new.cast(), len };
        // SAFETY: the pages are the new mapping's own.
        let writable = unsafe { libc::mprotect(new, len, libc::PROT_READ | libc::PROT_WRITE) };
        (writable == 0).then_some(alias)
    }

    /// The first byte.
    #[inline]
    pub(crate) fn pointer(&self) -> *mut u8 {
        self.start
    }

    /// The address of the first byte.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        self.start.addr()
    }

    /// How many bytes there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Asks for pages of 2 MiB, where memory is touched that was not yet: fewer faults, and fewer
    /// translations of addresses to be kept at hand.
    pub(crate) fn prefer_large_pages(&self) {
        // SAFETY: the pages are this mapping's own, and their contents stay what they are. Where the
        // answer is no, pages are small.
        unsafe { libc::madvise(self.start.cast(), self.len, libc::MADV_HUGEPAGE) };
    }

    /// Makes the first `len` bytes fault when touched; whether that was done.
    pub(crate) fn guard(&self, len: usize) -> bool {
        // SAFETY: the pages are this mapping's own.
        unsafe { libc::mprotect(self.start.cast(), len.min(self.len), libc::PROT_NONE) == 0 }
    }
}

/// Gives pages back; they are 0 when touched again.
///
/// # Safety
/// The pages belong to a [`Mapping`], and nobody relies on what they hold.
pub(crate) unsafe fn release(start: u64, len: u64) {
    let start = ptr::with_exposed_provenance_mut(start as usize);
    // SAFETY: told above.
    unsafe { libc::madvise(start, len as usize, libc::MADV_DONTNEED) };
}

/// Bytes of memory that the heap may take where nobody says: a quarter of what the machine, or the
/// narrowest of the control groups that the process stands in, has.
pub(crate) fn default_limit() -> u64 {
    // SAFETY: no precondition.
    let (pages, page) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let machine = u64::try_from(pages).unwrap_or(1 << 18) * u64::try_from(page).unwrap_or(4096);
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = group_files(&groups).into_iter().filter_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        text.trim().parse::<u64>().ok()
    });
    limits.fold(machine, u64::min) / 4
}

/// Where limits of memory are told, for what `/proc/self/cgroup` says: of version 2 (`0::/path`) and
/// version 1 (`N:…,memory,…:/path`), for the group and all that it lies in.
fn group_files(groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            list if list.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            files.push(format!("{root}{path}/{file}"));
            match path.rfind('/') {
                Some(end) => path = &path[..end],
                None => break,
            }
        }
    }
    files
}

impl std::fmt::Debug for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start(), self.start() + self.len)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nobody may use it any longer.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_all_that_they_lie_in() {
        assert_eq!(
            group_files("0::/a/b\n"),
            [
                "/sys/fs/cgroup/a/b/memory.max",
                "/sys/fs/cgroup/a/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        let old = "12:cpu,cpuacct:/x\n4:memory:/\n";
        assert_eq!(group_files(old), ["/sys/fs/cgroup/memory/memory.limit_in_bytes"]);
        assert!(default_limit() > 0);
    }
}
