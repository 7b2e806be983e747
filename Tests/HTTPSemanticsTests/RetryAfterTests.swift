import Foundation
import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Retry-After (RFC 9110 §10.2.3)")
struct RetryAfterTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "Seconds, or a date; what is neither is absent",
        arguments: [
            ("0", 0), (" 120 ", 120), ("99999999999999999999", 2_147_483_648), ("Sun, 06 Nov 1994 08:50:00 GMT", 23),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("-5", nil), ("+5", nil), ("1.5", nil), ("", nil), ("soon", nil),
        ]
    )
    func seconds(text: String, expected: Int?) {
        #expect(RetryAfter.seconds([.retryAfter: text], at: now) == expected)
    }

    @Test("Without the field there is nothing to wait for")
    func absent() {
        #expect(RetryAfter.seconds([:], at: now) == nil)
    }
}
