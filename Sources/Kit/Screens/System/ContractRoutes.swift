public import Foundation
import Freshness
import HTTPTypes

/// `GET /openapi.yaml` and `GET /openapi.json`: the contract, for people, tests and generators of clients.
public struct ContractRoutes: Sendable {
    private let yaml: Data
    private let json: @Sendable () throws -> Data

    /// Creates the routes.
    /// - Parameters:
    ///   - yaml: the contract.
    ///   - json: returns the same as JSON.
    public init(yaml: Data, json: @escaping @Sendable () throws -> Data) {
        self.yaml = yaml
        self.json = json
    }

    /// The address that the index names.
    static let path = "/openapi.yaml"

    /// The routes.
    public var routes: [Route] {
        [
            Route(.get, Self.path, "contract") { _ in Self.response(yaml, type: MediaType.yaml) },
            Route(.get, "/openapi.json", "contract.json") { _ in
                Self.response(try json(), type: MediaType.json)
            },
        ]
    }

    /// The contract changes with the version of the server only.
    private static func response(_ bytes: Data, type: String) -> ScreenResponse {
        ScreenResponse(
            headerFields: [.cacheControl: "public, max-age=300"],
            body: .bytes(bytes, type: type),
            changeToken: .unlimited
        )
    }
}
