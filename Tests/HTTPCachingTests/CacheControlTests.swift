import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Cache-Control syntax (RFC 9111 §5.2)")
struct CacheControlTests {
    private func control(_ lines: String...) -> CacheControl { CacheControl(lines: lines) }

    @Test("Names have no case, unknown directives are kept in order, empty members do not count")
    func names() {
        let parsed = control(", No-StOrE ,, foobar=Baz,", "MaX-aGe=60")
        #expect(
            parsed.directives == [
                .init(name: "no-store"), .init(name: "foobar", argument: .value("Baz")),
                .init(name: "max-age", argument: .value("60")),
            ]
        )
    }

    @Test("A directive inside a quoted string is text, before and after the real one")
    func quotedText() {
        #expect(control("extension=\"max-age=3600\", max-age=1").deltaSeconds("max-age") == .seconds(1))
        #expect(control("max-age=1, extension=\"max-age=3600, no-store\"").contains("no-store") == false)
        #expect(control("a=\"x\\\", no-store\", max-age=7").directives.map(\.name) == ["a", "max-age"])
    }

    @Test("Quotation marks that are never closed cost no more than others", .timeLimit(.minutes(10)))
    func openQuotes() {
        let marks = String(repeating: "\\\"", count: 100_000)
        #expect(control("a=\"\(marks), no-store").contains("no-store"))
        #expect(EntityTagCondition(lines: ["\"a\", \(marks)"]) != .any)
    }

    @Test("A quotation mark that is never closed hides nothing")
    func openQuote() {
        #expect(control("a=\"oops, no-store").contains("no-store"))
        #expect(control("a=\"oops\\").directives == [.init(name: "a", argument: .invalid)])
    }

    @Test("Numbers may be quoted and have leading zeros")
    func numbers() {
        #expect(control("max-age=\"3600\"").deltaSeconds("max-age") == .seconds(3600))
        #expect(control("max-age=003600").deltaSeconds("max-age") == .seconds(3600))
    }

    @Test(
        "Numbers beyond 2^31 are cut to it, however long",
        arguments: ["2147483648", "2147483649", "99999999999", "99999999999999999999999"]
    )
    func largeNumbers(text: String) {
        #expect(DeltaSeconds(text) == .seconds(2_147_483_648))
    }

    @Test(
        "A text that is not a count of seconds is invalid",
        arguments: [
            "max-age", "max-age=", "max-age=-60", "max-age='60'", "max-age=60.0", "max-age=a60", "max-age=60a",
            "max-age =60", "max-age= 60",
        ]
    )
    func invalidNumbers(line: String) {
        #expect(control(line).deltaSeconds("max-age") == .invalid)
    }

    @Test("Equal repetitions agree, different ones are invalid, on one line or on several")
    func repetitions() {
        #expect(control("max-age=5, max-age=5").deltaSeconds("max-age") == .seconds(5))
        #expect(control("max-age=1800, max-age=1").deltaSeconds("max-age") == .invalid)
        #expect(control("max-age=1", "max-age=1800").deltaSeconds("max-age") == .invalid)
    }

    @Test("A semicolon instead of a comma does not lose the directive before it")
    func semicolon() {
        #expect(control("private; max-age=60").contains("private"))
        #expect(control("private; max-age=60").deltaSeconds("max-age") == nil)
    }
}
