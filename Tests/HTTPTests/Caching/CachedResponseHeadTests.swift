import Foundation
import HTTP
import HTTPTypes
import Testing

@Suite("Age (RFC 9111 §4.2.3, §5.1)")
struct CachedResponseHeadAgeTests {
    private func age(_ fields: HTTPFields, resident: Double = 0) -> Double {
        Sample.stored(fields, age: resident).age(at: Sample.now)
    }

    @Test("The received Age and the time in the store add up")
    func ageField() {
        #expect(age([.age: "30"], resident: 3) == 33)
    }

    @Test("Date alone gives the age; a Date ahead of the clock gives none")
    func apparentAge() {
        #expect(age([.date: Sample.date(-7200)]) == 7200)
        #expect(age([.date: Sample.date(50)]) == 0)
        #expect(age([.date: "foo"], resident: 2) == 2)
    }

    @Test("The larger of apparent and corrected age counts")
    func larger() {
        #expect(age([.date: Sample.date(-10), .age: "25"]) == 25)
        #expect(age([.date: Sample.date(-40), .age: "25"]) == 40)
    }

    @Test("The delay of the response adds to its Age, not to the apparent age")
    func responseDelay() {
        var stored = Sample.stored([.age: "10"])
        stored.requestTime = Sample.now.addingTimeInterval(-4)
        #expect(stored.age(at: Sample.now) == 14)
    }

    @Test("A clock set back gives no negative age, and no response that is fresh until the clock has caught up")
    func clockSetBack() {
        var stored = Sample.stored([.date: Sample.date(0)])
        stored.responseTime = Sample.now.addingTimeInterval(100)
        stored.requestTime = Sample.now.addingTimeInterval(200)
        #expect(stored.residentTime(at: Sample.now) == 100)
        #expect(stored.age(at: Sample.now) == 200)
    }

    @Test("An invalid Age is ignored", arguments: ["abc", "-7200", "7200.0", "7200;foo=bar", ""])
    func invalid(value: String) {
        #expect(age([.age: value]) == 0)
    }

    @Test("Of several Ages the first counts, on one line or on several; a huge one stays huge")
    func several() {
        #expect(age([.age: "7200, 0"]) == 7200)
        #expect(age([.age: "0, 7200"]) == 0)
        #expect(age(Sample.lines(.age, "7200", "0")) == 7200)
        #expect(age(Sample.lines(.age, "0", "7200")) == 0)
        #expect(age([.age: "99999999999999999999"]) == 2_147_483_648)
    }
}

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
