import Foundation
import TestKit
import Testing

@testable import Server

@Suite struct GzipTests {
    @Test("What is compressed comes back, whatever its size", arguments: [0, 1, 1000, 300_000])
    func roundTrip(count: Int) throws {
        var state: UInt64 = 1
        let bytes = Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
        )
        #expect(try gunzipped(Gzip.compress(bytes)) == bytes)
        let repetitive = Data(repeating: 0x61, count: count)
        #expect(try gunzipped(Gzip.compress(repetitive)) == repetitive)
    }

    @Test("Equal bytes are compressed equally, so their ETag may be the same")
    func deterministic() throws {
        let bytes = Data("ship ship ship".utf8)
        #expect(try Gzip.compress(bytes) == Gzip.compress(bytes))
    }
}
