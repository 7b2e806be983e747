import TestKit
import Testing

extension ContractScenario {
    /// Asks for the first row of a list, for the next page by its link, and with cursors that are refused: one with an
    /// offset, a damaged one and an empty one.
    func askPages(_ operation: String, query: String = "?limit=1", _ headers: [String: String] = [:]) async throws {
        let first = try await ask(operation, query: query, headers)
        let link = try #require(try first.json.at(pointer: "/links/next")?.string, "\(operation): \(first.text)")
        let next = String(link.drop { $0 != "?" })
        #expect(next.contains("cursor="), "\(operation)")
        #expect(try await ask(operation, query: next, headers).status == 200, "\(operation)")
        for wrong in [next + "&offset=1", next.replacing("cursor=", with: "cursor=A"), "?cursor="] {
            #expect(try await ask(operation, query: wrong, headers).status == 400, "\(operation) \(wrong)")
        }
    }
}
