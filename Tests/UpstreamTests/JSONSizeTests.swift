import Testing

@testable import Upstream

struct JSONSizeTests {
    @Test("TRUST-19 A response of 10⁷ numbers is not decoded; one of 10⁵ rows and 16 MiB is")
    func numbers() {
        let numbers = Array("[\(String(repeating: "1,", count: 8_000_000))1]".utf8)
        #expect(!JSONSize.isAcceptable(numbers))
        #expect(!JSONSize.isAcceptable(Array(" \n".utf8) + numbers))
        let row =
            #"{"ship_id":"0123456789","ship_name":"A name of some letters","ship_type":"Tug","active":true,"#
            + #""year_built":2009,"home_port":"Port of Los Angeles","roles":["A","B"],"status":"","url":null},"#
        let rows = Array("[\(String(repeating: row, count: 90_000)){}]".utf8)
        #expect(rows.count > 15 << 20 && JSONSize.isAcceptable(rows))
        #expect(JSONSize.isAcceptable(Array("\u{89}PNG".utf8) + numbers), "a picture")
        #expect(JSONSize.isAcceptable([]) && JSONSize.isAcceptable(Array("[]".utf8)))
    }
}
