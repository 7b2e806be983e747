package import Media
package import Screens
package import Storage

/// How the requests of a test identify a client.
package enum ClientIdentification: Sendable {
    /// By the token of a session (RFC 6750).
    case token
    /// By the name of a profile.
    case profile
}

/// The surroundings of an app under test, apart from its upstreams.
package struct AppSurroundings: Sendable {
    /// The clock.
    package var clock: ManualClock
    /// The data directory; nil for a temporary one.
    package var directory: DataDirectory?
    package var settings: SettingValues
    /// The programs that work on pictures and documents.
    package var tools: MediaTools
    /// How the requests of a test identify a client.
    package var identification: ClientIdentification
    /// The store of several servers, with their sessions; nil for a server by itself.
    package var shared: ClusterAccess?

    /// Creates surroundings; by default all is temporary, and no program is found.
    package init(
        clock: ManualClock = ManualClock(),
        directory: DataDirectory? = nil,
        settings: SettingValues = .standard,
        tools: MediaTools = MediaTools(paths: [:]),
        identification: ClientIdentification = .token,
        shared: ClusterAccess? = nil
    ) {
        self.clock = clock
        self.directory = directory
        self.settings = settings
        self.tools = tools
        self.identification = identification
        self.shared = shared
    }
}

extension SettingValues {
    /// The defaults.
    package static let standard = SettingValues()

    /// Returns the values with another one, which need not be within the range for operators.
    package func with<Value>(_ setting: Setting<Value>, _ value: Value) -> SettingValues {
        var values = self
        values[setting] = value
        return values
    }
}
