import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Fields that are not stored (RFC 9111 §3.1)")
struct CachingRulesStorableFieldsTests {
    private func kept(_ fields: HTTPFields, policy: CachingRules = Sample.shared) -> HTTPFields {
        policy.storability(fields).stored?.headerFields ?? [:]
    }

    @Test("Connection, what it names, and every hop-by-hop or proxy field are dropped")
    func hopByHop() {
        let names = [
            "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", "Trailer",
            "Proxy-Authenticate",
            "Proxy-Authorization", "Proxy-Authentication-Info", "A", "B",
        ]
        var fields: HTTPFields = [.made("C"): "3"]
        for name in names { fields[.made(name)] = name == "Connection" ? "a, B" : "1" }
        #expect(kept(fields).map(\.name) == [.made("C"), .date])
    }

    @Test("Fields that no-cache names are dropped; those that private names, from a shared cache")
    func restricted() {
        var fields: HTTPFields = [.cacheControl: "max-age=60, no-cache=\"a\", private=\"b\""]
        for name in ["a", "b", "c"] { fields[.made(name)] = "1" }
        #expect(
            !kept(fields).contains(.made("a")) && !kept(fields).contains(.made("b"))
                && kept(fields).contains(.made("c"))
        )
        #expect(
            !kept(fields, policy: Sample.own).contains(.made("a"))
                && kept(fields, policy: Sample.own).contains(.made("b"))
        )
    }

    @Test("Set-Cookie is kept for its owner and never shared")
    func setCookie() {
        #expect(!kept([.setCookie: "a=b"]).contains(.setCookie))
        #expect(kept([.setCookie: "a=b"], policy: Sample.own)[.setCookie] == "a=b")
    }

    @Test("A missing Date is added, a present one kept as it is")
    func date() {
        #expect(kept([:])[.date] == Sample.date())
        #expect(kept([.date: "foo"])[.date] == "foo")
    }

    @Test(
        "Forwarded messages lose hop-by-hop fields; Connection removes no end-to-end field (RFC 9110 §7.6.1)"
    )
    func removal() {
        var fields: HTTPFields = [
            .connection: "close, X-One, Cache-Control, Vary", .made("X-One"): "1", .cacheControl: "private", .vary: "*",
        ]
        fields[.upgrade] = "h2c"
        fields[.te] = "trailers"
        HopByHop.remove(from: &fields)
        #expect(fields == [.cacheControl: "private", .vary: "*"])
    }
}
