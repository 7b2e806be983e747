package import Foundation

/// The spaces of a process: servers like the one that is tested, each with ports, data, a sandbox and a clock of its
/// own. The composition root makes them; the sandbox offers the calls.
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

/// How a space is to be.
package struct SpaceOrder: Sendable {
    /// Nil for one that is made up.
    package var name: String?
    /// What is drawn at random in it is drawn from this; nil for the seed of the process.
    package var seed: UInt64?
    /// The time that its clock shows first; nil for that of the process.
    package var now: Date?
    /// Whether its clock stands still.
    package var isFrozen = false
    /// It ends after this time without a request; nil for never.
    package var idle: Duration? = .seconds(600)
    /// The name of a snapshot with whose contents it begins; nil for none.
    package var snapshot: String?
    /// Has something done when the connection has ended with which the space is to end; nil if it outlives it.
    package var onDisconnect: (@Sendable (_ action: @escaping @Sendable () -> Void) -> Void)?

    /// An order of a space with nothing special.
    package init() {}
}

/// A space that there is.
package struct SpaceDescription: Sendable {
    /// Its name.
    package let name: String
    /// Base URL of its server.
    package let url: String
    /// Base URL of its simulated upstreams and controls.
    package let sandbox: String
    /// What is drawn at random in it is drawn from this.
    package let seed: UInt64
    /// It ends after this time without a request; nil for never.
    package let idle: Duration?
    /// Whether it ends with the connection that has made it.
    package let endsWithConnection: Bool

    /// Describes a space.
    package init(name: String, url: String, sandbox: String, seed: UInt64, idle: Duration?, endsWithConnection: Bool) {
        (self.name, self.url, self.sandbox, self.seed) = (name, url, sandbox, seed)
        (self.idle, self.endsWithConnection) = (idle, endsWithConnection)
    }

    /// As the calls and `LARDER_SPACES` show it.
    package var json: String { String(decoding: value.serialized(), as: UTF8.self) }

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
    /// There are as many as there may be.
    case full(limit: Int)
    /// There is no such snapshot.
    case unknownSnapshot(String, known: [String])
    /// It did not start.
    case failed(String)
}
