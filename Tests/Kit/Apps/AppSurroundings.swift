package import Database
package import Media

/// How the requests of a test identify a client.
package enum ClientIdentification: Sendable {
    /// By the token of a session (RFC 6750).
    case token
    /// By the name of a profile.
    case profile
}

/// What an app under test works with, apart from its upstreams.
package struct AppSurroundings: Sendable {
    /// The clock.
    package var clock: ManualClock
    /// The data directory; nil for a temporary one.
    package var directory: DataDirectory?
    /// Values of the app's settings by key; the others have their defaults.
    package var settings: [String: String]
    /// The programs that work on pictures and documents.
    package var tools: MediaTools
    /// How the requests of a test identify a client.
    package var identification: ClientIdentification

    /// Creates surroundings; by default all is temporary, and no program is found.
    package init(
        clock: ManualClock = ManualClock(),
        directory: DataDirectory? = nil,
        settings: [String: String] = [:],
        tools: MediaTools = MediaTools(paths: [:]),
        identification: ClientIdentification = .token
    ) {
        self.clock = clock
        self.directory = directory
        self.settings = settings
        self.tools = tools
        self.identification = identification
    }
}
