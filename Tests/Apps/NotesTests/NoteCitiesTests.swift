import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Notes

@Suite struct NoteCitiesTests {
    private static func names(_ response: Exchanged) -> [JSONFields.Value] { response.all("name", in: "data.items") }

    @Test("The largest cities of a part of the world, the largest first, in the language of the client")
    func cities() async throws {
        try await NotesHarness.run { app in
            let german = try await app.get("/v1/notes/cities?bbox=5.9,47.3,15,55&limit=3")
            #expect(german.status == 200 && Self.names(german).count == 3)
            #expect(Self.names(german).contains("Berlin"))
            let populations = try Gazetteer.bundled().largest(200, in: .world).map(\.population)
            #expect(populations.count == 200 && populations == populations.sorted(by: >))
            let russian = try await app.get("/v1/notes/cities?bbox=37,55,38,56", as: nil, [.acceptLanguage: "ru"])
            #expect(Self.names(russian).contains("Москва"))
        }
    }

    @Test("A part of the world that crosses the antimeridian has the cities of both sides; the sea has none")
    func borders() async throws {
        try await NotesHarness.run { app in
            let pacific = Self.names(try await app.get("/v1/notes/cities?bbox=170,-50,-150,25&limit=200"))
            #expect(pacific.contains("Auckland") && pacific.contains("Honolulu") && !pacific.contains("London"))
            let sea = try await app.get("/v1/notes/cities?bbox=-40,-60,-35,-55")
            #expect(Self.names(sea).isEmpty && sea["meta.state"] == "empty")
            for query in ["bbox=1,2,3", "bbox=a", "limit=0", "limit=201", "q=a"] {
                #expect(try await app.get("/v1/notes/cities?\(query)").status == 400, "\(query)")
            }
        }
    }
}
