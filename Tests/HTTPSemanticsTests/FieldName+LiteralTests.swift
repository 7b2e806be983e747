import HTTPTypes
import Testing

@testable import HTTPSemantics

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
