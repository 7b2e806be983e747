import HTTP
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

@Suite("Request directives (RFC 9111 §5.2.1, §5.4)")
struct RequestDirectivesTests {
    @Test("Pragma: no-cache counts only without Cache-Control")
    func pragma() {
        #expect(RequestDirectives([.made("Pragma"): "x, No-Cache"]).noCache)
        #expect(!RequestDirectives([.made("Pragma"): "no-cache", .cacheControl: "max-age=5"]).noCache)
        #expect(!RequestDirectives([.made("Pragma"): "unheard-of"]).noCache)
    }

    @Test("Limits that cannot be read are the strictest")
    func invalidLimits() {
        let wishes = RequestDirectives([.cacheControl: "max-age=x, min-fresh=x, max-stale=x, stale-if-error=x"])
        #expect(wishes.maxAge == 0)
        #expect(wishes.minFresh == Int.max)
        #expect(wishes.maxStale == nil)
        #expect(wishes.staleIfError == nil)
    }

    @Test("max-stale has a limit, none, or contradicts itself")
    func maxStale() {
        #expect(RequestDirectives([.cacheControl: "max-stale"]).maxStale == .unlimited)
        #expect(RequestDirectives([.cacheControl: "max-stale=10"]).maxStale == .seconds(10))
        #expect(RequestDirectives([.cacheControl: "max-stale=10, max-stale"]).maxStale == nil)
    }
}

@Suite("Response directives (RFC 9111 §5.2.2)")
struct ResponseDirectivesTests {
    @Test("no-cache and private extend to the fields they list; unreadable or unqualified, to everything")
    func scopes() {
        func noCache(_ value: String...) -> ResponseDirectives.Scope? {
            var fields = HTTPFields()
            for line in value { fields.append(HTTPField(name: .cacheControl, value: line)) }
            return ResponseDirectives(fields, policy: Sample.shared).noCache
        }
        #expect(noCache("max-age=1") == nil)
        #expect(noCache("no-cache=\"a, b\"", "no-cache=c") == .fields([.made("a"), .made("b"), .made("c")]))
        #expect(noCache("no-cache=\"a\"", "no-cache") == .everything)
        #expect(noCache("no-cache=\"\"") == .everything)
        #expect(noCache("no-cache=\"a b\"") == .everything)
    }

    @Test("Configured directives are ignored, others are not")
    func ignoredDirectives() {
        let policy = CachingRules(cacheName: "larder", ignoredDirectives: ["no-store"])
        let directives = ResponseDirectives([.cacheControl: "No-Store, private"], policy: policy)
        #expect(!directives.noStore)
        #expect(directives.isPrivate == .everything)
    }
}

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
