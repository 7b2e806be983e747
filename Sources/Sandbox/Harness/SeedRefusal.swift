import HTTPTypes

/// Why a document that is to fill a server was refused. Nothing of it was stored.
package struct SeedRefusal: Error, Sendable {
    /// What is wrong with one value.
    package struct Fault: Sendable, Equatable {
        let pointer: String
        let code: String
        let detail: String

        /// - Parameters:
        ///   - pointer: where it is (RFC 6901).
        ///   - code: what is wrong, for programs.
        ///   - detail: what is accepted, for people.
        package init(pointer: String, code: String, detail: String) {
            (self.pointer, self.code, self.detail) = (pointer, code, detail)
        }
    }

    /// Most faults that a refusal names.
    static let mostFaults = 20

    /// What is wrong, at least one value.
    package let all: [Fault]

    /// Creates a refusal for at least one reason.
    package init(_ faults: [Fault]) { all = faults }
}

/// What was stored of a document.
package struct SeedReport: Sendable {
    /// An account with the token of its session.
    package struct Account: Sendable {
        let app: String
        let name: String?
        let token: String

        /// Names an account.
        package init(app: String, name: String?, token: String) {
            (self.app, self.name, self.token) = (app, name, token)
        }
    }

    let accounts: [Account]
    /// Number of items by member.
    var counts: [String: Int]

    /// Describes what was stored.
    package init(accounts: [Account], counts: [String: Int]) {
        (self.accounts, self.counts) = (accounts, counts)
    }
}

extension SeedRefusal {
    var response: UpstreamResponse {
        let shown = all.prefix(Self.mostFaults)
        let errors = shown.map { fault -> JSONValue in
            ["pointer": .string(fault.pointer), "code": .string(fault.code), "detail": .string(fault.detail)]
        }
        let detail = shown.prefix(3).map { "\($0.pointer): \($0.detail)" }.joined(separator: " ")
        return .json(
            .unprocessableContent,
            [
                "type": "urn:larder:sandbox:problem:not-seeded", "title": "Nothing was stored", "status": 422,
                "detail": .string(detail), "code": "not-seeded", "errors": .array(Array(errors)),
            ],
            type: "application/problem+json"
        )
    }
}

/// Stores a document in the server that is tested.
package typealias SeedStore = @Sendable () async throws -> SeedReport
