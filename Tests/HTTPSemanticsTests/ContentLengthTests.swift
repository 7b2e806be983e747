import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Content-Length (RFC 9110 §8.6)")
struct ContentLengthTests {
    @Test(
        "A number, or several equal ones",
        arguments: [
            ("0", 0), (" 12 ", 12), ("5, 5", 5), ("5, 6", nil), ("+5", nil), ("-5", nil), ("5x", nil), ("", nil),
            ("99999999999999999999", nil),
        ]
    )
    func declared(text: String, expected: Int?) {
        #expect(HTTPFields([HTTPField(name: .contentLength, value: text)]).declaredContentLength == expected)
    }

    @Test("Without the field nothing is declared")
    func absent() {
        #expect(HTTPFields().declaredContentLength == nil)
    }
}
