import Foundation
import TestKit
import Testing

@testable import Larder

@Suite("Profiles in links")
struct ProfileTests {
    /// Addresses of this server in a response: all of them, and those that a GET is sent to.
    private static func links(in value: JSON, isRead: Bool = true) -> [(target: String, isRead: Bool)] {
        if let text = value.string { return text.hasPrefix("/v1/") ? [(text, isRead)] : [] }
        if let elements = value.array { return elements.flatMap { links(in: $0) } }
        let isRead = value["method"]?.string ?? "GET" == "GET"
        return (value.object ?? [:]).values.flatMap { links(in: $0, isRead: isRead) }
    }

    /// Makes a profile with a list and a document; the addresses of both, as `Location` has them.
    private static func fill(_ name: String, _ larder: InProcessLarder) async throws -> [String] {
        let json = ["Content-Type": "application/json"]
        let item = try await larder.send(
            "POST",
            "/v1/shop/list/items?profile=\(name)",
            json,
            body: #"{"product_id":1,"quantity":2}"#
        )
        let document = try await larder.send(
            "POST",
            "/v1/pdf/documents?profile=\(name)",
            ContractScenario.form,
            body: ContractScenario.form([("a.tiff", MadeFile.tiff)])
        )
        return try [item, document].map { response in
            try #require(response.status == 201, "\(response.text)")
            return try #require(response["Location"])
        }
    }

    @Test(
        "Every link of a response names its profile, so that pictures and links need no header field",
        arguments: [["Larder-Profile": "anna"], [:]]
    )
    func links(fields: [String: String]) async throws {
        try await withLarder { larder in
            let made = try await Self.fill("anna", larder)
            #expect(made.allSatisfy { $0.hasSuffix("?profile=anna") })
            let query = fields.isEmpty ? "?profile=anna" : ""
            var waiting = ["shop/launch", "shop/list", "shop/categories", "pdf/launch", "pdf/documents"].map {
                (target: "/v1/\($0)\(query)", fields: fields)
            }
            waiting.append((made[1], [:]))
            var known: Set<String> = []
            while let (target, fields) = waiting.popLast() {
                let response = try await larder.send("GET", target, fields)
                try #require(response.status == 200, "\(target): \(response.text)")
                guard response["Content-Type"]?.hasPrefix("application/json") == true else { continue }
                for link in Self.links(in: try response.json) {
                    let names = link.target.split(separator: /[?&]/).filter { $0.hasPrefix("profile=") }
                    #expect(names == ["profile=anna"], "\(link.target) of \(target)")
                    if link.isRead, known.insert(link.target).inserted { waiting.append((link.target, [:])) }
                }
            }
            #expect(known.count > 50 && known.contains { $0.hasPrefix("\(made[1].prefix { $0 != "?" })/pages/") })
        }
    }

    @Test("The parameter selects the same as the header field; two names are 400, and so is one that cannot be one")
    func selection() async throws {
        try await withLarder { larder in
            _ = try await Self.fill("anna", larder)
            let anna = ["Larder-Profile": "anna"]
            for path in ["/v1/shop/list", "/v1/pdf/documents"] {
                let byField = try await larder.send("GET", path, anna)
                let byQuery = try await larder.send("GET", "\(path)?profile=anna")
                let both = try await larder.send("GET", "\(path)?profile=anna", anna)
                #expect(byField.status == 200 && byField.text == byQuery.text && both.text == byField.text)
                let local = try await larder.send("GET", "\(path)?profile=local")
                #expect(local.text == (try await larder.send("GET", path)).text && local.text != byField.text)
                for (query, fields) in [("bert", anna), ("a%20b", [:]), ("", [:]), ("anna&profile=anna", [:])] {
                    let response = try await larder.send("GET", "\(path)?profile=\(query)", fields)
                    #expect(response.status == 400 && response.problemCode == "invalid-parameter", "\(query)")
                }
            }
            let events = try await larder.send("GET", "/v1/events?profile=bert", anna)
            #expect(events.status == 400)
        }
    }
}
