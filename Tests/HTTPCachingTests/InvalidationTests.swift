import HTTPCaching
import HTTPTypes
import Testing

@Suite("Invalidation (RFC 9111 §4.4)")
struct InvalidationTests {
    private func targets(
        _ method: String,
        _ fields: HTTPFields = [:],
        status: HTTPResponse.Status = .ok,
        url: String = "http://origin.example/a/b?q=1"
    ) throws -> [String] {
        let request = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)),
            scheme: nil,
            authority: nil,
            path: nil
        )
        return Invalidation.targets(of: request, url: url, response: HTTPResponse(status: status, headerFields: fields))
    }

    @Test(
        "Unsafe methods, and unknown ones, invalidate their target",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "get"]
    )
    func unsafeMethods(method: String) throws {
        #expect(try targets(method) == ["http://origin.example/a/b?q=1"])
        #expect(try targets(method, status: .seeOther).count == 1)
    }

    @Test("Errors and safe methods invalidate nothing")
    func nothing() throws {
        #expect(try targets("POST", status: .internalServerError).isEmpty)
        #expect(try targets("POST", status: .notFound).isEmpty)
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"] { #expect(try targets(method).isEmpty) }
    }

    @Test("Location and Content-Location are invalidated too, resolved against the target")
    func locations() throws {
        let found = try targets("POST", [.location: "../c", .contentLocation: "/d?x#frag"])
        #expect(found == ["http://origin.example/a/b?q=1", "http://origin.example/c", "http://origin.example/d?x"])
    }

    @Test(
        "Another origin is never invalidated",
        arguments: ["//other.example/c", "https://origin.example/c", "http://origin.example:8080/c", "mailto:a@b"]
    )
    func otherOrigin(location: String) throws {
        #expect(try targets("PUT", [.location: location]).count == 1)
    }
}
