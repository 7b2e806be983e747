import Foundation
import HTTPTypes
import Hummingbird
import Testing
import Upstream

@testable import Screens

@Suite("Responses of mounts")
struct ProxyResponseRendererTests {
    @Test(
        "TRUST-07 Nothing of a mount can be a page or script of this origin, unless its type is surely none of those",
        arguments: [
            nil, "", "*/*", "unknown/unknown", "application/unknown", "text/html", "text/xsl", "image/svg+xml",
            "multipart/x-mixed-replace", "application/pdf", "text/xml", "application/xhtml+xml", "text/vtt+xml",
            "video/x+xml", "text/javascript", "text/plain, text/html", "text/plain;a=\",text/html", "text", "text/",
            "text/plain/x", "text /plain", "text/plain text/html", "image/svg", "model/vrml", "message/rfc822",
        ]
    )
    func sandboxed(type: String?) {
        for status in [HTTPResponse.Status.ok, .notModified, .notFound] {
            var fields: HTTPFields = [.contentSecurityPolicy: "default-src *"]
            fields[.contentType] = type
            let response = ProxyResponseRenderer.render(
                ProxyResponse(head: HTTPResponse(status: status, headerFields: fields), body: .none)
            )
            #expect(response.headers[values: .contentSecurityPolicy] == ["default-src *", "sandbox"])
            #expect(response.headers[.contentTypeOptions] == "nosniff")
        }
    }

    @Test(
        "TRUST-07 A type that no browser runs as a document keeps the policies of its upstream, and gets nosniff",
        arguments: [
            "application/json", "application/geo+json; charset=utf-8", "text/plain;charset=utf-8", "TEXT/PLAIN",
            "image/png", "video/mp4", "audio/mpeg", "font/woff2", " text/css ", "application/octet-stream",
        ]
    )
    func passive(type: String) {
        let fields: HTTPFields = [.contentSecurityPolicy: "default-src 'self'", .contentType: type]
        let response = ProxyResponseRenderer.render(
            ProxyResponse(head: HTTPResponse(status: .ok, headerFields: fields), body: .none)
        )
        #expect(response.headers[values: .contentSecurityPolicy] == ["default-src 'self'"])
        #expect(response.headers[.contentTypeOptions] == "nosniff")
    }

    @Test("TRUST-07 A response with two types gets the sandbox")
    func twoTypes() {
        var fields: HTTPFields = [.contentType: "text/plain"]
        fields.append(HTTPField(name: .contentType, value: "text/html"))
        let rendered = ProxyResponseRenderer.withoutWordsForItsOrigin(fields)
        #expect(rendered[.contentSecurityPolicy] == "sandbox")
    }

    @Test("SRV-11 An upstream sets its own cookies, and none of this server's, which would choose the session")
    func cookies() {
        var fields: HTTPFields = [.contentType: "application/json"]
        let own = ["larder-abcdef-ships=t; Path=/v1", " LARDER-abcdef-disk=t", "=larder-abcdef-notes=t"]
        for value in own + ["sid=1; HttpOnly"] { fields.append(HTTPField(name: .setCookie, value: value)) }
        #expect(ProxyResponseRenderer.withoutWordsForItsOrigin(fields)[values: .setCookie] == ["sid=1; HttpOnly"])
    }

    @Test("TRUST-07 What an upstream says of its own origin is removed")
    func origin() {
        let names = [
            "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc", "Service-Worker-Allowed",
            "Access-Control-Allow-Origin", "NEL", "Report-To", "Reporting-Endpoints", "Accept-CH", "Critical-CH",
            "Origin-Agent-Cluster", "Use-As-Dictionary", "Public-Key-Pins-Report-Only", "Expect-CT", "Set-Login",
            "Sec-Session-Registration", "Secure-Session-Registration",
        ]
        let fields = HTTPFields(names.compactMap { HTTPField.Name($0) }.map { HTTPField(name: $0, value: "x") })
        let rendered = ProxyResponseRenderer.withoutWordsForItsOrigin(fields)
        #expect(Set(rendered.map(\.name)) == [.contentSecurityPolicy, .contentTypeOptions])
    }

    @Test("SRV-07 TRUST-07 Of interim responses the same is removed, and nothing is added")
    func interim() throws {
        var response = HTTPResponse(status: .init(code: 103))
        let hint = try #require(HTTPField.Name("Link"))
        response.headerFields[hint] = "</a.css>; rel=preload"
        let rendered = ProxyResponseRenderer.interim(response)
        #expect(rendered == response)
        for name in ["Clear-Site-Data", "Access-Control-Allow-Origin"] {
            response.headerFields[try #require(HTTPField.Name(name))] = "*"
        }
        #expect(ProxyResponseRenderer.interim(response) == rendered)
    }

    @Test("SRV-07 Pins of keys pass: only a chain that has one of them binds this origin to it (RFC 7469 §2.5)")
    func pins() throws {
        let pins = try #require(HTTPField.Name("Public-Key-Pins"))
        #expect(ProxyResponseRenderer.withoutWordsForItsOrigin([pins: "max-age=1"])[pins] == "max-age=1")
    }
}
