import TestKit
import Testing

@Suite("Links of responses")
struct LinkTests {
    /// The ids of all pages from a first one on, as `links.next` leads through them.
    private func ids(from first: String, _ larder: InProcessLarder, _ member: [String: String]) async throws -> [String]
    {
        var ids: [String] = []
        var next: String? = first
        while let path = next {
            let response = try await larder.send("GET", path, member)
            try #require(response.status == 200, "\(path): \(response.text)")
            let page = try response.json
            ids += (page.at(pointer: "/data/items")?.array ?? []).compactMap { $0["id"]?.string }
            next = page.at(pointer: "/links/next")?.string
        }
        return ids
    }

    @Test(
        "SRV-06 The next links lead through the whole list, each ship once and in order, and keep what else was asked"
    )
    func pages() async throws {
        try await withLarder(["--upstreams-spacex-patience-ms", "60000"]) { larder in
            let member = try await ContractScenario(larder: larder, transcript: RecordedExchanges()).session()
            let whole = try await ids(from: "/v1/ships", larder, member)
            #expect(whole.count > 10 && Set(whole).count == whole.count)
            #expect(try await ids(from: "/v1/ships?limit=7", larder, member) == whole)
            #expect(try await ids(from: "/v1/ships?since_revision=1&offset=0&limit=4", larder, member) == whole)
            let encoded = try await larder.send("GET", "/v1/ships?%6cimit=7", member).json
            let second = try await larder.send("GET", try #require(encoded.at(pointer: "/links/next")?.string), member)
            #expect(second.status == 200, "\(second.text)")
        }
    }

    @Test(
        "SRV-06 The self link of a response can be requested as it is",
        arguments: ["/v1/shop/history?q=%22", #"/v1/shop/history?q="<|>"#, "//v1/ships/launch"]
    )
    func own(target: String) async throws {
        let document = try OpenAPIDocument.load()
        let links = try #require(document.root.at(pointer: "/components/schemas/Links"))
        try await withLarder(["--upstreams-spacex-patience-ms", "60000"]) { larder in
            let raw = try await larder.raw("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let own = raw.status == 200 ? try raw.json["links"] : nil
            let violations = try own.map { try document.validator.violations(of: $0, schema: links) } ?? []
            #expect(violations == [], "\(target)")
            #expect((raw.status == 200) == !target.hasPrefix("//"), "everything has one address")
        }
    }
}
