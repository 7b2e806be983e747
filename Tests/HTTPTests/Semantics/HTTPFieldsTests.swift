import HTTPTypes
import Testing

@testable import HTTP

struct FieldNameLiteralTests {
    @Test("The names that HTTPTypes does not list are those of the RFCs")
    func names() {
        let names: [HTTPField.Name] = [
            .pragma, .keepAlive, .proxyConnection, .acceptCharset, .cacheStatus, .cdnCacheControl,
        ]
        let expected = [
            "Pragma", "Keep-Alive", "Proxy-Connection", "Accept-Charset", "Cache-Status", "CDN-Cache-Control",
        ]
        #expect(names.map(\.rawName) == expected)
    }

    @Test("A literal is a name like any other, without regard to case")
    func literal() {
        #expect(HTTPField.Name(literal: "x-api-key") == HTTPField.Name("X-API-Key"))
    }
}

@Suite struct PreferencesTests {
    @Test(
        "The preference respond-async has no value and may be one of several",
        arguments: [
            "respond-async", "Respond-Async", "respond-async; x=1", "wait=10, respond-async", "respond-async=",
            #"respond-async="""#,
        ]
    )
    func preferred(line: String) {
        #expect(HTTPFields([.init(name: .prefer, value: line)]).prefersAsyncResponse)
    }

    @Test(
        "Another preference is not taken for it",
        arguments: [
            "", "=", ";", "respond-async=false", "respond-async=1", #"respond-async="x""#, "respond-asynchronously",
            #"x="respond-async""#, "x; respond-async", "wait=10",
        ]
    )
    func notPreferred(line: String) {
        #expect(!HTTPFields([.init(name: .prefer, value: line)]).prefersAsyncResponse)
    }
}

@Suite("Content-Length (RFC 9110 §8.6)")
struct ContentLengthTests {
    @Test(
        "A number, or several equal ones",
        arguments: [
            ("0", 0), (" 12 ", 12), ("5, 5", 5), ("5, 6", nil), ("+5", nil), ("-5", nil), ("5x", nil), ("", nil),
            ("99999999999999999999", nil),
        ]
    )
    func declared(text: String, expected: Int?) {
        #expect(HTTPFields([HTTPField(name: .contentLength, value: text)]).declaredContentLength == expected)
    }

    @Test("Without the field nothing is declared")
    func absent() {
        #expect(HTTPFields().declaredContentLength == nil)
    }
}

@Suite("Content-Disposition (RFC 6266)")
struct ContentDispositionTests {
    @Test("A name is written in ASCII and in the form of RFC 8187; without one there is the type alone")
    func value() {
        #expect(
            ContentDisposition.value("attachment", fileName: "a/b \"ж\".pdf")
                == "attachment; filename=\"a_b ___.pdf\"; filename*=UTF-8''a%2Fb%20%22%D0%B6%22.pdf"
        )
        #expect(ContentDisposition.value("inline", fileName: nil) == "inline")
        #expect(ContentDisposition.value("inline", fileName: "") == "inline")
    }
}

@Suite("Bearer tokens (RFC 6750 §2.1)")
struct BearerTokenTests {
    @Test(
        "The scheme has no case; anything else than a scheme and a token is none",
        arguments: [
            ("Bearer abc", "abc"), ("bEARER  abc ", "abc"), ("Basic abc", nil), ("Bearer", nil), ("Bearer ", nil),
            ("", nil), ("abc", nil),
        ]
    )
    func parse(text: String, expected: String?) {
        #expect(BearerToken.parse(text) == expected)
    }
}

struct CookiePairsTests {
    @Test("The pairs whose names begin with a prefix, in order and byte for byte")
    func named() {
        let line = "a=1; larder-x-disk=t1;larder-x-ships=\"t 2\" ;  larder-x-disk=t3; xlarder-x-=4; larder-y-disk=5;;="
        let expected: [Substring] = ["larder-x-disk=t1", "larder-x-ships=\"t 2\"", "larder-x-disk=t3"]
        #expect(CookiePairs.named("larder-x-", in: line) == expected)
        #expect(CookiePairs.named("larder-x-", in: "").isEmpty)
        #expect(CookiePairs.named("larder-x-", in: "Larder-x-disk=1; a=\"; larder-x-disk=2\"") == ["larder-x-disk=2\""])
    }

    @Test(
        "A line without the pairs of a prefix",
        arguments: [
            ("a=1; larder-x-disk=2; b=3", "a=1; b=3"), ("a=1;b=2", "a=1; b=2"), ("larder-x-disk=2", nil), ("", nil),
            ("LARDER-x=1; larder-", nil), ("larder=1", "larder=1"), ("a=larder-x", "a=larder-x"), (" ; a", "a"),
        ] as [(String, String?)]
    )
    func without(line: String, expected: String?) {
        #expect(CookiePairs.line(line, without: "larder-") == expected)
    }

    @Test(
        "SRV-11 A server that sets a cookie of a prefix, however it spells it",
        arguments: [
            "larder-x-ships=t", " larder-x-ships=t; Path=/", "LARDER-x=t", "=larder-x-ships=t", "larder-x-ships",
            "\t= larder-x-ships=t",
        ]
    )
    func sets(line: String) {
        #expect(CookiePairs.sets(line, "larder-"))
    }

    @Test("Other cookies are set", arguments: ["a=larder-x", "larder=1", "", "xlarder-=1"])
    func others(line: String) {
        #expect(!CookiePairs.sets(line, "larder-"))
    }
}
