import Foundation
import HTTPCaching
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
