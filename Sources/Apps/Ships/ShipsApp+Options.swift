extension ShipsApp {
    /// What a deletion means when the list is refreshed (setting `ships.deleted`).
    package enum DeletionMode: String, Sendable, CaseIterable {
        /// A deleted ship stays deleted until it is restored.
        case hidden
        /// The next refresh restores it, as the rules of the original app say to the letter.
        case literal
    }

    /// The app's settings.
    package struct Options: Sendable {
        /// How long a login takes; it simulates a server, as the original app does.
        package var loginDelay: Duration
        /// What a deletion means when the list is refreshed.
        package var deletion: DeletionMode

        /// Creates options; the defaults are those of the settings.
        package init(loginDelay: Duration = .milliseconds(2500), deletion: DeletionMode = .hidden) {
            self.loginDelay = loginDelay
            self.deletion = deletion
        }
    }
}
