import HTTPTypes
import Testing

@testable import HTTPCaching

/// Storing parts of a representation.
@Suite struct CachingRulesPartsTests {
    private static func fields(_ tag: String? = "\"a\"", _ range: String? = "bytes 2-4/10", _ more: HTTPFields = [:])
        -> HTTPFields
    {
        var fields = more
        fields[.cacheControl] = "max-age=60"
        fields[.eTag] = tag
        fields[.contentRange] = range
        return fields
    }

    private static func part(_ range: Range<Int>, _ tag: String = "\"a\"", age: Double = 0) -> CachedResponseHead {
        var head = Sample.stored([.eTag: tag, .contentLength: "10"], age: age, status: .partialContent)
        head.parts = StoredParts(of: 10, [range])
        return head
    }

    @Test("RFC 9111 §3.3 A 206 with a strong entity tag is stored as an incomplete 200")
    func stored() throws {
        let head = try #require(Sample.shared.storability(Self.fields(), status: .partialContent).stored)
        #expect(head.parts == StoredParts(of: 10, [2..<5]))
        #expect(head.headerFields[.contentLength] == "10" && head.headerFields[.contentRange] == nil)
    }

    @Test(
        "RFC 9110 §15.3.7.3 A 206 is not stored that could not be combined",
        arguments: [
            fields(nil), fields("W/\"a\""), fields("\"a\"", nil), fields("\"a\"", "bytes 2-4/*"),
            fields("\"a\"", "bytes 2-4/10", [.contentLength: "2"]),
            fields("\"a\"", "bytes 2-4/10", [.contentType: "multipart/byteranges; boundary=x"]),
        ]
    )
    func refused(fields: HTTPFields) {
        #expect(Sample.shared.storability(fields, status: .partialContent).refusal == .partial)
    }

    @Test("RFC 9111 §3 What forbids to store a whole forbids to store a part")
    func forbidden() {
        var fields = Self.fields()
        fields[.cacheControl] = "no-store"
        #expect(Sample.shared.storability(fields, status: .partialContent).refusal == .noStore)
        fields[.cacheControl] = "private"
        #expect(Sample.shared.storability(fields, status: .partialContent).refusal == .isPrivate)
        #expect(
            Sample.shared.storability(Self.fields(), status: .partialContent, to: Sample.request(.post)).refusal
                == .method
        )
    }

    @Test("RFC 9111 §3.4 Parts with the same strong entity tag are combined under the newer head")
    func beside() {
        let placement = Sample.shared.placement(of: Self.part(5..<10), among: [Self.part(2..<5, age: 9)])
        guard case .beside(0, let head) = placement else {
            Issue.record("\(placement)")
            return
        }
        #expect(head.parts?.ranges == [2..<10] && head.responseTime == Sample.now)
        let late = Sample.shared.placement(of: Self.part(5..<10, age: 9), among: [Self.part(2..<5)])
        guard case .beside(0, let newer) = late else {
            Issue.record("\(late)")
            return
        }
        #expect(newer.parts?.ranges == [2..<10] && newer.responseTime == Sample.now)
    }

    @Test("RFC 9110 §15.3.7.3 A part of another representation is not combined, and replaces no newer one")
    func other() {
        let (old, new) = (Self.part(0..<5, age: 9), Self.part(5..<10, "\"b\""))
        #expect(Sample.shared.placement(of: new, among: [old]) == .anew(replacing: [0]))
        #expect(Sample.shared.placement(of: old, among: [new]) == .discarded)
        #expect(Sample.shared.placement(of: new, among: []) == .anew(replacing: []))
    }

    @Test("RFC 9111 §3.4 A part replaces no whole, of whichever representation", arguments: ["\"a\"", "\"b\""])
    func whole(tag: String) {
        let whole = Sample.stored([.eTag: "\"a\""], age: 99)
        #expect(Sample.shared.placement(of: Self.part(0..<5, tag), among: [whole]) == .discarded)
    }

    @Test("RFC 9111 §3.3 The beginning of a whole is a part if it can be completed")
    func beginning() {
        let whole = Sample.stored([.eTag: "\"a\"", .contentLength: "10"])
        let part = Sample.shared.beginning(of: whole, received: 4)
        #expect(part?.parts == StoredParts(of: 10, [0..<4]) && part?.status == .partialContent)
        #expect(Sample.shared.beginning(of: whole, received: 10) == nil)
        #expect(Sample.shared.beginning(of: whole, received: 0) == nil)
        #expect(Sample.shared.beginning(of: Sample.stored([.eTag: "\"a\""]), received: 4) == nil)
        for fields: HTTPFields in [[.contentLength: "10"], [.eTag: "W/\"a\"", .contentLength: "10"]] {
            #expect(Sample.shared.beginning(of: Sample.stored(fields), received: 4) == nil)
        }
        let error = Sample.stored([.eTag: "\"a\"", .contentLength: "10"], status: .notFound)
        #expect(Sample.shared.beginning(of: error, received: 4) == nil)
    }
}
