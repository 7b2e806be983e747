import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("What ships cost the database")
struct ShipStatementTests {
    /// Expects what a request costs that was made before, with the API known to be away.
    private func expect(_ cost: StatementLog.Count, of target: String) async throws {
        try await ShipsHarness.run { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(.refused))
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            _ = try await app.get(target, as: token)
            let ran = try await app.statements.count {
                let response = try await app.get(target, as: token)
                #expect(response["meta.offline"] == true)
            }
            #expect(ran == cost)
        }
    }

    @Test("the list, with its age and its changes, is one transaction of four statements")
    func list() async throws {
        try await expect(.init(transactions: 1, statements: 4), of: "/v1/ships")
    }

    @Test("details are one transaction of two statements")
    func details() async throws {
        try await expect(.init(transactions: 1, statements: 2), of: "/v1/ships/b0b")
    }
}
