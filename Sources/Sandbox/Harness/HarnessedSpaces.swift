package import Foundation
import HTTPTypes
import JSONValues

/// The spaces of a process: servers like the one that is tested, each with its own ports, data, sandbox and clock. The
/// composition root makes them, and the sandbox offers the calls.
package protocol HarnessedSpaces: Sendable {
    /// All spaces, oldest first.
    var all: [SpaceDescription] { get }

    /// Makes a space, and returns once it listens.
    ///
    /// - Throws: ``SpaceRefusal``; `CancellationError`.
    func make(_ order: SpaceOrder) async throws -> SpaceDescription

    /// Ends a space, and returns once its ports are free and its files are removed.
    ///
    /// - Returns: Whether there was one of that name.
    func end(_ name: String) async -> Bool
}

/// The properties of a space that is to be made.
package struct SpaceOrder: Sendable {
    /// Nil for a generated name.
    package var name: String?
    /// The seed of its random values; nil for that of the process.
    package var seed: UInt64?
    /// The time that its clock shows first; nil for that of the process.
    package var now: Date?
    /// Whether its clock is stopped.
    package var isFrozen = false
    /// It ends after this time without a request; nil for never.
    package var idle: Duration? = .seconds(600)
    /// The name of the snapshot whose contents it gets at the start; nil for none.
    package var snapshot: String?
    /// The condition under which it starts; nil for none.
    package var condition: HarnessCondition?
    /// The tokens of sessions, by app, that requests without a token get.
    package var sessions: [String: String] = [:]
    /// Registers an action for the end of the connection with which the space ends; nil if the space outlives it.
    package var onDisconnect: (@Sendable (_ action: @escaping @Sendable () -> Void) -> Void)?

    package init() {}
}

package struct SpaceDescription: Sendable {
    package let name: String
    /// Base URL of its server.
    package let url: String
    /// Base URL of its simulated upstreams and controls.
    package let sandbox: String
    package let seed: UInt64
    package let idle: Duration?
    /// Whether it ends with the connection that has made it.
    package let endsWithConnection: Bool

    package init(name: String, url: String, sandbox: String, seed: UInt64, idle: Duration?, endsWithConnection: Bool) {
        (self.name, self.url, self.sandbox, self.seed) = (name, url, sandbox, seed)
        (self.idle, self.endsWithConnection) = (idle, endsWithConnection)
    }

    /// As the calls and `LARDER_SPACES` show the space.
    package var json: String { value.json }

    var value: JSONValue {
        [
            "name": .string(name), "url": .string(url), "sandbox": .string(sandbox), "seed": .integer(Int(seed)),
            "idle_s": .integer(Int(idle?.components.seconds ?? 0)),
            "until": .string(endsWithConnection ? "connection" : "idle"),
        ]
    }
}

/// Why a space was not made.
package enum SpaceRefusal: Error {
    /// There is one of that name.
    case taken(String)
    /// The number of spaces has reached its limit.
    case full(limit: Int)
    case unknownSnapshot(String, known: [String])
    case failed(String)
}

extension SpaceOrder {
    /// Longest time without a request, in seconds.
    private static let longestIdle = 3600

    /// Parses `{"name":"t17","seed":7,"now":"2030-01-05T10:00:00Z","frozen":true,"idle_s":600,"until":"connection",
    /// "from":"SNAPSHOT","condition":"offline"}`. Every member, and the body, may be left out. With `"idle_s":0` the
    /// space does not end by itself.
    init(_ request: ControlRequest) throws {
        self.init()
        guard !request.body.isEmpty else { return }
        let fields = try ControlFields(try request.json())
        try fields.require(only: "name", "seed", "now", "frozen", "idle_s", "until", "from", "condition")
        name = try fields.text("name").map(ControlName.checked)
        seed = try fields.integer("seed", in: 0...Int.max).map(UInt64.init)
        now = try fields.time("now")
        isFrozen = try fields.flag("frozen") ?? false
        if let seconds = try fields.integer("idle_s", in: 0...Self.longestIdle) {
            idle = seconds == 0 ? nil : .seconds(seconds)
        }
        if try fields.choice("until", of: End.self) == .connection { onDisconnect = request.onClose }
        snapshot = try fields.text("from")
        condition = try fields.text("condition").map { try HarnessCondition(parsing: $0) }
    }

    private enum End: String, CaseIterable {
        case idle, connection
    }
}

// Spaces: further servers in this process.
extension HarnessAPI {
    func spaces(_ request: ControlRequest) async throws -> UpstreamResponse {
        guard let spaces = server.spaces else { throw ControlProblem.notFound("A space has no spaces of its own.") }
        switch request.path.count {
        case 1:
            try request.require(.get, .post)
            _ = try request.parameters()
            if request.method == .post { return try await make(request, in: spaces) }
            return .json(.ok, ["spaces": .array(spaces.all.map(\.value))])
        case 2:
            try request.require(.get, .delete)
            try request.requireNoMembers()
            return try await one(request, in: spaces)
        default: throw ControlProblem.notFound("There is nothing below /\(Self.prefix)/spaces/{name}.")
        }
    }

    private func make(_ request: ControlRequest, in spaces: any HarnessedSpaces) async throws -> UpstreamResponse {
        let order = try SpaceOrder(request)
        do {
            let made = try await spaces.make(order)
            var response = UpstreamResponse.json(.created, made.value)
            response.headers[.location] = "/\(Self.prefix)/spaces/\(made.name)"
            return response
        } catch let refusal as SpaceRefusal {
            throw ControlProblem(refusal)
        }
    }

    private func one(_ request: ControlRequest, in spaces: any HarnessedSpaces) async throws -> UpstreamResponse {
        let name = request.path[1]
        if request.method == .delete {
            if await spaces.end(name) { return UpstreamResponse(status: .noContent) }
        } else if let space = spaces.all.first(where: { $0.name == name }) {
            return .json(.ok, space.value)
        }
        throw ControlProblem.notFound(
            "There is no space '\(name)'.",
            field: "name",
            accepted: spaces.all.map(\.name)
        )
    }
}

extension ControlProblem {
    fileprivate init(_ refusal: SpaceRefusal) {
        switch refusal {
        case .taken(let name): self = .conflict("There is a space '\(name)' already.")
        case .full(let limit): self = .conflict("A process has at most \(limit) spaces; DELETE ends one.")
        case .unknownSnapshot(let name, let known):
            self = .notFound("There is no snapshot '\(name)'.", field: "from", accepted: known)
        case .failed(let reason):
            self.init(
                status: .internalServerError,
                code: "space-failed",
                title: "Not made",
                detail: "The space could not be started: \(reason)."
            )
        }
    }
}
