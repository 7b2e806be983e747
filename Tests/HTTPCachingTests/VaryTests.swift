import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@Suite("Keying with Vary (RFC 9111 §4.1)")
struct VaryTests {
    private let foo = HTTPField.Name.made("Foo")

    private func matches(_ vary: String, _ stored: HTTPFields, _ request: HTTPFields) -> Bool {
        Sample.stored([.vary: vary], varying: stored).matches(request)
    }

    @Test("A response that varies by more than 64 fields matches no request", .timeLimit(.minutes(10)))
    func most() {
        func names(_ count: Int) -> String { (0..<count).map { "V\($0)" }.joined(separator: ",") }
        #expect(matches(names(64) + ",v0", [:], [:]))
        #expect(!matches(names(65), [:], [:]))
        #expect(Vary([.vary: names(100_000)]) == .everything)
    }

    @Test("The same values match, others do not, and fields that Vary does not name do not matter")
    func values() {
        #expect(matches("Foo", [foo: "1"], [foo: "1", .made("Other"): "3"]))
        #expect(!matches("Foo", [foo: "1"], [foo: "2"]))
        #expect(!matches("Foo, Bar", [foo: "1", .made("Bar"): "abc"], [foo: "1", .made("Bar"): "abcde"]))
        #expect(matches("", [:], [foo: "2"]))
    }

    @Test("A field that is absent on one side only does not match; absent on both, it does")
    func absence() {
        #expect(!matches("Foo", [:], [foo: "1"]))
        #expect(!matches("Foo", [foo: "1"], [:]))
        #expect(!matches("Foo", [foo: ""], [:]))
        #expect(matches("Foo, Bar, Baz", [foo: "1"], [foo: "1"]))
    }

    @Test("Several lines are one list, whitespace around commas has no meaning, quoted text is unchanged")
    func normalisation() {
        #expect(matches("Foo", [foo: "1, 2"], Sample.lines(foo, "1", "2")))
        #expect(matches("Foo", [foo: "1,2"], [foo: " 1 ,  2 "]))
        #expect(!matches("Foo", [foo: "\"1,2\""], [foo: "\"1, 2\""]))
        #expect(!matches("Foo", [foo: "a b"], [foo: "a  b"]))
        #expect(!matches("Foo", [foo: "1, 2"], [foo: "2, 1"]))
        #expect(!matches("Foo", [foo: "a"], [foo: "A"]))
    }

    @Test("Languages, codings and charsets have neither order nor case; media types have no order")
    func preferences() {
        for name in [HTTPField.Name.acceptLanguage, .acceptEncoding, .made("Accept-Charset")] {
            #expect(matches(name.rawName, [name: "en;q=0.5, de"], [name: " De ,EN; q=0.5"]))
            #expect(!matches(name.rawName, [name: "en;q=0.5, de"], [name: "en, de;q=0.5"]))
        }
        #expect(matches("accept", [.accept: "a/b, c/d"], [.accept: "c/d,a/b"]))
        #expect(!matches("accept", [.accept: "a/b;x=Y"], [.accept: "a/b;x=y"]))
    }

    @Test("A stored star matches nothing, in any place")
    func star() {
        for vary in ["*", "Foo, *", "*, Foo", ", *"] { #expect(!matches(vary, [foo: "1"], [foo: "1"])) }
    }

    @Test("Of several that match, the most recent date is chosen, then the last reception")
    func mostRecent() {
        let old = Sample.stored([.cacheControl: "max-age=9000", .date: Sample.date(-50)], age: 10)
        let new = Sample.stored([.cacheControl: "max-age=9000", .date: Sample.date(-20)], age: 15)
        let last = Sample.stored([.cacheControl: "max-age=9000", .date: Sample.date(-20)], age: 12)
        #expect(Sample.shared.selectedIndex(for: [:], among: [new, old]) == 0)
        #expect(Sample.shared.selectedIndex(for: [:], among: [old, new, last]) == 2)
    }

    @Test("Variants live side by side; one that none matches is a vary-miss")
    func variants() {
        let one = Sample.stored([.vary: "Foo", .cacheControl: "max-age=60"], age: 5, varying: [foo: "1"])
        let two = Sample.stored([.vary: "Foo", .cacheControl: "max-age=60"], varying: [foo: "2"])
        #expect(Sample.shared.decision([foo: "1"], for: one, two).served?.index == 0)
        #expect(Sample.shared.decision([foo: "2"], for: one, two).served?.index == 1)
        #expect(Sample.shared.decision([foo: "3"], for: one, two) == .forward(.varyMiss))
    }
}
