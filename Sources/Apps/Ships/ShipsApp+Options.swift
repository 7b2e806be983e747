extension ShipsApp {
    /// What a deletion means when the list is refreshed (setting `ships.deleted`).
    public enum DeletionMode: String, Sendable, CaseIterable {
        /// A deleted ship stays deleted until it is restored.
        case hidden
        /// The next refresh restores it, as the rules of the original app say to the letter.
        case literal
    }

    /// The app's settings.
    public struct Options: Sendable {
        /// How long a login takes; it simulates a server, as the original app does.
        public var loginDelay: Duration
        /// What a deletion means when the list is refreshed.
        public var deletion: DeletionMode

        /// Creates options; the defaults are those of the settings.
        public init(loginDelay: Duration = .milliseconds(2500), deletion: DeletionMode = .hidden) {
            self.loginDelay = loginDelay
            self.deletion = deletion
        }
    }
}
