import CMalloc

/// Large blocks of memory: bodies of upstreams, and what is decoded of them.
enum LargeBlocks {
    /// Blocks from this size on are mapped by themselves, in bytes.
    static let smallest: Int32 = 1 << 20

    /// Free bytes at the end of a heap above which they are given back: eight pieces of a body.
    static let kept: Int32 = 2 << 20

    /// Makes the allocator give large blocks back to the system when they are freed (`mallopt(3)`).
    ///
    /// By default glibc raises the size from which on it does so to that of each such block that is freed, up to
    /// 32 MiB. After a few large responses all of them come from its heaps, of which every thread has another, and stay
    /// there.
    ///
    /// What is free at the end of a heap stays there up to ``kept``: with glibc's 128 KiB each piece of a large body is
    /// given back when it is freed, and the system fills the next one with zeros, page by page.
    ///
    /// - Returns: Whether the allocator has accepted it.
    @discardableResult
    static func giveBack() -> Bool {
        mallopt(M_MMAP_THRESHOLD, smallest) == 1 && mallopt(M_TRIM_THRESHOLD, kept) == 1
    }
}
