import HTTPCaching
import HTTPTypes
import Testing

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
