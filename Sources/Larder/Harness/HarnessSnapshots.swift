import Sandbox

/// What was saved of a server under test, by name.
protocol HarnessSnapshots: Sendable {
    /// The names.
    var names: [String] { get }

    /// Gives another server, which serves already, the contents of a snapshot.
    ///
    /// - Throws: What a reset of that server throws.
    func fill(_ harness: Harness, _ sandbox: Sandbox, from name: String) async throws
}
