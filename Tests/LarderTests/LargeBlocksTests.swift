import Foundation
import Testing

@testable import Larder

/// Where glibc takes memory from.
struct LargeBlocksTests {
    /// Whether the allocator maps a block of this size by itself, so that it is given back when it is freed: the second
    /// bit of the word before it says so (malloc.c, `IS_MMAPPED`).
    private func isMapped(_ bytes: Int) -> Bool {
        let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
        defer { block.deallocate() }
        return block.load(fromByteOffset: -8, as: UInt.self) & 2 != 0
    }

    @Test("TRUST-19 large blocks are mapped by themselves also after larger ones were freed; small ones are not")
    func mapped() {
        #expect(LargeBlocks.giveBack())
        // A block that is little larger than the smallest may come from what other tests have left free in a heap.
        for _ in 0..<2 {
            #expect(isMapped(31 << 20))
            #expect(isMapped(16 << 20))
            #expect(!isMapped(64 << 10))
        }
    }
}
