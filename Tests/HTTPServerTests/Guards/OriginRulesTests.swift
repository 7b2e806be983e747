import HTTPTypes
import Testing

@testable import HTTPServer

struct OriginRulesTests {
    private let rules = OriginRules(allowed: ["https://Shop.Example"])
    private static let writes: [HTTPRequest.Method] = [.post, .put, .patch, .delete]

    private func allows(_ method: HTTPRequest.Method, _ fields: HTTPFields, authority: String? = "localhost:8080")
        -> Bool
    {
        rules.allows(method, headerFields: fields, authority: authority)
    }

    @Test("SRV-11 Writes: without an origin, from the own origin or a listed one", arguments: writes)
    func allowed(method: HTTPRequest.Method) {
        #expect(allows(method, [:]))
        #expect(allows(method, [.origin: "http://localhost:8080"]))
        #expect(allows(method, [.origin: "HTTPS://shop.example"]))
        #expect(allows(method, [.secFetchSite: "same-origin"]) && allows(method, [.secFetchSite: "none"]))
    }

    @Test("SRV-11 Writes from anywhere else are refused", arguments: writes)
    func refused(method: HTTPRequest.Method) {
        for origin in [
            "https://evil.test", "null", "", "http://localhost:9999", "http://localhost",
            "https://shop.example.evil.test", "https://shop.example:444",
        ] {
            #expect(!allows(method, [.origin: origin]), "\(origin)")
        }
        var two: HTTPFields = [.origin: "https://shop.example"]
        two.append(HTTPField(name: .origin, value: "https://evil.test"))
        #expect(!allows(method, two))
        #expect(!allows(method, [.secFetchSite: "cross-site"]) && !allows(method, [.secFetchSite: "same-site"]))
    }

    @Test("Reading is left to the browser", arguments: [HTTPRequest.Method.get, .head, .options])
    func reads(method: HTTPRequest.Method) {
        #expect(allows(method, [.origin: "https://evil.test"]))
    }

    @Test("Only a listed origin gets fields that let it read")
    func fields() {
        #expect(
            rules.fields(for: [.origin: "https://shop.example"])[.accessControlAllowOrigin] == "https://shop.example"
        )
        #expect(rules.fields(for: [.origin: "https://evil.test"])[.accessControlAllowOrigin] == nil)
        #expect(rules.fields(for: [:])[.accessControlAllowOrigin] == nil)
        #expect(
            OriginRules(allowed: ["*"]).fields(for: [.origin: "https://any.test"])[.accessControlAllowOrigin]
                == "https://any.test"
        )
    }

    @Test("Only a preflight of a listed origin is told what it may do")
    func preflight() {
        let asked: HTTPFields = [.origin: "https://shop.example", .accessControlRequestMethod: "DELETE"]
        #expect(rules.preflightFields(for: asked, allowed: "GET, DELETE")[.accessControlAllowMethods] == "GET, DELETE")
        #expect(
            rules.preflightFields(for: asked, allowed: nil)[.accessControlAllowHeaders]?.contains("Authorization")
                == true
        )
        #expect(rules.preflightFields(for: [.origin: "https://shop.example"], allowed: nil).isEmpty)
        #expect(
            rules.preflightFields(
                for: [.origin: "https://evil.test", .accessControlRequestMethod: "GET"],
                allowed: nil
            ).isEmpty
        )
    }
}
