public import Database
public import Media

/// How the requests of a test identify a client.
public enum ClientIdentification: Sendable {
    /// By the token of a session (RFC 6750).
    case token
    /// By the name of a profile.
    case profile
}

/// What an app under test works with, apart from its upstreams.
public struct AppSurroundings: Sendable {
    /// The clock.
    public var clock: ManualClock
    /// The data directory; nil for a temporary one.
    public var directory: DataDirectory?
    /// Values of the app's settings by key; the others have their defaults.
    public var settings: [String: String]
    /// The programs that work on pictures and documents.
    public var tools: MediaTools
    /// How the requests of a test identify a client.
    public var identification: ClientIdentification

    /// Creates surroundings; by default all is temporary, and no program is found.
    public init(
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
