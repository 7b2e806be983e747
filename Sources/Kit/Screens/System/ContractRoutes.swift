import Freshness
import HTTPTypes

/// `GET /openapi.yaml` and `GET /openapi.json`: the contract, for people, tests and generators of clients.
package struct ContractRoutes: Sendable {
    private let yaml: PreparedBytes
    private let json: @Sendable () throws -> PreparedBytes

    /// Creates the routes.
    /// - Parameters:
    ///   - yaml: the contract.
    ///   - json: returns the same as JSON.
    package init(yaml: PreparedBytes, json: @escaping @Sendable () throws -> PreparedBytes) {
        self.yaml = yaml
        self.json = json
    }

    /// The address that the index names.
    static let path = "/openapi.yaml"

    /// The routes.
    package var routes: [Route] {
        [
            Route(.get, Self.path, "contract") { _ in Self.response(yaml) },
            Route(.get, "/openapi.json", "contract.json") { _ in Self.response(try json()) },
        ]
    }

    /// The contract changes with the version of the server only.
    private static func response(_ prepared: PreparedBytes) -> ScreenResponse {
        ScreenResponse(
            headerFields: [.cacheControl: "public, max-age=300"],
            body: .prepared(prepared),
            changeToken: .unlimited
        )
    }
}
