import Testing

@testable import HTTPCaching

struct StoredPartsTests {
    @Test("RFC 9111 §3.3 Parts that touch or overlap are one; what is missing is what none of them has")
    func joined() {
        let parts = StoredParts(of: 100, [40..<50, 0..<10, 10..<20, 15..<30, 60..<60])
        #expect(parts.ranges == [0..<30, 40..<50])
        #expect(parts.missing(in: 0..<100) == [30..<40, 50..<100])
        #expect(parts.missing(in: 5..<30) == [] && parts.missing(in: 20..<45) == [30..<40])
        #expect(parts.missing(in: 30..<40) == [30..<40] && parts.missing(in: 99..<100) == [99..<100])
        #expect(!parts.isComplete && parts.adding([25..<41, 49..<100]).isComplete)
    }

    @Test("RFC 9111 §3.3 Nothing is missing of an empty range")
    func empty() {
        #expect(StoredParts(of: 10, []).missing(in: 3..<3) == [] && StoredParts(of: 0, []).isComplete)
    }
}
