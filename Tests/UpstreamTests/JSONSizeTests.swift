import Testing

@testable import Upstream

struct JSONSizeTests {
    @Test("TRUST-19 A response of 10⁷ numbers is not decoded; one of 10⁴ rows with long texts is")
    func numbers() {
        let numbers = Array("[\(String(repeating: "1,", count: 10_000_000))1]".utf8)
        #expect(!JSONSize.isAcceptable(numbers))
        #expect(!JSONSize.isAcceptable(Array(" \n".utf8) + numbers))
        let text = String(repeating: "Seven words, and then as many more. ", count: 40)
        let members = (0..<10).map { #""member\#($0)":\#($0)"# }.joined(separator: ",")
        let row = #"{"text":"\#(text)",\#(members)},"#
        let rows = Array("[\(String(repeating: row, count: 9999)){}]".utf8)
        #expect(rows.count > 14 << 20 && JSONSize.isAcceptable(rows))
        #expect(JSONSize.isAcceptable(Array("\u{89}PNG".utf8) + numbers), "a picture")
        #expect(JSONSize.isAcceptable([]) && JSONSize.isAcceptable(Array("[]".utf8)))
    }
}
