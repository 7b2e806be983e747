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
}

/// Returns whether the allocator maps a block of this size by itself, so that it is given back when it is freed: the
/// second bit of the word before it says so (malloc.c, `IS_MMAPPED`).
private func isMapped(_ bytes: Int) -> Bool {
    let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    defer { block.deallocate() }
    return block.load(fromByteOffset: -8, as: UInt.self) & 2 != 0
}
