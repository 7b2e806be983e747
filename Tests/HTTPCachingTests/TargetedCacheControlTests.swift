import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Targeted cache control (RFC 9213)")
struct TargetedCacheControlTests {
    private func directives(_ targeted: String..., policy: CachingRules = Sample.shared) -> ResponseDirectives {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        for line in targeted { fields.append(HTTPField(name: .cdnCacheControl, value: line)) }
        return ResponseDirectives(fields, policy: policy)
    }

    @Test("A valid field overrides Cache-Control, regardless of unknown members")
    func valid() {
        let found = directives("foobar, ext=(a \"b\" 1.5);q=1;r, max-age=3600;why=?0", "must-revalidate")
        #expect(found.isTargeted && !found.noStore && found.mustRevalidate)
        #expect(found.maxAge == .seconds(3600))
    }

    @Test(
        "An empty or broken field is ignored as a whole",
        arguments: [
            "", " ", "max-age=10000, &&&&&", "max-age=\"10000\"", "max-age=1.5", "MaX-aGe=60", "max-age =60",
            "max-age= 60", "max-age=60,", "max-age=60 x",
            "a=(1 2", "a=\"open", "a=:x", "a=?2", "max-age=1234567890123456", "a=\"\\x\"",
        ]
    )
    func ignored(line: String) {
        #expect(directives(line).noStore)
        #expect(!directives(line).isTargeted)
    }

    @Test("A negative lifetime is none; a larger one than 2^31 is cut; the last of several counts; false is absent")
    func values() {
        #expect(directives("max-age=-5").maxAge == .invalid)
        #expect(directives("max-age=99999999999").maxAge == .seconds(2_147_483_648))
        #expect(directives("max-age=1, max-age=9").maxAge == .seconds(9))
        #expect(directives("private=?0, max-age=1").isPrivate == nil)
        #expect(directives("no-cache=\"a\"").noCache == .fields([.made("a")]))
        #expect(directives("a=:YWJj:, b=*x/y:z, private=(a)").isPrivate == .everything)
    }

    @Test("The target list decides which field is obeyed; a private cache obeys none by default")
    func targetList() {
        let mine = HTTPField.Name.made("Larder-Cache-Control")
        let policy = CachingRules(cacheName: "larder", targetedFields: [mine, .cdnCacheControl])
        let fields: HTTPFields = [mine: "max-age=1", .cdnCacheControl: "max-age=2", .cacheControl: "max-age=3"]
        #expect(ResponseDirectives(fields, policy: policy).maxAge == .seconds(1))
        #expect(ResponseDirectives(fields, policy: Sample.shared).maxAge == .seconds(2))
        #expect(ResponseDirectives(fields, policy: Sample.own).maxAge == .seconds(3))
    }

    @Test("Expires does not count beside a valid targeted field")
    func expires() {
        let fresh = Sample.stored([.cdnCacheControl: "max-age=60", .expires: "0"])
        #expect(Sample.shared.freshness(of: fresh, at: Sample.now).lifetime == 60)
        let silent = Sample.stored([.cdnCacheControl: "public", .expires: Sample.date(600)])
        #expect(Sample.shared.freshness(of: silent, at: Sample.now).lifetime == 0)
    }
}
