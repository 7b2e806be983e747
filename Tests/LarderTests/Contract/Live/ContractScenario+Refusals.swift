import TestKit
import Testing

@testable import Larder

extension ContractScenario {
    private static func operations() throws -> [Operation] { try OpenAPIDocument.load().operations }

    /// Problems of every request that are found before its route is called.
    func problemsOfEveryRequest() async throws {
        let host = "Host: 127.0.0.1:\(larder.port)\r\nConnection: close\r\n"
        let manyFields = (1...100).map { "X-Field-\($0): a\r\n" }.joined()
        for operation in try Self.operations() {
            try await ask(operation.key, ["Host": "evil.example"])
            try await askRaw(operation.key, query: "?%zz", lines: host)
            try await ask(operation.key, query: "?zz=1")
            if operation.path.hasPrefix("/v1/shop/") || operation.path.hasPrefix("/v1/pdf/") {
                try await ask(operation.key, query: "?profile=a%20b")
            }
            try await askRaw(operation.key, query: "?" + String(repeating: "a", count: 9000), lines: host)
            try await askRaw(operation.key, lines: host + manyFields)
            if operation.method != "GET" { try await ask(operation.key, ["Origin": "https://evil.example"]) }
            guard operation.value["security"] != nil else { continue }
            if operation.needsSession { try await ask(operation.key) }
            try await ask(operation.key, ["Authorization": "Basic Y2FwdGFpbjpzZWNyZXQ="])
            try await ask(operation.key, ["Authorization": "Bearer \(String(repeating: "A", count: 43))"])
        }
    }

    /// A client whose request does not arrive.
    func slowClients() async throws {
        for operation in try Self.operations() {
            try await askRaw(operation.key, lines: "Host: 127.0.0.1\r\n", isWhole: false)
        }
    }

    /// Bodies with which requests that need no session get as far as the database.
    static let bodiesWithoutSession = [
        "POST /v1/ships/session": #"{"mode":"guest"}"#,
        "POST /v1/disk/session": #"{"mode":"oauth_token","access_token":"sandbox-token"}"#,
        "PUT /v1/disk/onboarding": #"{"seen":true}"#,
        "POST /v1/notes/session": #"{"mode":"login","username":"a","password":"b"}"#,
    ]

    /// A server whose database went away.
    func brokenDatabase() async throws {
        let member = try await session()
        try await larder.application.close()
        for operation in try Self.operations()
        where operation.responses["500"] != nil && !operation.path.hasPrefix("/v1/pdf/") {
            try await ask(
                operation.key,
                member,
                body: Self.bodiesWithoutSession[operation.key] ?? Self.shopBodies[operation.key]
            )
        }
        for operation in Self.open { try await ask(operation) }
    }
}
