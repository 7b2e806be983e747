import Foundation
import Synchronization
import Testing

@testable import Upstream

@Suite(.serialized) struct TolerantListTests {
    /// An element that counts how many were decoded.
    private struct Counted: Decodable, Sendable {
        static let count = Atomic(0)
        let number: Int

        init(from decoder: any Decoder) throws {
            Self.count.add(1, ordering: .relaxed)
            number = try decoder.singleValueContainer().decode(Int.self)
        }
    }

    private func decode(_ json: String) throws -> TolerantList<Counted> {
        Counted.count.store(0, ordering: .relaxed)
        return try JSONDecoder().decode(TolerantList<Counted>.self, from: Data(json.utf8))
    }

    @Test("TRUST-19 Of a list of 10⁵ elements only so many are decoded as are written within a quarter of a second")
    func long() throws {
        let list = try decode("[\(String(repeating: "1,", count: 99_999))1]")
        #expect(list.values.count == 10_000 && list.isTruncated)
        #expect(Counted.count.load(ordering: .relaxed) == 10_000)
        let allowed = try decode("[\(String(repeating: "1,", count: 9_999))1]")
        #expect(allowed.values.count == 10_000 && !allowed.isTruncated)
    }

    @Test("One unusable element does not affect the others; no list is an error")
    func elements() throws {
        #expect(try decode(#"[1,"x",null,{},[],2]"#).values.map { $0?.number } == [1, nil, nil, nil, nil, 2])
        #expect(try decode("[]").values.isEmpty)
        for json in ["{}", "null", "1", "[1", ""] {
            #expect(throws: DecodingError.self, "\(json)") { try decode(json) }
        }
    }
}
