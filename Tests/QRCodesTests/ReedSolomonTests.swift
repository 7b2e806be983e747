import Testing

@testable import QRCodes

struct ReedSolomonTests {
    @Test("the codewords of a block are those of the example of ISO/IEC 18004 with the text HELLO WORLD")
    func example() {
        let data: [UInt8] = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
        let correction: [UInt8] = [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
        #expect(ReedSolomon.correction(of: data, count: 10) == correction)
    }

    @Test("a block with its codewords is zero at each root of the generator")
    func roots() {
        for count in [10, 16, 18, 22, 24, 26] {
            let data = (0..<40).map { UInt8(truncatingIfNeeded: $0 * $0 + count) }
            let block = data + ReedSolomon.correction(of: data, count: count)
            var root: UInt8 = 1
            for _ in 0..<count {
                let value = block.reduce(UInt8(0)) { ReedSolomon.product($0, root) ^ $1 }
                #expect(value == 0)
                root = ReedSolomon.product(root, 2)
            }
        }
    }
}
