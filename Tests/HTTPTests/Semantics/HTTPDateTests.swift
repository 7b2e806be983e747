import Foundation
import HTTP
import HTTPTypes
import Testing

@Suite("HTTP dates (RFC 9110 §5.6.7)")
struct HTTPDateTests {
    private func seconds(_ text: String, in year: Double = 2026.5) -> Double? {
        HTTPDate.parse(text, now: Date(timeIntervalSince1970: (year - 1970) * 31_556_952))?.timeIntervalSince1970
    }

    @Test("All three forms are read, their names in any case")
    func forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "SUN, 06 NOV 1994 08:49:37 gMT",
            "Sun Nov 06 08:49:37 1994",
        ] {
            #expect(seconds(text) == 784_111_777, "\(text)")
        }
    }

    @Test("A two-digit year lies at most 50 years ahead")
    func twoDigitYear() {
        #expect(seconds("Thursday, 18-Aug-50 02:01:18 GMT") == seconds("Thu, 18 Aug 2050 02:01:18 GMT"))
        #expect(seconds("Saturday, 06-Nov-76 08:49:37 GMT") == seconds("Sat, 06 Nov 1976 08:49:37 GMT"))
        #expect(seconds("Monday, 06-Jan-76 08:49:37 GMT") == seconds("Mon, 06 Jan 2076 08:49:37 GMT"))
        #expect(seconds("Monday, 06-Nov-05 08:49:37 GMT", in: 2099) == seconds("Mon, 06 Nov 2105 08:49:37 GMT"))
    }

    @Test(
        "Everything else is no date",
        arguments: [
            "", "0", "-1", "now", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
            "Thu, 18 Aug 50 02:01:18 GMT",
            "Thu 18 Aug 2050 02:01:18 GMT", "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 02.01.18 GMT",
            "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 2050 02:01:18 GMT ",
            "Thu, 31 Jun 2050 02:01:18 GMT",
            "Thu, 29 Feb 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT", "Thu, 18 Aug 2050 02:60:18 GMT",
            "Thu, 18 Aug 2050 02:01:61 GMT",
            "Abc, 18 Aug 2050 02:01:18 GMT", "Thu, 00 Aug 2050 02:01:18 GMT", "Thu, 18 Foo 2050 02:01:18 GMT",
            "Thu Aug 8 02:01:18 2050",
            "Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:18 GMT", "Sun, 18-Aug-50 02:01:18 GMT",
        ]
    )
    func refused(text: String) {
        #expect(seconds(text) == nil)
    }

    @Test("Dates beyond 32 bits, leap days and leap seconds are right")
    func limits() {
        #expect(seconds("Tue, 19 Jan 2038 03:14:08 GMT") == 2_147_483_648)
        #expect(seconds("Sun, 21 Nov 2286 04:46:39 GMT") == 10_000_039_599)
        #expect(seconds("Tue, 29 Feb 2000 00:00:00 GMT") == 951_782_400)
        #expect(seconds("Mon, 29 Feb 1900 00:00:00 GMT") == nil)
        #expect(seconds("Sat, 31 Dec 2016 23:59:60 GMT") == seconds("Sun, 01 Jan 2017 00:00:00 GMT"))
    }

    @Test("What is written is read back, over four centuries and before 1970")
    func roundTrip() {
        for day in stride(from: -20_000, through: 150_000, by: 73) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 45_296)
            #expect(HTTPDate.parse(HTTPDate.format(date), now: date) == date)
        }
    }

    @Test("The preferred form is written, fractions cut off")
    func format() {
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 0)) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
    }
}

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
