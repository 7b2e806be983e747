import HTTPTypes
import Testing

@testable import HTTPSemantics

struct ContentRangeTests {
    private func part(_ values: String...) -> ContentRange? {
        ContentRange(HTTPFields(values.map { HTTPField(name: .contentRange, value: $0) }))
    }

    @Test("RFC 9110 §14.4 Positions and the length of the whole are read")
    func read() {
        #expect(part("bytes 0-9/10")?.range == 0..<10)
        #expect(part("Bytes 2-2/10")?.range == 2..<3 && part("bytes 2-2/10")?.completeLength == 10)
    }

    @Test(
        "RFC 9110 §14.4 A part that is invalid, of another unit or of an unknown whole is none",
        arguments: [
            "bytes 0-10/10", "bytes 5-4/10", "bytes */10", "bytes 0-9/*", "items 0-9/10", "bytes 0-9", "bytes=0-9/10",
            "bytes -1/10", "bytes 0-/10", "bytes 0-9/10/10", "bytes 0-9-9/10", "0-9/10", "", "bytes +0-9/10",
            "bytes 0-9/99999999999999999999",
        ]
    )
    func invalid(value: String) {
        #expect(part(value) == nil)
    }

    @Test("RFC 9110 §5.3 A repeated field is no part")
    func repeated() {
        #expect(part("bytes 0-4/10", "bytes 5-9/10") == nil && part() == nil)
    }
}
