import Foundation
import Testing

@testable import Larder

/// Where glibc takes memory from.
struct LargeBlocksTests {
    /// In a process of its own: what other tests have left free in the heap of this one may serve any block.
    @Test("TRUST-19 large blocks are mapped by themselves also after larger ones were freed; small ones are not")
    func mapped() async {
        await #expect(processExitsWith: .success) {
            #expect(LargeBlocks.giveBack())
            for _ in 0..<2 {
                #expect(isMapped(31 << 20))
                #expect(isMapped(16 << 20))
                #expect(!isMapped(64 << 10))
            }
        }
    }

    @Test("the memory of a freed piece of a body serves the next one without the system")
    func kept() async {
        await #expect(processExitsWith: .success) {
            #expect(LargeBlocks.giveBack())
            touch(256 << 10)
            let before = pageFaults()
            for _ in 0..<100 { touch(256 << 10) }
            // Given back and taken again, each piece has 64.
            #expect(pageFaults() - before < 640)
        }
    }
}

/// Takes a block, writes to each of its pages, and frees it.
private func touch(_ bytes: Int) {
    let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    for page in stride(from: 0, to: bytes, by: 4096) { block.storeBytes(of: 1, toByteOffset: page, as: UInt8.self) }
    block.deallocate()
}

/// Returns how often this thread has got a page from the system.
private func pageFaults() -> Int {
    // RUSAGE_THREAD, which glibc declares with _GNU_SOURCE only.
    let thread: Int32 = 1
    var usage = rusage()
    getrusage(thread, &usage)
    return usage.ru_minflt
}

/// Returns whether the allocator maps a block of this size by itself, so that it is given back when it is freed: the
/// second bit of the word before it says so (malloc.c, `IS_MMAPPED`).
private func isMapped(_ bytes: Int) -> Bool {
    let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    defer { block.deallocate() }
    return block.load(fromByteOffset: -8, as: UInt.self) & 2 != 0
}
