import HTTPTypes
import Hummingbird
import Proxy
import Testing

@testable import Screens

@Suite("Responses of mounts")
struct ProxyResponseRendererTests {
    @Test(
        "TRUST-07 Nothing of a mount can be a page or script of this origin, whatever type it has",
        arguments: [
            nil, "", "*/*", "unknown/unknown", "application/unknown", "text/html", "text/xsl", "image/svg+xml",
            "multipart/x-mixed-replace", "application/json", "text/plain",
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

    @Test("TRUST-07 What an upstream says of its own origin is removed")
    func origin() {
        let names = [
            "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc", "Service-Worker-Allowed",
            "Access-Control-Allow-Origin", "NEL", "Report-To", "Reporting-Endpoints", "Accept-CH", "Critical-CH",
            "Origin-Agent-Cluster",
        ]
        let fields = HTTPFields(names.compactMap { HTTPField.Name($0) }.map { HTTPField(name: $0, value: "x") })
        let rendered = ProxyResponseRenderer.withoutWordsForItsOrigin(fields)
        #expect(Set(rendered.map(\.name)) == [.contentSecurityPolicy, .contentTypeOptions])
    }
}
